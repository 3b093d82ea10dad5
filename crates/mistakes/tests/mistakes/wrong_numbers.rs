//! Each wrong line of `num` makes its tests fail.

use crate::{every, table};
use santoku_mistakes::mistake;

fn all() -> Vec<table::Number> {
    let text = std::fs::read_to_string(format!("{}/{}", env!("CARGO_MANIFEST_DIR"), table::NUMBERS)).expect("a table");
    toml::from_str::<table::Numbers>(&text).expect("a table").mistake
}

#[test]
fn the_tests_of_num_see_every_wrong_line() {
    let tried = every::integers().and_then(|n| Ok(n + every::intervals()?)).expect("without a mistake it is right");
    assert!(tried > 100_000);
    let first = crate::table().len();
    let all = all();
    let seen = |nr: usize| mistake::with(Some(first + nr), || every::integers().and_then(|_| every::intervals()).is_err());
    let missed: Vec<&str> = all.iter().enumerate().filter(|(nr, _)| !seen(*nr)).map(|(_, m)| m.what.as_str()).collect();
    assert!(missed.is_empty(), "not seen: {missed:#?}");
    println!("{} wrong lines of `num` were seen", all.len());
    assert!(all.len() > 80, "only {} mistakes", all.len());
}

//! `santoku passes`

use crate::report;
use santoku_driver::{stages, Failure};
use santoku_passes::Class;

/// Prints the table of the pipeline.
pub fn run() -> Result<u8, Failure> {
    let mut text = format!("{:>2}  {:<16} {:<8} {}\n", "#", "name", "class", "what it does");
    for (i, s) in stages().iter().enumerate() {
        let class = match s.class {
            None => "checker",
            Some(Class::Proved) => "proved",
            Some(Class::Checked) => "checked",
            Some(Class::Trusted) => "trusted",
        };
        text += &format!("{:>2}  {:<16} {:<8} {}\n", i + 1, s.name, class, s.doc);
    }
    report::out(&text);
    Ok(report::DONE)
}

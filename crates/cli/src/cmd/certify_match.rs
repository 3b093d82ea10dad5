//! `santoku certify --match`

use crate::{files, report};
use santoku_certify::manifest::{look_up, parse, Match, Record};
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::Failure;
use santoku_elf::Image;
use serde::Serialize;
use std::path::Path;

/// The list as of the making of this command.
const SHIPPED: &str = include_str!("../../../../dist/certified.json");

#[derive(Serialize)]
struct Json<'a> {
    file: &'a str,
    matched: usize,
    functions: Vec<JsonFunction<'a>>,
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    #[serde(flatten)]
    found: &'a Match,
    proved_as: Vec<&'a Record>,
}

/// Exit 0 if a function of the image is among the proved ones, with all it calls; 1 if none is.
pub fn run(path: &str, image: &Image, manifest: Option<&Path>, json: bool) -> Result<u8, Failure> {
    let (name, text) = match manifest {
        Some(file) => (file.display().to_string(), files::read_entry(&file.display().to_string())?),
        None => ("dist/certified.json".to_string(), SHIPPED.to_string()),
    };
    let list = parse(&text).map_err(|why| {
        let d = Diagnostic::error("bad-manifest", format!("`{name}` is no list of certified hashes"));
        Failure::refused(&Sources::default(), d.note(format!("why: {why}")).help("leave `--manifest` out to use the list that came with this command"))
    })?;
    let found = look_up(image, &list);
    let matched = found.iter().filter(|m| !m.records.is_empty()).count();
    if json {
        let records = |m: &Match| m.records.iter().filter_map(|n| list.get(*n)).collect();
        let functions = found.iter().map(|m| JsonFunction { proved_as: records(m), found: m }).collect();
        let text = serde_json::to_string_pretty(&Json { file: path, matched, functions });
        report::out(&(text.map_err(|e| Failure::internal("certify", e.to_string()))? + "\n"));
    } else {
        found.iter().for_each(|m| report::out(&line(m, &list)));
        report::out(&format!("{matched} of {} functions are among the {} proved in `{name}`\n", found.len(), list.len()));
    }
    Ok(if matched > 0 { report::DONE } else { report::FAILED })
}

fn line(m: &Match, list: &[Record]) -> String {
    let hash: String = m.hash.chars().take(12).collect();
    match (m.records.first().and_then(|n| list.get(*n)), &m.lacks) {
        (Some(r), _) => {
            let more = if m.records.len() > 1 { format!(", and {} more ways", m.records.len() - 1) } else { String::new() };
            let how = format!("{} {} by {} {}{more}", r.primitive, r.target, r.compiler, r.flags.join(" "));
            format!("proved   {} {hash} as `{}` of {how}\n", m.symbol, r.function)
        }
        (None, Some(other)) => format!("in part  {} {hash}: the hash is proved, but `{other}`, which it needs, is not found with a proved hash\n", m.symbol),
        (None, None) => format!("unknown  {} {hash}\n", m.symbol),
    }
}

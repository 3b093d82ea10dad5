//! `santoku passes`

use crate::report;
use santoku_driver::{c_decisions, layout_passes, stages, Failure};
use santoku_passes::Class;
use serde_json::json;

/// Prints the table of the pipeline.
pub fn run() -> Result<u8, Failure> {
    let mut all = vec![];
    let mut text = format!("{:>2}  {:<16} {:<8} {}\n", "#", "name", "class", "what it does");
    for (i, s) in stages().iter().enumerate() {
        let class = match s.class {
            None => "checker",
            Some(Class::Proved) => "proved",
            Some(Class::Checked) => "checked",
            Some(Class::Trusted) => "trusted",
        };
        all.push(json!({ "name": s.name, "class": class, "what": s.doc }));
        text += &format!("{:>2}  {:<16} {:<8} {}\n", i + 1, s.name, class, s.doc);
    }
    text += "\nThe C printer decides, and `--without NAME` leaves out:\n";
    let mut decided = vec![];
    for (name, doc) in c_decisions() {
        decided.push(json!({ "name": name, "what": doc }));
        text += &format!("    {name:<16} {doc}\n");
    }
    if let [first, .., last] = layout_passes().collect::<Vec<_>>()[..] {
        text += &format!("\n`{first}` to `{last}` run with `--layout`.\n");
    }
    report::out(&text);
    report::answer(&json!({ "stages": all, "c_decisions": decided }))?;
    Ok(report::DONE)
}

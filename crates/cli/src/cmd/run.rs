//! `santoku run`

use super::common::{check, Limit, Source};
use crate::report;
use santoku_diag::{Diagnostic, Sources};
use santoku_driver::{call, find_function, show_value, Failure};

#[derive(clap::Args)]
pub struct Args {
    /// File and function: `lib/hash/sha512.stk::hash`
    function: String,
    /// Arguments: integers `5`, `0xff`; bytes `hex:00ff`; arrays `[1, 2]`; structs `{1, 2}`; `true`, `false`
    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    args: Vec<String>,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    source: Source,
}

/// Prints the results, one a line.
pub fn run(args: &Args) -> Result<u8, Failure> {
    let Some((file, name)) = args.function.rsplit_once("::") else {
        let d = Diagnostic::error("bad-option", format!("`{}` does not name a function", args.function));
        return Err(Failure::refused(&Sources::default(), d.help("write `FILE.stk::function`")));
    };
    let checked = check(&args.source, file)?;
    let func = find_function(&checked, name)?;
    report::stage("interpreter");
    let values = call(&checked, func, &args.args, args.limit.steps)?;
    let f = checked.program.func(func);
    let results: Vec<String> = f.rets.iter().zip(&values).map(|(id, value)| show_value(&f.local(*id).ty, value)).collect();
    results.iter().for_each(|value| report::out(&format!("{value}\n")));
    report::answer(&serde_json::json!({ "results": results }))?;
    Ok(report::DONE)
}

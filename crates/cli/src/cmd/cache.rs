//! `santoku cache`

use crate::cache::{Cache, Kept};
use crate::{files, report};
use santoku_diag::Diagnostic;
use santoku_driver::Failure;

#[derive(clap::Args)]
pub struct Args {
    /// Remove everything
    #[arg(long, conflicts_with = "limit")]
    clear: bool,
    /// Keep at most so many bytes, from now on: what was not used for longest goes first (`500M`, `2G`)
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    limit: Option<u64>,
}

/// `2G`, `500M`, `64K`, `1000`.
fn bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) => (digits, 1u64 << (10 * (1 + "KMG".find(&text[digits.len()..]).unwrap_or(0)))),
        None => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| "a number of bytes, with K, M or G behind it if you like".to_string())?;
    number.checked_mul(unit).ok_or_else(|| "that is more than there can be".to_string())
}

/// Says where results of proofs are kept, and how many; removes some first if asked to.
pub fn run(args: &Args) -> Result<u8, Failure> {
    report::stage("cache");
    let cache = Cache::of_user();
    let fault = |e: std::io::Error| {
        let d = Diagnostic::error("unwritable", "the cache cannot be changed").note(format!("why: {e}"));
        files::refused(d.help("check the permissions of its folder; `XDG_CACHE_HOME` chooses another"))
    };
    let removed = if args.clear { cache.clear().map_err(fault)? } else { args.limit.map_or(Ok(Kept::default()), |limit| cache.limit_to(limit)).map_err(fault)? };
    let (kept, limit) = (cache.kept(), cache.limit());
    let folder = cache.folder().map(|f| f.display().to_string());
    report::out(&format!("{}\n", folder.as_deref().unwrap_or("there is no folder for caches: results are kept within one run")));
    report::out(&format!("{} results, {} bytes; at most {limit} bytes are kept\n", kept.results, kept.bytes));
    if removed.results > 0 {
        report::out(&format!("{} results removed, {} bytes\n", removed.results, removed.bytes));
    }
    report::answer(&serde_json::json!({ "folder": folder, "results": kept.results, "bytes": kept.bytes, "limit": limit, "removed": removed.results }))?;
    Ok(report::DONE)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn numbers_of_bytes() {
        assert_eq!((bytes("7"), bytes("2K"), bytes("3M"), bytes("1G")), (Ok(7), Ok(2048), Ok(3 << 20), Ok(1 << 30)));
        assert!(["", "K", "-1", "1T", "99999999999G", "1.5G"].iter().all(|t| bytes(t).is_err()));
    }
}

//! Seeds of generated inputs: how many are tried, and where those of a long run begin.

/// As many as usual, or as `SANTOKU_SEEDS` says.
pub fn count(usual: u64) -> u64 {
    number("SANTOKU_SEEDS").unwrap_or(usual)
}

/// Where the seeds of a long run begin: elsewhere in every `make soak`, and in the same place again with the `PROPTEST_RNG_SEED`
/// that it printed.
pub fn first() -> u64 {
    first_of(number("PROPTEST_RNG_SEED").unwrap_or(1))
}

fn first_of(run: u64) -> u64 {
    // Room for a million seeds before those of another run.
    (run % (1 << 31)) << 20
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|n| n.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_share_no_seeds() {
        assert!(first_of(1_795_367_347) - first_of(1_795_367_346) >= 1_000_000);
        assert_eq!(first_of(7), first_of(7));
        if std::env::var("SANTOKU_SEEDS").is_err() {
            assert_eq!(count(12), 12);
        }
    }
}

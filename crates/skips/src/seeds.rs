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

/// Whether item `k` of a matrix has its turn: one of every `of` in a usual run, another one the next day (`SANTOKU_TURN`, which `make test` prints);
/// all of them in `make soak`.
pub fn in_turn(k: u64, of: u64) -> bool {
    whole() || k % of.max(1) == turn() % of.max(1)
}

/// One of `parts` equal parts of `0..n`, another one the next day; all of it in `make soak`.
pub fn part(n: u64, parts: u64) -> std::ops::Range<u64> {
    if whole() {
        return 0..n;
    }
    let (size, at) = (n / parts.max(1), turn() % parts.max(1));
    at * size..(at + 1) * size
}

/// Whether matrices are tried as a whole: `make soak` says so.
pub fn whole() -> bool {
    std::env::var_os("SANTOKU_WHOLE").is_some()
}

fn turn() -> u64 {
    number("SANTOKU_TURN").unwrap_or(0)
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
    fn every_item_has_its_turn() {
        if !whole() {
            assert_eq!((0..12).filter(|k| in_turn(*k, 4)).count(), 3);
            assert_eq!(part(12, 4).count(), 3);
        } else {
            assert!(in_turn(3, 4) && part(12, 4) == (0..12));
        }
    }

    #[test]
    fn runs_share_no_seeds() {
        assert!(first_of(1_795_367_347) - first_of(1_795_367_346) >= 1_000_000);
        assert_eq!(first_of(7), first_of(7));
        if std::env::var("SANTOKU_SEEDS").is_err() {
            assert_eq!(count(12), 12);
        }
    }
}

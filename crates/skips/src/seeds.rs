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

/// Those of a list that have their turn: one of every `of`, and one at least.
pub fn some<T>(all: impl IntoIterator<Item = T>, of: u64) -> Vec<T> {
    let all: Vec<T> = all.into_iter().collect();
    let of = of.min(all.len() as u64);
    all.into_iter().zip(0..).filter(|(_, k)| in_turn(*k, of)).map(|(x, _)| x).collect()
}

/// A list in which many are alike, as instances of one program are: of those, one of every `of` that has its turn; and all others.
pub fn alike<T>(all: impl IntoIterator<Item = T>, of: u64, alike: impl Fn(&T) -> bool) -> Vec<T> {
    let (many, mut out): (Vec<T>, Vec<T>) = all.into_iter().partition(alike);
    out.extend(some(many, of));
    out
}

/// The one of a few ways that has its turn in the `k`-th place that asks, as a list; all of them in `make soak`.
pub fn one<T>(ways: impl IntoIterator<Item = T>, k: usize) -> Vec<T> {
    let ways: Vec<T> = ways.into_iter().collect();
    let of = ways.len().max(1) as u64;
    ways.into_iter().zip(0..).filter(|(_, way)| in_turn(way + k as u64, of)).map(|(x, _)| x).collect()
}

/// One of `parts` equal parts of seeds (the last one may be shorter), another one the next day; all of them in `make soak`.
pub fn part(all: std::ops::Range<u64>, parts: u64) -> std::ops::Range<u64> {
    if whole() {
        return all;
    }
    let (size, at) = ((all.end - all.start).div_ceil(parts.max(1)), turn() % parts.max(1));
    let end = |k: u64| (all.start + k * size).min(all.end);
    end(at)..end(at + 1)
}

/// What has to be found at least in one of `parts` parts, where all of it gives `n` at least: parts differ, so less than a share.
pub fn least(n: usize, parts: usize) -> usize {
    if whole() { n } else { n * 3 / (5 * parts.max(1)) }
}

/// Whether matrices are tried as a whole: `make soak` says so.
pub fn whole() -> bool {
    std::env::var_os("SANTOKU_WHOLE").is_some()
}

/// Whose turn it is: another number every day.
pub fn turn() -> u64 {
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
            assert_eq!(part(0..12, 4).count(), 3);
            assert_eq!((some(0..10, 5).len(), some(0..2, 5).len(), least(100, 4)), (2, 1, 15));
            assert!(one(0..3, 1).len() == 1 && one(0..3, 1) != one(0..3, 2));
        } else {
            assert!(in_turn(3, 4) && part(0..12, 4) == (0..12));
            assert_eq!((some(0..10, 5).len(), least(100, 4), one(0..3, 1).len()), (10, 100, 3));
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

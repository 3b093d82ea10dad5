//! Values of nodes on all inputs of a table.
//! Trusted: text.

/// One bit for each of 256 inputs. A function of fewer than 8 variables repeats, so that operations need no masks.
pub type Truth = [u64; 4];

pub const ZERO: Truth = [0; 4];

pub fn tabulate(inputs: u32, f: impl Fn(usize) -> bool) -> Truth {
    let mut t = ZERO;
    let size = 1usize << inputs;
    (0..256).filter(|x| f(x & (size - 1))).for_each(|x| t[x / 64] |= 1 << (x % 64));
    t
}

pub fn bit(t: &Truth, x: usize) -> bool {
    t[x / 64] >> (x % 64) & 1 == 1
}

pub fn variable(i: u32) -> Truth {
    tabulate(8, |x| x >> i & 1 == 1)
}

/// Bit `output` of every entry.
pub fn wanted(inputs: u32, entries: &[u64], output: u32) -> Truth {
    tabulate(inputs, |x| entries[x] >> output & 1 == 1)
}

pub fn xor(a: &Truth, b: &Truth) -> Truth {
    std::array::from_fn(|w| a[w] ^ b[w])
}

pub fn not(a: &Truth) -> Truth {
    a.map(|w| !w)
}

/// The function with variable `x` held at 0 or 1.
pub fn held(t: &Truth, x: u32, one: bool) -> Truth {
    tabulate(8, |i| bit(t, if one { i | 1 << x } else { i & !(1 << x) }))
}

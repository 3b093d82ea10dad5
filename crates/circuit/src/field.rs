//! The field of 256 elements, and tables that are its inversion between affine maps.
//!
//! A table is `M(1 / L(x + x0)) + y0` with linear `M` and `L` exactly if, for that `x0`, there are bilinear forms in `x + x0` and
//! `S(x) + S(x0)` that are constant: the traces of multiples of a product that is always 1. They are found by linear algebra and
//! hold the field: quotients of their matrices are its elements, as maps of the inputs.
//! Trusted: text.

/// Polynomial of the field: x^8 + x^4 + x^3 + x + 1. Any other gives the same circuits in another order.
const POLYNOMIAL: u32 = 0x11b;

pub fn mul(a: u8, b: u8) -> u8 {
    let mut product = (0..8).filter(|i| b >> i & 1 == 1).fold(0u32, |p, i| p ^ u32::from(a) << i);
    for i in (8..16).rev() {
        if product >> i & 1 == 1 {
            product ^= POLYNOMIAL << (i - 8);
        }
    }
    product as u8
}

pub fn power(a: u8, n: u32) -> u8 {
    (0..n).fold(1, |p, _| mul(p, a))
}

/// 0 for 0.
pub fn inverse(a: u8) -> u8 {
    power(a, 254)
}

/// Trace to the field of two elements.
pub fn trace(a: u8) -> bool {
    (0..8).fold((0, a), |(sum, p), _| (sum ^ p, mul(p, p))).0 == 1
}

/// `S(x) = outer(1 / inner(x))`, both affine. Given by all their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twist {
    pub inner: Vec<u8>,
    pub outer: Vec<u8>,
}

impl Twist {
    /// Both maps are affine, and the table is their composition with inversion.
    pub fn holds(&self, table: &[u8]) -> bool {
        let affine = |m: &[u8]| m.len() == 256 && (0..256).all(|x| m[x] == (0..8).filter(|i| x >> i & 1 == 1).fold(m[0], |s, i| s ^ m[0] ^ m[1 << i]));
        affine(&self.inner) && affine(&self.outer) && (0..256).all(|x| table[x] == self.outer[inverse(self.inner[x]) as usize])
    }
}

/// The affine maps around inversion, if the table is of that kind.
pub fn twisted(table: &[u8]) -> Option<Twist> {
    (0..=255).find_map(|x0| {
        let moved: Vec<u8> = (0..=255u8).map(|x| table[(x ^ x0) as usize] ^ table[x0 as usize]).collect();
        let (inner, outer) = linear_twist(&moved)?;
        let inner = (0..=255u8).map(|x| inner[(x ^ x0) as usize]).collect();
        let outer = outer.iter().map(|y| y ^ table[x0 as usize]).collect();
        Some(Twist { inner, outer }).filter(|t| t.holds(table))
    })
}

/// Rows of a matrix of 8 by 8 bits; `m[i]` bit `j` is row `i`, column `j`.
type Matrix = [u8; 8];

/// A map of `0` to `0`, with linear maps around inversion; given by all their values.
fn linear_twist(table: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let forms = constant_forms(table)?;
    let first = invert(&forms[0])?;
    let elements: Vec<Matrix> = (1..256u32).map(|c| {
        let sum: Matrix = std::array::from_fn(|r| (0..8).filter(|i| c >> i & 1 == 1).fold(0, |s, i| s ^ forms[i][r]));
        transposed(&product(&sum, &first))
    }).collect();
    // What the field's generator does to inputs: a root of its polynomial.
    let root = elements.iter().find(|m| is_root(m))?;
    let mut image = vec![0u8; 256];
    let mut column = 1u8;
    for k in 0..8 {
        for z in 0..1usize << k {
            image[z | 1 << k] = image[z] ^ column;
        }
        column = apply(root, column);
    }
    // `image` takes elements to inputs; it is wanted the other way round.
    let mut inner = vec![0u8; 256];
    let mut met = [false; 256];
    for (z, x) in image.iter().enumerate() {
        inner[*x as usize] = z as u8;
        met[*x as usize] = true;
    }
    if met.contains(&false) {
        return None;
    }
    let outer: Vec<u8> = (0..=255u8).map(|z| table[image[inverse(z) as usize] as usize]).collect();
    Some((inner, outer))
}

/// A basis of the forms `x M y` that are constant on all `x`, `y = table[x]` but `x = 0`, if there are eight and they are invertible.
fn constant_forms(table: &[u8]) -> Option<Vec<Matrix>> {
    // Unknowns: 64 coefficients and the constant. Rows reduced as they come, by their highest bit.
    let mut rows = [0u128; 65];
    let mut rank = 0;
    for (x, y) in table.iter().enumerate().skip(1) {
        let y = u128::from(*y);
        let mut row = (0..8).filter(|i| x >> i & 1 == 1).fold(1u128 << 64, |r, i| r | y << (8 * i));
        while row != 0 {
            let top = 127 - row.leading_zeros() as usize;
            if rows[top] == 0 {
                rows[top] = row;
                rank += 1;
                break;
            }
            row ^= rows[top];
        }
        if rank > 57 {
            return None;
        }
    }
    let free: Vec<usize> = (0..65).filter(|k| rows[*k] == 0).collect();
    if free.len() != 8 {
        return None;
    }
    let solution = |f: usize| {
        let mut s = 1u128 << f;
        for (k, row) in rows.iter().enumerate() {
            if *row != 0 && (row & s & !(1 << k)).count_ones() % 2 == 1 {
                s |= 1 << k;
            }
        }
        std::array::from_fn(|i| (s >> (8 * i)) as u8)
    };
    Some(free.into_iter().map(solution).collect())
}

fn apply(m: &Matrix, x: u8) -> u8 {
    (0..8).fold(0, |y, r| y | (((m[r] & x).count_ones() & 1) as u8) << r)
}

fn transposed(m: &Matrix) -> Matrix {
    std::array::from_fn(|c| (0..8).fold(0, |row, r| row | (m[r] >> c & 1) << r))
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|r| (0..8).filter(|k| a[r] >> k & 1 == 1).fold(0, |row, k| row ^ b[k]))
}

fn invert(m: &Matrix) -> Option<Matrix> {
    let mut rows: [u16; 8] = std::array::from_fn(|r| u16::from(m[r]) | 256 << r);
    for c in 0..8 {
        let pivot = (c..8).find(|r| rows[*r] >> c & 1 == 1)?;
        rows.swap(c, pivot);
        for r in 0..8 {
            if r != c && rows[r] >> c & 1 == 1 {
                rows[r] ^= rows[c];
            }
        }
    }
    Some(rows.map(|r| (r >> 8) as u8))
}

fn is_root(m: &Matrix) -> bool {
    let one: Matrix = std::array::from_fn(|i| 1 << i);
    let mut sum = [0u8; 8];
    let mut p = one;
    for k in 0..=8 {
        if POLYNOMIAL >> k & 1 == 1 {
            sum = std::array::from_fn(|r| sum[r] ^ p[r]);
        }
        p = product(&p, m);
    }
    sum == [0; 8]
}

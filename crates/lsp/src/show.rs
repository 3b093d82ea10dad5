//! Types and ranges as the language writes them.

use num_bigint::{BigInt, Sign};
use num_traits::One;
use santoku_ir::{Func, Len, Program, Range, Ty};

/// A type, with the ranges that are known.
pub fn ty(p: &Program, f: &Func, t: &Ty) -> String {
    match t {
        Ty::Word(bits) => format!("u{bits}"),
        Ty::Bool => "bool".into(),
        Ty::Int(None) => "int".into(),
        Ty::Int(Some(r)) => format!("int in {}", range(r)),
        Ty::Array { elem, len, .. } => format!("[{}; {}]", ty(p, f, elem), length(f, len)),
        Ty::Struct(id) => p.structs.get(id.0 as usize).map_or_else(|| "struct".into(), |s| s.name.clone()),
    }
}

/// Ranges of the elements of an array, where they differ; long arrays are cut.
pub fn elements(t: &Ty) -> Vec<String> {
    let Ty::Array { ranges: Some(all), .. } = t else { return vec![] };
    if all.windows(2).all(|w| w[0] == w[1]) {
        return vec![];
    }
    let mut lines: Vec<String> = all.iter().take(MOST).enumerate().map(|(i, r)| format!("[{i}] in {}", range(r))).collect();
    if all.len() > MOST {
        lines.push(format!("and {} more", all.len() - MOST));
    }
    lines
}

/// Elements shown one by one.
const MOST: usize = 20;

fn length(f: &Func, len: &Len) -> String {
    match len {
        Len::Const(n) => n.to_string(),
        Len::Param { param, add } => {
            let name = &f.local(*param).name;
            match add {
                0 => name.clone(),
                a if *a > 0 => format!("{name} + {a}"),
                a => format!("{name} - {}", a.unsigned_abs()),
            }
        }
    }
}

fn range(r: &Range) -> String {
    format!("{}..{}", integer(&r.lo.to_big()), integer(&r.hi.to_big()))
}

/// `2^26 - 1` is easier to read than 67108863.
fn integer(n: &BigInt) -> String {
    let (sign, magnitude) = (n.sign(), n.magnitude().clone());
    if magnitude.bits() < READABLE_BITS {
        return n.to_string();
    }
    let minus = if sign == Sign::Minus { "-" } else { "" };
    let power = |m: &num_bigint::BigUint| (m.count_ones() == 1).then(|| m.bits() - 1);
    let one = num_bigint::BigUint::one();
    if let Some(k) = power(&magnitude) {
        return format!("{minus}2^{k}");
    }
    // Behind a minus the sign of the distance turns.
    let (more, less) = if sign == Sign::Minus { ("+", "-") } else { ("-", "+") };
    if let Some(k) = power(&(&magnitude + &one)) {
        return format!("{minus}2^{k} {more} 1");
    }
    let k = magnitude.bits() - 1;
    let rest = &magnitude - (&one << k);
    if rest.bits() < k / 2 && rest.bits() < READABLE_BITS {
        return format!("{minus}2^{k} {less} {rest}");
    }
    n.to_string()
}

/// Below so many bits digits are read at a glance.
const READABLE_BITS: u64 = 13;

#[cfg(test)]
mod tests {
    use super::integer;
    use num_bigint::BigInt;

    #[test]
    fn large_integers_are_written_by_their_powers() {
        let shown = |text: &str| integer(&text.parse::<BigInt>().unwrap());
        let cases = [("0", "0"), ("-5", "-5"), ("4095", "4095"), ("65535", "2^16 - 1"), ("65536", "2^16"), ("-65536", "-2^16"), ("-65535", "-2^16 + 1"), ("67109888", "2^26 + 1024"), ("-67109888", "-2^26 - 1024"), ("123456789", "123456789")];
        cases.iter().for_each(|(n, text)| assert_eq!(shown(n), *text, "{n}"));
    }
}

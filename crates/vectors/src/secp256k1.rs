//! ECDSA on secp256k1 by `k256` (Rust), and signatures made on purpose: whose sum of two multiples meets equal, opposite and infinite points.

use k256::ecdsa::signature::hazmat::PrehashVerifier;
use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use k256::elliptic_curve::ops::Reduce;
use k256::elliptic_curve::point::AffineCoordinates;
use k256::elliptic_curve::PrimeField;
use k256::{ProjectivePoint, Scalar, U256};
use santoku_num::from_hex;

/// A signature, and whether it is one.
#[derive(Clone, Debug)]
pub struct Made {
    pub digest: [u8; 32],
    /// r, s
    pub signature: [u8; 64],
    /// x, y
    pub public: [u8; 64],
    pub valid: bool,
}

/// The same signature with an s that k256 takes: at most N/2; and how the parity of the point's y changes.
fn low(signature: &[u8; 64]) -> Option<(Signature, u8)> {
    let given = Signature::from_slice(signature).ok()?;
    Some(given.normalize_s().map_or((given, 0), |low| (low, 1)))
}

/// Verdict of k256 on a signature in DER under a key of SEC 1, of any form that it takes; s may be above N/2.
pub fn verify_der(public: &[u8], digest: &[u8; 32], signature: &[u8]) -> bool {
    let (Ok(key), Ok(given)) = (VerifyingKey::from_sec1_bytes(public), Signature::from_der(signature)) else { return false };
    key.verify_prehash(digest, &given.normalize_s().unwrap_or(given)).is_ok()
}

fn coordinates(key: &VerifyingKey) -> [u8; 64] {
    key.to_encoded_point(false).as_bytes()[1..].try_into().expect("two coordinates")
}

/// The key of a signature, by k256: none for a number out of range, or where no point has that x.
pub fn recover(digest: &[u8; 32], signature: &[u8; 64], recid: u8) -> Option<[u8; 64]> {
    let (signature, turned) = low(signature)?;
    let id = RecoveryId::from_byte(recid ^ turned)?;
    Some(coordinates(&VerifyingKey::recover_from_prehash(digest, &signature, id).ok()?))
}

/// Verdict of k256, for an s of any size.
pub fn verify(digest: &[u8; 32], signature: &[u8; 64], public: &[u8; 64]) -> bool {
    let key = VerifyingKey::from_sec1_bytes(&[&[4][..], public].concat());
    low(signature).zip(key.ok()).is_some_and(|((signature, _), key)| key.verify_prehash(digest, &signature).is_ok())
}

fn scalar(bytes: [u8; 32]) -> Scalar {
    <Scalar as Reduce<U256>>::reduce_bytes(&bytes.into())
}

/// Factors whose multiples of G are in tables, are turned by the endomorphism, or are short or long in halves.
fn factors() -> Vec<Scalar> {
    let lambda = scalar(from_hex("5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72").expect("hexadecimal").try_into().expect("32 bytes"));
    let half = (0..128).fold(Scalar::ONE, |x, _| x + x);
    let small = [1u64, 2, 3, 5, 15, 17, 31, 33, 255, 511, 513].map(Scalar::from);
    let mut all: Vec<Scalar> = small.into_iter().flat_map(|x| [x, x * lambda, x * lambda * lambda, x * half]).collect();
    all.extend([half - Scalar::ONE, half + lambda, half * lambda, Scalar::from(2u64).invert().expect("odd order"), lambda + Scalar::ONE]);
    all.extend(all.clone().into_iter().map(|x| -x));
    all
}

/// A signature under the key `d` of a digest whose number is `z`, with the point `k` G; spoiled where `s` gets another factor.
fn signed(d: Scalar, k: Scalar, z: Scalar, spoil: Scalar) -> Option<Made> {
    let r = scalar((ProjectivePoint::GENERATOR * k).to_affine().x().into());
    let s = Option::<Scalar>::from(k.invert())? * (z + r * d) * spoil;
    if bool::from(s.is_zero() | r.is_zero()) {
        return None;
    }
    let signature = [r.to_repr(), s.to_repr()].concat().try_into().ok()?;
    let key = VerifyingKey::from_affine((ProjectivePoint::GENERATOR * d).to_affine()).ok()?;
    Some(Made { digest: z.to_repr().into(), signature, public: coordinates(&key), valid: spoil == Scalar::ONE })
}

/// Signatures of all pairs of a key and a point among [`factors`], `every`-th of them from `first`, with digests 0, 1 and -1 and such that the multiple of G is
/// that of the key or its opposite; some are spoiled; and for each key one whose sum is infinite.
pub fn on_purpose(first: usize, every: usize) -> Vec<Made> {
    let all = factors();
    let mut made = vec![];
    for (n, (d, k)) in all.iter().flat_map(|d| all.iter().map(move |k| (*d, *k))).enumerate().skip(first).step_by(every) {
        let r = scalar((ProjectivePoint::GENERATOR * k).to_affine().x().into());
        // z G and r Q are equal for z = r d.
        let z = [Scalar::ZERO, Scalar::ONE, -Scalar::ONE, r * d, r * d * d, r][n % 6];
        let spoil = if n % 5 == 4 { -Scalar::from(3u64) } else { Scalar::ONE };
        made.extend(signed(d, k, z, spoil));
        // z + r d = 0: the sum is infinite whatever s is.
        let digest = (-(r * d)).to_repr().into();
        made.extend(signed(d, k, z, Scalar::ONE).map(|m| Made { digest, valid: false, ..m }));
    }
    made
}

/// Numbers of a signature, good and bad, for recovery: small r, with N added to them the x of a point or none; and the ends of ranges.
pub fn edges() -> Vec<[u8; 64]> {
    let order = from_hex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").expect("hexadecimal");
    let mut below = order.clone();
    below[31] -= 1;
    let mut above = order.clone();
    above[31] += 1;
    let numbers: Vec<Vec<u8>> = (0..=20u8).map(|n| [&[0; 31][..], &[n]].concat()).chain([order, below, above, vec![0xff; 32]]).collect();
    let pairs = [1, 7, 0, 21, 22, 24].into_iter().flat_map(|s: usize| numbers.iter().map(move |r| (r, s)));
    pairs.map(|(r, s)| [&r[..], &numbers[s]].concat().try_into().expect("64 bytes")).collect()
}

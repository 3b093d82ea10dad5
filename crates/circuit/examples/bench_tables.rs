struct R(u64);
impl R { fn new(seed: u64) -> R { let mut r = R(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1); r.word(); r }
 fn word(&mut self) -> u64 { self.0 ^= self.0 << 13; self.0 ^= self.0 >> 7; self.0 ^= self.0 << 17; self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) }
 fn below(&mut self, n: usize) -> usize { ((self.word() >> 32) * n as u64 >> 32) as usize } }
fn perm(n: u32, m: u32, seed: u64) -> Vec<u64> { let mut r = R::new(seed); let mut e: Vec<u64> = (0..1u64 << n).collect(); for i in (1..e.len()).rev() { let j = r.below(i + 1); e.swap(i, j); } e.iter_mut().for_each(|v| *v &= (1 << m) - 1); e }
fn chi() -> Vec<u64> { (0..32u64).map(|x| (0..5).fold(0, |y, i| { let b = |k: u32| x >> (k % 5) & 1; y | (b(i) ^ ((1 ^ b(i + 1)) & b(i + 2))) << i })).collect() }
fn ascon() -> Vec<u64> { vec![4, 11, 31, 20, 26, 21, 9, 2, 27, 5, 8, 18, 29, 3, 6, 28, 30, 19, 7, 14, 0, 13, 17, 24, 16, 12, 1, 25, 22, 10, 15, 23] }
fn des1() -> Vec<u64> { let s = [14,4,13,1,2,15,11,8,3,10,6,12,5,9,0,7,0,15,7,4,14,2,13,1,10,6,12,11,9,5,3,8,4,1,14,8,13,6,2,11,15,12,9,7,3,10,5,0,15,12,8,2,4,9,1,7,5,11,3,14,10,0,6,13u64]; (0..64usize).map(|x| s[((x >> 4 & 2) | x & 1) * 16 + (x >> 1 & 15)]).collect() }
fn mul(a: u8, b: u8) -> u8 { let mut p = (0..8).filter(|i| b >> i & 1 == 1).fold(0u32, |p, i| p ^ (a as u32) << i); for i in (8..16).rev() { if p >> i & 1 == 1 { p ^= 0x11b << (i - 8); } } p as u8 }
fn aes() -> Vec<u64> { (0..=255u8).map(|x| { let i = (0..254).fold(1, |p, _| mul(p, x)); (i ^ i.rotate_left(1) ^ i.rotate_left(2) ^ i.rotate_left(3) ^ i.rotate_left(4) ^ 0x63) as u64 }).collect() }
fn inv(e: &[u64]) -> Vec<u64> { let mut v = vec![0; e.len()]; e.iter().enumerate().for_each(|(i, x)| v[*x as usize] = i as u64); v }
fn rows() -> Vec<(String, u32, u32, Vec<u64>)> {
 let mut t: Vec<(String, u32, u32, Vec<u64>)> = vec![];
 t.push(("rectangle".into(), 4, 4, vec![6, 5, 12, 10, 1, 14, 7, 9, 11, 0, 3, 13, 8, 15, 4, 2]));
 t.push(("present".into(), 4, 4, vec![12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2]));
 for s in 1..=5 { t.push((format!("random 4x4 seed {s}"), 4, 4, perm(4, 4, s))); }
 t.push(("keccak chi".into(), 5, 5, chi())); t.push(("ascon".into(), 5, 5, ascon()));
 for s in 1..=3 { t.push((format!("random 5x5 seed {s}"), 5, 5, perm(5, 5, s))); }
 t.push(("des s1".into(), 6, 4, des1()));
 for s in 1..=3 { t.push((format!("random 6x6 seed {s}"), 6, 6, perm(6, 6, s))); }
 t.push(("random 6x4".into(), 6, 4, perm(6, 4, 9)));
 t.push(("random 7x7".into(), 7, 7, perm(7, 7, 1)));
 t.push(("random 8x1".into(), 8, 1, perm(8, 1, 1)));
 t.push(("random 1x8".into(), 1, 8, vec![0x5a, 0xc3]));
 t.push(("random 4x8".into(), 4, 8, perm(8, 8, 4)[..16].to_vec()));
 t.push(("add 4+4".into(), 8, 5, (0..256).map(|x| (x & 15) + (x >> 4)).collect()));
 t.push(("add 4+4+0".into(), 8, 8, (0..256).map(|x| (x & 15) + (x >> 4)).collect()));
 t.push(("mul 4*4".into(), 8, 8, (0..256).map(|x| (x & 15) * (x >> 4)).collect()));
 t.push(("popcount".into(), 8, 4, (0..256u64).map(|x| x.count_ones() as u64).collect()));
 t.push(("aes".into(), 8, 8, aes())); t.push(("aes inverse".into(), 8, 8, inv(&aes())));
 for s in 1..=3 { t.push((format!("random 8x8 seed {s}"), 8, 8, perm(8, 8, s))); }
 t }
fn main() { let only = std::env::args().nth(1).unwrap_or_default(); for (name, n, m, e) in rows() { if !name.contains(&only) { continue; } let t = std::time::Instant::now(); let c = santoku_circuit::circuit(n, m, &e).unwrap(); let d = t.elapsed(); let l = santoku_circuit::circuit3(n, m, &e).unwrap(); println!("{name}: {} gates, lut3 {}, {:.3} s", c.gates.len(), l.gates.len(), d.as_secs_f64()); } }

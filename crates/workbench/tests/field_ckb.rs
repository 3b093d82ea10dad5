//! A product and a square of the field of P-256 on CKB-VM, as functions that are called: right, and within the promised cycles on the average of any
//! numbers, call, loads, stores and rare ways included.

mod support;

use num_bigint::BigUint;
use santoku_lab::bench::{self, Built, Operation, Subject};
use santoku_lab::harness::{Arg, Call, Ret, Source};
use santoku_num::SplitMix64;
use santoku_skips::seeds;
use support::{assembly, choice, spoiled};

const ENTRY: &str = "crates/workbench/tests/data/p256_products.stk";
/// Name, numbers it takes, the most cycles a call may take.
const FUNCTIONS: [(&str, usize, f64); 2] = [("p256_mul", 2, 181.0), ("p256_square", 1, 137.0)];
const NOTHING: &str = "void nothing2(unsigned long *r, const unsigned long *a, const unsigned long *b) { (void)r, (void)a, (void)b; }\n\
                       void nothing1(unsigned long *r, const unsigned long *a) { (void)r, (void)a; }\n";
/// A call and the return from it, all that a function costs that does nothing. Source: ckb-vm 0.24, cost_model::estimate_cycles.
const CALL: u64 = 6;
const TIMES: u64 = 1000;
/// A number may exceed P, and stands for itself divided by 2^256.
const P: &str = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";

fn call(function: &str, count: usize, zeros: bool) -> Call {
    let names = &["a", "b"][..count];
    let args: Vec<String> = std::iter::once("unsigned long *r".to_string()).chain(names.iter().map(|n| format!("const unsigned long *{n}"))).collect();
    let result = if zeros { Arg::In(vec![0; 32]) } else { Arg::Out(32) };
    Call {
        declaration: format!("void {function}({})", args.join(", ")),
        function: function.into(),
        args: std::iter::once(result).chain(names.iter().map(|_| Arg::In(vec![0; 32]))).collect(),
        ret: Ret::Void,
    }
}

fn built(source: Source) -> Box<dyn Built> {
    let calls: Vec<Call> = FUNCTIONS.iter().flat_map(|(name, count, _)| [call(name, *count, false), call(&format!("nothing{count}"), *count, true)]).collect();
    let operations: Vec<Operation> = calls.iter().map(|c| Operation { name: c.function.clone(), bytes: 0 }).collect();
    let nothing = Source::Text { name: "nothing.c".into(), text: NOTHING.into() };
    let subject = Subject { support: vec![nothing], ..Subject::new("products", vec![source], calls) };
    let machine = bench::machine(&support::tree().target("ckb").expect("described")).expect("it measures");
    machine.build(&[subject], &operations).unwrap_or_else(|e| panic!("{e}"))
}

fn own(spoil: bool) -> Box<dyn Built> {
    let text = assembly(ENTRY, "products", &choice("ckb-ecdsa"), 200);
    let text = if spoil { spoiled(&text, "p256_mul") } else { text };
    built(Source::Text { name: "products.s".into(), text })
}

/// Numbers below 2^256: random ones, and such with limbs at their ends.
fn number(random: &mut SplitMix64) -> [u8; 32] {
    let kind = random.next_u64();
    let mut all = [0; 32];
    for k in 0..4 {
        let limb = match (kind % 8, kind >> (8 + 4 * k) & 3) {
            (0, 0) => 0,
            (0, 1) => u64::MAX,
            (0, 2) => 0xffff_ffff_0000_0001,
            _ => random.next_u64(),
        };
        all[8 * k..8 * k + 8].copy_from_slice(&limb.to_le_bytes());
    }
    all
}

/// Cycles of a call on the average, and how many results were wrong.
fn tried(built: &mut dyn Built, which: usize, times: u64) -> (f64, u64) {
    let (_, count, _) = FUNCTIONS[which];
    let p = BigUint::parse_bytes(P.as_bytes(), 16).expect("digits");
    let mut random = SplitMix64::new(seeds::turn() + which as u64);
    let nothing = built.run_on(0, 2 * which + 1, &[]).expect("it runs").measures.cycles;
    let (mut cycles, mut wrong) = (0, 0);
    for _ in 0..times {
        let numbers: Vec<[u8; 32]> = (0..count).map(|_| number(&mut random)).collect();
        let inputs: Vec<(usize, Vec<u8>)> = numbers.iter().enumerate().map(|(k, n)| (k + 1, n.to_vec())).collect();
        let outcome = built.run_on(0, 2 * which, &inputs).expect("it runs");
        cycles += outcome.measures.cycles - nothing + CALL;
        let left = outcome.left.buffers[0].as_deref().map(BigUint::from_bytes_le).expect("a result");
        let product = numbers.iter().cycle().take(2).map(|n| BigUint::from_bytes_le(n)).product::<BigUint>();
        wrong += u64::from((left << 256u32) % &p != product % &p);
    }
    (cycles as f64 / times as f64, wrong)
}

#[test]
fn products_are_right_and_take_no_more_cycles_than_promised() {
    let mut own = own(false);
    for (k, (name, _, most)) in FUNCTIONS.iter().enumerate() {
        let (cycles, wrong) = tried(own.as_mut(), k, TIMES);
        println!("{name} on CKB-VM: {cycles:.1} cycles a call, of at most {most}; {TIMES} results compared");
        assert_eq!(wrong, 0, "{name}");
        assert!((100.0..=*most).contains(&cycles), "{name}: {cycles} cycles");
    }
}

#[test]
fn a_spoiled_product_is_wrong() {
    let (_, wrong) = tried(own(true).as_mut(), 0, 20);
    assert!(wrong > 10, "{wrong} of 20 are seen to be wrong");
}

//! The symbolic use: meanings as terms, evaluated afterwards, are what the concrete domain computes at once.

use crate::cases::{forms, random_case, SETS};
use crate::random::Random;
use santoku_isa::{effect, Domain, Effect, Isa, Word, Words};
use std::rc::Rc;

/// A term with its width. Widths are checked where terms are made.
#[derive(Clone, Debug)]
struct Term {
    width: u32,
    node: Rc<Node>,
}

#[derive(Debug)]
enum Node {
    Constant(Word),
    /// The first or second source.
    Source(usize),
    Apply(Op, Vec<Term>, u32, u32),
}

type Op = &'static str;

/// Makes terms; counts shifts by constants and by other terms.
#[derive(Default)]
struct Terms {
    constant_shifts: u32,
    other_shifts: u32,
}

impl Terms {
    fn apply(&mut self, op: Op, parts: &[&Term], width: u32, lo: u32) -> Term {
        Term { width, node: Rc::new(Node::Apply(op, parts.iter().map(|p| (*p).clone()).collect(), width, lo)) }
    }

    fn same(&mut self, op: Op, a: &Term, b: &Term) -> Term {
        assert_eq!(a.width, b.width, "{op}");
        self.apply(op, &[a, b], a.width, 0)
    }

    fn compare(&mut self, op: Op, a: &Term, b: &Term) -> Term {
        assert_eq!(a.width, b.width, "{op}");
        self.apply(op, &[a, b], 1, 0)
    }

    fn shift(&mut self, op: Op, a: &Term, count: &Term) -> Term {
        match &*count.node {
            Node::Constant(c) => {
                assert!(c.bits < u128::from(a.width), "the count is reduced");
                self.constant_shifts += 1;
            }
            _ => self.other_shifts += 1,
        }
        self.same(op, a, count)
    }
}

macro_rules! two {
    ($($name:ident $how:ident),*) => { $(fn $name(&mut self, a: &Term, b: &Term) -> Term { self.$how(stringify!($name), a, b) })* };
}

impl Domain for Terms {
    type V = Term;

    fn constant(&mut self, value: u128, width: u32) -> Term {
        assert_eq!(Word::new(value, width).bits, value, "constants fit their width");
        Term { width, node: Rc::new(Node::Constant(Word::new(value, width))) }
    }
    two!(add same, sub same, mul same, and same, or same, xor same, udiv same, urem same, sdiv same, srem same);
    two!(shl shift, lshr shift, ashr shift, ult compare, slt compare, eq compare);
    fn not(&mut self, a: &Term) -> Term {
        self.apply("not", &[a], a.width, 0)
    }
    fn ite(&mut self, c: &Term, a: &Term, b: &Term) -> Term {
        assert_eq!((c.width, a.width), (1, b.width));
        self.apply("ite", &[c, a, b], a.width, 0)
    }
    fn zext(&mut self, a: &Term, width: u32) -> Term {
        assert!(width >= a.width);
        self.apply("zext", &[a], width, 0)
    }
    fn sext(&mut self, a: &Term, width: u32) -> Term {
        assert!(width >= a.width);
        self.apply("sext", &[a], width, 0)
    }
    fn extract(&mut self, a: &Term, lo: u32, width: u32) -> Term {
        assert!(lo + width <= a.width);
        self.apply("extract", &[a], width, lo)
    }
    fn concat(&mut self, hi: &Term, lo: &Term) -> Term {
        self.apply("concat", &[hi, lo], hi.width + lo.width, 0)
    }
    fn clz(&mut self, a: &Term) -> Term {
        self.apply("clz", &[a], a.width, 0)
    }
    fn ctz(&mut self, a: &Term) -> Term {
        self.apply("ctz", &[a], a.width, 0)
    }
    fn cpop(&mut self, a: &Term) -> Term {
        self.apply("cpop", &[a], a.width, 0)
    }
}

fn eval(t: &Term, sources: &[Word; 2]) -> Word {
    let (op, parts, width, lo) = match &*t.node {
        Node::Constant(w) => return *w,
        Node::Source(n) => return sources[*n],
        Node::Apply(op, parts, width, lo) => (*op, parts.iter().map(|p| eval(p, sources)).collect::<Vec<_>>(), *width, *lo),
    };
    let w = &mut Words;
    match (op, &parts[..]) {
        ("add", [a, b]) => w.add(a, b),
        ("sub", [a, b]) => w.sub(a, b),
        ("mul", [a, b]) => w.mul(a, b),
        ("and", [a, b]) => w.and(a, b),
        ("or", [a, b]) => w.or(a, b),
        ("xor", [a, b]) => w.xor(a, b),
        ("udiv", [a, b]) => w.udiv(a, b),
        ("urem", [a, b]) => w.urem(a, b),
        ("sdiv", [a, b]) => w.sdiv(a, b),
        ("srem", [a, b]) => w.srem(a, b),
        ("shl", [a, b]) => w.shl(a, b),
        ("lshr", [a, b]) => w.lshr(a, b),
        ("ashr", [a, b]) => w.ashr(a, b),
        ("ult", [a, b]) => w.ult(a, b),
        ("slt", [a, b]) => w.slt(a, b),
        ("eq", [a, b]) => w.eq(a, b),
        ("ite", [c, a, b]) => w.ite(c, a, b),
        ("not", [a]) => w.not(a),
        ("zext", [a]) => w.zext(a, width),
        ("sext", [a]) => w.sext(a, width),
        ("extract", [a]) => w.extract(a, lo, width),
        ("concat", [a, b]) => w.concat(a, b),
        ("clz", [a]) => w.clz(a),
        ("ctz", [a]) => w.ctz(a),
        ("cpop", [a]) => w.cpop(a),
        other => panic!("{other:?}"),
    }
}

fn evaluated(e: Effect<Term>, sources: &[Word; 2]) -> Effect<Word> {
    match e {
        Effect::Write { value } => Effect::Write { value: eval(&value, sources) },
        Effect::Load { address, bytes, signed } => Effect::Load { address: eval(&address, sources), bytes, signed },
        Effect::Store { address, bytes, value } => {
            assert_eq!(value.width, 8 * u32::from(bytes));
            Effect::Store { address: eval(&address, sources), bytes, value: eval(&value, sources) }
        }
        Effect::Branch { taken, target } => {
            assert_eq!(taken.width, 1);
            Effect::Branch { taken: eval(&taken, sources), target }
        }
        Effect::Jump { target, link } => Effect::Jump { target: eval(&target, sources), link },
        Effect::Fence => Effect::Fence,
        Effect::EnvCall => Effect::EnvCall,
        Effect::Break => Effect::Break,
        Effect::Csr => Effect::Csr,
    }
}

fn terms_agree(isa: &Isa) -> u64 {
    let (mut r, mut done) = (Random::new(21), 0);
    let x = isa.xlen.bits();
    for form in forms(isa) {
        for _ in 0..300 {
            let case = random_case(isa, &form, &mut r);
            let inst = &case.inst;
            let sources = [inst.rs1, inst.rs2].map(|n| Word::new(u128::from(case.regs[usize::from(n)]), x));
            let [a, b] = [0, 1].map(|n| Term { width: x, node: Rc::new(Node::Source(n)) });
            let mut terms = Terms::default();
            let made = effect(&mut terms, isa, inst, case.pc, &a, &b);
            let want = effect(&mut Words, isa, inst, case.pc, &sources[0], &sources[1]);
            assert_eq!(evaluated(made, &sources), want, "{inst}");
            // Without a second register, a shift's count is in the instruction and must arrive as a constant.
            assert!(inst.reads_rs2() || terms.other_shifts == 0, "{inst}");
            done += u64::from(terms.constant_shifts > 0);
        }
    }
    done
}

#[test]
fn terms_mean_what_words_compute() {
    let shifts = SETS.map(|isa| terms_agree(&isa));
    println!("cases with shifts by constants: {shifts:?}");
    assert!(shifts[0] > 1000 && shifts[1] > 1000);
}

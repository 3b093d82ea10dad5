//! Arithmetic of numbers of one word or several. Sums, differences and products are taken modulo the bits of the result, which hold it.
//! Trusted: nothing: nothing that ships is made of it.

use super::body::Body;
use super::number::{Num, Rep};
use crate::data::{BinOp, CmpOp, ConvertOp, Op, ShiftOp, Value};

impl Body<'_, '_> {
    pub fn rep_of(&self, ty: &santoku_ir::Ty) -> Result<Rep, String> {
        let range = crate::layout::range_of(ty).ok_or("an integer without a range")?;
        Ok(self.shared.words.fit(&range))
    }

    pub fn bin(&mut self, op: BinOp, a: Value, b: Value, bits: u32) -> Value {
        self.word(Op::Bin(op, a, b), bits)
    }

    fn shift_by(&mut self, op: ShiftOp, a: Value, count: u32, bits: u32) -> Value {
        if count == 0 {
            return a;
        }
        let n = self.constant(count.into(), bits);
        self.word(Op::Shift(op, a, n), bits)
    }

    /// What stands above a number's words.
    fn above(&mut self, n: &Num) -> Value {
        match n.words.last() {
            Some(top) if n.signed => self.shift_by(ShiftOp::ShrS, *top, n.bits - 1, n.bits),
            _ => self.constant(0, n.bits),
        }
    }

    /// The same number held in another way, or its low part where that holds less.
    pub fn converted(&mut self, n: &Num, rep: Rep) -> Num {
        let mut words = n.words.clone();
        let mut at = n.clone();
        if n.bits < rep.bits {
            let how = if n.signed { ConvertOp::Sext } else { ConvertOp::Zext };
            // More than one word are of the widest kind, so there is one.
            words = vec![self.word(Op::Convert(how, words[0]), rep.bits)];
            at = Num { words: words.clone(), bits: rep.bits, signed: n.signed };
        } else if n.bits > rep.bits {
            words = vec![self.word(Op::Convert(ConvertOp::Trunc, words[0]), rep.bits)];
        }
        if words.len() < rep.words {
            let above = self.above(&at);
            words.resize(rep.words, above);
        }
        words.truncate(rep.words);
        Num { words, bits: rep.bits, signed: rep.signed }
    }

    pub fn sum(&mut self, a: &Num, b: &Num, rep: Rep) -> Num {
        let (a, b) = (self.converted(a, rep), self.converted(b, rep));
        self.chain(&a, &b, rep, BinOp::Add, Op::AddCarry).0
    }

    pub fn difference(&mut self, a: &Num, b: &Num, rep: Rep) -> Num {
        let (a, b) = (self.converted(a, rep), self.converted(b, rep));
        self.chain(&a, &b, rep, BinOp::Sub, Op::SubBorrow).0
    }

    /// Word by word with a carry; the last carry where there is more than one word.
    fn chain(&mut self, a: &Num, b: &Num, rep: Rep, one: BinOp, step: fn(Value, Value, Value) -> Op) -> (Num, Option<Value>) {
        if rep.words == 1 {
            return (Num { words: vec![self.bin(one, a.words[0], b.words[0], rep.bits)], bits: rep.bits, signed: rep.signed }, None);
        }
        let mut carry = self.constant(0, rep.bits);
        let mut words = vec![];
        for (x, y) in a.words.iter().zip(&b.words) {
            let (w, c) = self.two(step(*x, *y, carry), rep.bits);
            words.push(w);
            carry = c;
        }
        (Num { words, bits: rep.bits, signed: rep.signed }, Some(carry))
    }

    pub fn product(&mut self, a: &Num, b: &Num, rep: Rep) -> Num {
        if rep.words == 1 {
            let (a, b) = (self.converted(a, rep), self.converted(b, rep));
            return Num { words: vec![self.bin(BinOp::Mul, a.words[0], b.words[0], rep.bits)], bits: rep.bits, signed: rep.signed };
        }
        let one = |n: &Num| Rep { bits: rep.bits, words: n.words.len(), signed: n.signed };
        let (a, b) = (self.converted(a, one(a)), self.converted(b, one(b)));
        let words = match (&a.words[..], &b.words[..]) {
            ([x], [y]) if rep.words == 2 => {
                let high = match (a.signed, b.signed) {
                    (false, false) => self.bin(BinOp::MulHu, *x, *y, rep.bits),
                    (true, true) => self.bin(BinOp::MulHs, *x, *y, rep.bits),
                    (true, false) => self.bin(BinOp::MulHsu, *x, *y, rep.bits),
                    (false, true) => self.bin(BinOp::MulHsu, *y, *x, rep.bits),
                };
                vec![self.bin(BinOp::Mul, *x, *y, rep.bits), high]
            }
            _ => {
                // A sign makes a number as long as the result; modulo the result's bits it is then one without.
                let long = |n: &Num| if n.signed { rep } else { one(n) };
                let (a, b) = (self.converted(&a, long(&a)), self.converted(&b, long(&b)));
                self.rows(&a.words, &b.words, rep)
            }
        };
        let got = Num { words, bits: rep.bits, signed: false };
        Num { signed: rep.signed, ..self.converted(&got, rep) }
    }

    /// The low words of a product of numbers without signs, row by row.
    fn rows(&mut self, a: &[Value], b: &[Value], rep: Rep) -> Vec<Value> {
        let (n, bits) = (rep.words, rep.bits);
        let mut sum: Vec<Option<Value>> = vec![None; n];
        let zero = self.constant(0, bits);
        for (i, x) in a.iter().enumerate().take(n) {
            let mut carry: Option<Value> = None;
            for (j, y) in b.iter().enumerate().take(n - i) {
                if self.known(*x) == Some(0) || self.known(*y) == Some(0) {
                    if let Some(c) = carry.take() {
                        (sum[i + j], carry) = self.plus(sum[i + j], c, zero, bits);
                    }
                    continue;
                }
                let mut low = self.bin(BinOp::Mul, *x, *y, bits);
                let top = i + j + 1 == n;
                let mut high = if top { None } else { Some(self.bin(BinOp::MulHu, *x, *y, bits)) };
                for more in [sum[i + j], carry].into_iter().flatten() {
                    let (w, c) = self.two(Op::AddCarry(low, more, zero), bits);
                    low = w;
                    high = high.map(|h| self.bin(BinOp::Add, h, c, bits));
                }
                sum[i + j] = Some(low);
                carry = high;
            }
            if let Some(c) = carry.filter(|_| i + b.len() < n) {
                // Rows before this one reach no further.
                (sum[i + b.len()], _) = self.plus(sum[i + b.len()], c, zero, bits);
            }
        }
        sum.into_iter().map(|w| w.unwrap_or(zero)).collect()
    }

    /// A word of a sum and another: the new word and what goes on.
    fn plus(&mut self, word: Option<Value>, more: Value, zero: Value, bits: u32) -> (Option<Value>, Option<Value>) {
        match word {
            None => (Some(more), None),
            Some(w) => {
                let (sum, carry) = self.two(Op::AddCarry(w, more, zero), bits);
                (Some(sum), Some(carry))
            }
        }
    }

    /// `n * 2^k` modulo the result's bits.
    pub fn left(&mut self, n: &Num, k: u32, rep: Rep) -> Num {
        let n = self.converted(n, rep);
        let (q, s) = ((k / rep.bits) as usize, k % rep.bits);
        let mut words = vec![];
        for i in 0..rep.words {
            let at = |i: Option<usize>| i.and_then(|i| n.words.get(i)).copied();
            let (own, below) = (at(i.checked_sub(q)), at(i.checked_sub(q + 1)).filter(|_| s > 0));
            words.push(self.funnel(own, below, s, rep.bits));
        }
        Num { words, bits: rep.bits, signed: rep.signed }
    }

    /// The low word of `(own : below) << s`, read from the top.
    fn funnel(&mut self, own: Option<Value>, below: Option<Value>, s: u32, bits: u32) -> Value {
        let high = own.map(|v| self.shift_by(ShiftOp::Shl, v, s, bits));
        let low = below.map(|v| self.shift_by(ShiftOp::ShrU, v, bits - s, bits));
        match (high, low) {
            (Some(h), Some(l)) => self.bin(BinOp::Or, h, l, bits),
            (Some(v), None) | (None, Some(v)) => v,
            (None, None) => self.constant(0, bits),
        }
    }

    /// `floor(n / 2^k)`, held as `n` is.
    pub fn right(&mut self, n: &Num, k: u32) -> Num {
        let (q, s) = ((k / n.bits) as usize, k % n.bits);
        let mut words = vec![];
        for i in 0..n.words.len() {
            let at = i + q;
            words.push(match n.words.get(at) {
                None => self.above(n),
                Some(own) if s == 0 => *own,
                Some(own) => {
                    let last = at + 1 == n.words.len();
                    let low = self.shift_by(if last && n.signed { ShiftOp::ShrS } else { ShiftOp::ShrU }, *own, s, n.bits);
                    match n.words.get(at + 1) {
                        None => low,
                        Some(above) => {
                            let high = self.shift_by(ShiftOp::Shl, *above, n.bits - s, n.bits);
                            self.bin(BinOp::Or, high, low, n.bits)
                        }
                    }
                }
            });
        }
        Num { words, ..*n }
    }

    /// The low `k` bits.
    pub fn low(&mut self, n: &Num, k: u32) -> Num {
        let rep = self.shared.words.of_bits(k);
        let n = self.converted(n, rep);
        let (q, s) = ((k / rep.bits) as usize, k % rep.bits);
        let mut words = n.words.clone();
        if let Some(w) = words.get_mut(q) {
            let mask = self.constant((1u128 << s) - 1, rep.bits);
            *w = self.bin(BinOp::And, *w, mask, rep.bits);
        }
        Num { words, bits: rep.bits, signed: false }
    }

    pub fn each(&mut self, op: BinOp, a: &Num, b: &Num, rep: Rep) -> Num {
        let (a, b) = (self.converted(a, rep), self.converted(b, rep));
        let words = a.words.iter().zip(&b.words).map(|(x, y)| self.bin(op, *x, *y, rep.bits)).collect();
        Num { words, bits: rep.bits, signed: rep.signed }
    }

    pub fn selected(&mut self, c: &Num, a: &Num, b: &Num, rep: Rep) -> Num {
        let (a, b) = (self.converted(a, rep), self.converted(b, rep));
        let words = a.words.iter().zip(&b.words).map(|(x, y)| self.word(Op::Select(c.words[0], *x, *y), rep.bits)).collect();
        Num { words, bits: rep.bits, signed: rep.signed }
    }

    /// Held alike, with a sign if either has one.
    fn alike(&mut self, a: &Num, b: &Num) -> (Num, Num) {
        let signed = a.signed || b.signed;
        let bits = a.bits.max(b.bits);
        // A number without a sign takes one more bit where it gets one.
        let room = |n: &Num| n.rep().total() + u32::from(signed && !n.signed);
        let need = room(a).max(room(b));
        let rep = match need <= bits {
            true => Rep { bits, words: 1, signed },
            false => {
                let range = if signed { crate::layout::signed_range(need) } else { santoku_ir::Range::word(need) };
                Rep { signed, ..self.shared.words.fit(&range) }
            }
        };
        (self.converted(a, rep), self.converted(b, rep))
    }

    /// 1 or 0, as a bool is held.
    pub fn equal(&mut self, a: &Num, b: &Num, op: CmpOp) -> Num {
        let (a, b) = self.alike(a, b);
        let bits = a.bits;
        let v = match (&a.words[..], &b.words[..]) {
            ([x], [y]) => self.word(Op::Cmp(op, *x, *y), bits),
            (xs, ys) => {
                let mut all: Option<Value> = None;
                for (x, y) in xs.iter().zip(ys) {
                    let d = self.bin(BinOp::Xor, *x, *y, bits);
                    all = Some(all.map_or(d, |a| self.bin(BinOp::Or, a, d, bits)));
                }
                let zero = self.constant(0, bits);
                self.word(Op::Cmp(op, all.unwrap_or(zero), zero), bits)
            }
        };
        self.truth(v, bits)
    }

    pub fn less(&mut self, a: &Num, b: &Num) -> Num {
        let (a, b) = self.alike(a, b);
        let bits = a.bits;
        let v = match (&a.words[..], &b.words[..]) {
            ([x], [y]) => self.word(Op::Cmp(if a.signed { CmpOp::LtS } else { CmpOp::LtU }, *x, *y), bits),
            _ => {
                let (a, b) = if a.signed { (self.flipped(&a), self.flipped(&b)) } else { (a, b) };
                let (_, borrow) = self.chain(&a, &b, a.rep(), BinOp::Sub, Op::SubBorrow);
                match borrow {
                    Some(v) => v,
                    None => self.constant(0, bits),
                }
            }
        };
        self.truth(v, bits)
    }

    /// With its sign turned round: signed order becomes that of numbers without a sign.
    fn flipped(&mut self, n: &Num) -> Num {
        let mut words = n.words.clone();
        if let Some(top) = words.last_mut() {
            let sign = self.constant(1 << (n.bits - 1), n.bits);
            *top = self.bin(BinOp::Xor, *top, sign, n.bits);
        }
        Num { words, bits: n.bits, signed: false }
    }

    /// A word that is 0 or 1 as a bool.
    fn truth(&mut self, v: Value, bits: u32) -> Num {
        let rep = self.shared.words.of_bits(1);
        self.converted(&Num { words: vec![v], bits, signed: false }, rep)
    }
}

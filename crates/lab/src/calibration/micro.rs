//! Micro-tests: short instruction sequences whose cycles are known from the RTL.
//!
//! Each test times a body that ran eleven times before, so caches and predictors are warm; the figure is the distance of
//! two reads of `mcycle` around it, hence one more than the slots the body takes.

/// One sequence. The body may use a0-a5, t2-t6, s0 (a 256-byte buffer) and numeric labels below 9; a0 and a1 hold
/// 0x12345 and 0x6789 on entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MicroTest {
    /// Unique name.
    pub name: String,
    /// Assembly, one instruction a line.
    pub body: String,
}

/// Seed of the mixed sequences; any change makes other programs, for which the recorded figures mean nothing.
const MIX_SEED: u32 = 0x5eed_0001;
const MIXES: usize = 24;
const MIX_LENGTH: usize = 40;

/// All micro-tests, in the order of the recorded figures.
pub fn micro_tests() -> Vec<MicroTest> {
    let mut tests = Vec::new();
    multiplier(&mut tests);
    loads(&mut tests);
    stores(&mut tests);
    store_to_load(&mut tests);
    multiplier_and_memory(&mut tests);
    control(&mut tests);
    division(&mut tests);
    mixes(&mut tests);
    tests
}

fn push(tests: &mut Vec<MicroTest>, name: impl Into<String>, body: impl Into<String>) {
    tests.push(MicroTest { name: name.into(), body: body.into() });
}

/// The lines of `unit`, separated by `;`, `times` over.
fn repeat(times: usize, unit: &str) -> String {
    let once: String = unit.split(';').map(str::trim).filter(|l| !l.is_empty()).map(|l| format!("{l}\n")).collect();
    once.repeat(times)
}

fn nops(n: usize) -> String {
    "nop;".repeat(n)
}

fn multiplier(tests: &mut Vec<MicroTest>) {
    push(tests, "nop", repeat(16, "nop"));
    push(tests, "add chain", repeat(16, "add a2,a2,a2"));
    push(tests, "mul independent", repeat(16, "mul a2,a0,a1"));
    push(tests, "mul dependent", repeat(16, "mul a2,a2,a1"));
    push(tests, "mulhsu independent", repeat(16, "mulhsu a2,a0,a1"));
    for n in 1..10 {
        push(tests, format!("mul, {n} nop"), repeat(16, &format!("mul a2,a0,a1;{}", nops(n))));
    }
    for n in 0..7 {
        push(tests, format!("mul, {n} nop, use"), repeat(16, &format!("mul a2,a0,a1;{}add a3,a2,a2", nops(n))));
    }
    for n in 0..6 {
        let unit = format!("mul a2,a0,a1;{}mulhu a3,a0,a1;{}", nops(n), nops(8));
        push(tests, format!("mul, {n} nop, mulhu, 8 nop"), repeat(16, &unit));
    }
    push(tests, "mul, overwrite", repeat(16, "mul a2,a0,a1;addi a2,a0,1"));
}

fn loads(tests: &mut Vec<MicroTest>) {
    push(tests, "lw independent", repeat(4, "lw a2,0(s0);lw a3,4(s0);lw a4,8(s0);lw a5,12(s0)"));
    push(tests, "lw same register", repeat(16, "lw a2,0(s0)"));
    push(tests, "lbu same register", repeat(16, "lbu a2,0(s0)"));
    for load in ["lw", "lbu", "lh"] {
        for n in 0..4 {
            push(
                tests,
                format!("{load}, {n} nop, use"),
                repeat(16, &format!("{load} a2,0(s0);{}add a3,a2,a2", nops(n))),
            );
        }
    }
    push(tests, "lw to address", repeat(16, "andi a2,a2,0;add a2,a2,s0;lw a2,0(a2)"));
    push(tests, "lw, branch on it", repeat(8, "lw a2,0(s0);bne a2,a2,1f;nop;1:"));
}

fn stores(tests: &mut Vec<MicroTest>) {
    push(tests, "sw", repeat(16, "sw a0,0(s0)"));
    push(tests, "sb to three bytes", repeat(8, "sb a0,0(s0);sb a0,1(s0);sb a0,2(s0);nop;nop;nop"));
    push(tests, "lw, sw of it", repeat(16, "lw a2,0(s0);sw a2,4(s0)"));
    push(tests, "lw, sw of it, far", repeat(16, "lw a2,0(s0);sw a2,128(s0)"));
    push(tests, "mul, sw of it", repeat(8, &format!("mul a2,a0,a1;{}sw a2,0(s0)", nops(4))));
}

fn store_to_load(tests: &mut Vec<MicroTest>) {
    for n in 0..6 {
        push(
            tests,
            format!("sw, {n} nop, lw same"),
            repeat(16, &format!("sw a0,0(s0);{}lw a2,0(s0);{}", nops(n), nops(4))),
        );
    }
    for n in 0..3 {
        push(
            tests,
            format!("sw, {n} nop, lw other"),
            repeat(16, &format!("sw a0,0(s0);{}lw a2,4(s0);{}", nops(n), nops(4))),
        );
    }
    for (name, offset) in [("other", 8), ("first", 0), ("second", 4)] {
        let unit = format!("sw a0,0(s0);sw a0,4(s0);lw a2,{offset}(s0);{}", nops(4));
        push(tests, format!("sw, sw, lw {name}"), repeat(16, &unit));
    }
    push(tests, "sb, lbu same", repeat(16, &format!("sb a0,0(s0);lbu a2,0(s0);{}", nops(6))));
    push(tests, "sb, lbu same word", repeat(16, &format!("sb a0,0(s0);lbu a2,1(s0);{}", nops(6))));
    push(tests, "sh, lbu inside", repeat(16, &format!("sh a0,2(s0);lbu a2,3(s0);{}", nops(6))));
    for wait in 0..3 {
        for n in 1..6 {
            let loads: String = (0..n).map(|k| format!("lw a3,{}(s0);", 64 + 4 * k)).collect();
            let unit = format!("sw a0,0(s0);{}{loads}lw a2,0(s0);{}", nops(wait), nops(6));
            push(tests, format!("sw, {wait} nop, {n} lw other, lw same"), repeat(8, &unit));
        }
    }
    for n in 1..5 {
        let unit = format!("sw a0,0(s0);lw a3,64(s0);{}lw a2,0(s0);{}", nops(n), nops(6));
        push(tests, format!("sw, lw other, {n} nop, lw same"), repeat(8, &unit));
    }
    let six = nops(6);
    let mut eight = |name: &str, unit: &str| push(tests, name, repeat(8, &format!("{unit};{six}")));
    eight("sw, sw, lw, lw, lw first", "sw a0,0(s0);sw a0,4(s0);lw a3,64(s0);lw a3,68(s0);lw a2,0(s0)");
    eight("sw, sw, lw, lw, lw second", "sw a0,0(s0);sw a0,4(s0);lw a3,64(s0);lw a3,68(s0);lw a2,4(s0)");
    eight("sw, lw, sw, lw, lw first", "sw a0,0(s0);lw a3,64(s0);sw a0,4(s0);lw a3,68(s0);lw a2,0(s0)");
    eight("sw, lw, sw, lw, sw, lw", "sw a0,0(s0);lw a3,64(s0);sw a0,4(s0);lw a3,68(s0);sw a0,8(s0);lw a3,72(s0)");
    eight("sw, lw, sw, sw, lw", "sw a0,0(s0);lw a3,64(s0);sw a0,4(s0);sw a0,8(s0);lw a3,72(s0)");
}

fn multiplier_and_memory(tests: &mut Vec<MicroTest>) {
    let six = nops(6);
    let mut eight = |name: &str, unit: &str| push(tests, name, repeat(8, &format!("{unit};{six}")));
    eight("mul, 2 nop, sw, 3 nop, use", "mul a2,a0,a1;nop;nop;sw a0,0(s0);nop;nop;nop;add a3,a2,a2");
    eight("mul, 3 nop, sw, 2 nop, use", "mul a2,a0,a1;nop;nop;nop;sw a0,0(s0);nop;nop;add a3,a2,a2");
    eight("mul, 4 nop, sw, use", "mul a2,a0,a1;nop;nop;nop;nop;sw a0,0(s0);add a3,a2,a2");
    eight("mul, 4 nop, sw of it", "mul a2,a0,a1;nop;nop;nop;nop;sw a2,0(s0)");
    eight("mul, lw, use, lw, use, mul", "mul a2,a0,a1;lw a3,0(s0);add a3,a3,a3;lw a3,0(s0);add a3,a3,a3;mul a4,a0,a1");
    eight("mul, 4 sw, mul", &format!("mul a2,a0,a1;{}mul a4,a0,a1", "sw a0,0(s0);".repeat(4)));
    eight("mul, 6 sw, mul", &format!("mul a2,a0,a1;{}mul a4,a0,a1", "sw a0,0(s0);".repeat(6)));
    eight("mul, mulhu, two uses", "mul a2,a0,a1;mulhu a3,a0,a1;add a2,a2,a1;add a3,a3,a1");
    eight("mul, branch, use", "mul a2,a0,a1;nop;nop;bne x0,x0,1f;1:;add a3,a2,a2");
    eight("mul, replayed lw, use", "mul a2,a0,a1;sw a0,0(s0);lw a3,0(s0);add a4,a2,a2");
}

fn control(tests: &mut Vec<MicroTest>) {
    push(tests, "jal forward", "jal x0,1f\n1:\n");
    push(tests, "beq taken forward", "beq x0,x0,1f\nnop\n1:\n");
    push(tests, "beq not taken", repeat(16, "beq s0,x0,1f;1:"));
    push(tests, "branch not taken, nop", repeat(8, "bne x0,x0,1f;nop;1:;nop;nop;nop;nop;nop;nop"));
    push(tests, "loop of 16", "li a2,16\n1: addi a2,a2,-1\nbnez a2,1b\n");
    push(tests, "loop of 16, 4 nop", "li a2,16\n1: nop\nnop\nnop\nnop\naddi a2,a2,-1\nbnez a2,1b\n");
    push(
        tests,
        "loop of 40, loop of 3 inside",
        "li a2,40\n1: li a3,3\n2: addi a3,a3,-1\nbnez a3,2b\naddi a2,a2,-1\nbnez a2,1b\n",
    );
    push(tests, "four jumps", repeat(4, "jal x0,1f;nop;1:"));
    push(tests, "call and return", "mv a5,ra\njal ra,1f\njal ra,1f\njal x0,2f\n1: nop\nret\n2: mv ra,a5\n");
    let alternating = "li a2,20\n1: andi a3,a2,1\nbeqz a3,2f\nnop\n2: addi a2,a2,-1\nbnez a2,1b\n";
    push(tests, "alternating branch", alternating);
    let in_step = "li a2,21\n.p2align 2\n1: andi a3,a2,1\nbeqz a3,2f\nnop\n2: addi a2,a2,-1\nbnez a2,1b\n";
    push(tests, "alternating branch, aligned", in_step);
    let third = "li a2,24\nli a3,3\n1: addi a3,a3,-1\nbnez a3,2f\nli a3,3\n2: addi a2,a2,-1\nbnez a2,1b\n";
    push(tests, "branch every third time", third);
    // More transfers than the target buffer has entries.
    push(tests, "40 jumps", repeat(40, "jal x0,1f;nop;1:"));
    push(tests, "40 jumps over words", repeat(40, "jal x0,1f;nop;nop;nop;nop;1:"));
    push(tests, "40 taken branches", repeat(40, "beq x0,x0,1f;nop;nop;1:"));
    push(tests, "40 taken branches, mul", repeat(40, "beq x0,x0,1f;nop;1:;mul a2,a0,a1"));
    let calls = format!("mv a5,ra\n{}jal x0,2f\n1: nop\nnop\nret\n2: mv ra,a5\n", repeat(6, "jal ra,1f;nop"));
    push(tests, "six calls", calls);
    let nested =
        "mv a5,ra\njal ra,1f\njal ra,1f\njal x0,3f\n1: mv a4,ra\njal ra,2f\nmv ra,a4\nret\n2: nop\nret\n3: mv ra,a5\n";
    push(tests, "nested calls", nested);
    push(tests, "indirect jump", "la a2,1f\njr a2\nnop\nnop\n1:\n");
    push(tests, "csr, use", repeat(4, "csrr a2,mcycle;add a3,a2,a2"));
}

fn division(tests: &mut Vec<MicroTest>) {
    let pairs =
        [("12345", "7"), ("7", "12345"), ("-1", "3"), ("0", "5"), ("-100000", "10"), ("77", "0"), ("1<<31", "1")];
    for op in ["div", "divu", "rem", "remu"] {
        for (a, b) in pairs {
            let unit = format!("{op} a4,a2,a3;add a5,a4,a4");
            push(tests, format!("{op} {a} by {b}, use"), format!("li a2,{a}\nli a3,{b}\n{}", repeat(4, &unit)));
        }
    }
    push(
        tests,
        "div, 40 nop, use",
        format!("li a2,-5\nli a3,3\n{}", repeat(2, &format!("div a4,a2,a3;{}add a5,a4,a4", nops(40)))),
    );
    push(tests, "div, mul", format!("li a2,1000\nli a3,3\n{}", repeat(4, "div a4,a2,a3;mul a5,a2,a3")));
}

/// Straight lines of mixed instructions, from a linear congruential generator.
fn mixes(tests: &mut Vec<MicroTest>) {
    let mut state = MIX_SEED;
    let mut below = |n: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % n
    };
    const REGISTERS: [&str; 8] = ["a0", "a1", "a2", "a3", "a4", "a5", "t3", "t4"];
    for n in 0..MIXES {
        let mut body = String::new();
        for _ in 0..MIX_LENGTH {
            let mut r = || REGISTERS[below(8) as usize];
            let (d, s, t) = (r(), r(), r());
            let offset = below(16) * 4;
            let line = match below(12) {
                0 => format!("add {d},{s},{t}"),
                1 => format!("xor {d},{s},{t}"),
                2 => format!("srli {d},{s},7"),
                3 => format!("addi {d},{s},5"),
                4 | 5 => format!("mul {d},{s},{t}"),
                6 => format!("mulhu {d},{s},{t}"),
                7 | 8 => format!("lw {d},{offset}(s0)"),
                9 => format!("lbu {d},{offset}(s0)"),
                10 => format!("sw {s},{offset}(s0)"),
                _ => format!("sb {s},{offset}(s0)"),
            };
            body.push_str(&line);
            body.push('\n');
        }
        push(tests, format!("mix {n}"), body);
    }
}

//! The harness end to end: compile, run, read back, bound the stack, size the objects, and refuse what is broken.

use santoku_lab::harness::{run_rv32, Arg, Call, Constants, Level, Code, Ret, Rv32Job, Source, Toolchain};
use santoku_lab::profile::{flamegraph_svg, folded, leaf_table};
use santoku_lab::rv32::{Config, SimError};
use santoku_lab::stack::StackError;
use santoku_lab::LabError;

fn source(text: &str) -> Vec<Source> {
    vec![Source::Text { name: "measured.c".into(), text: text.into() }]
}

fn toolchain() -> Toolchain {
    Toolchain::find().expect("the cross compiler is installed")
}

const SUM: &str = "
#include <stdint.h>
static const uint32_t weight[8] = {3, 1, 4, 1, 5, 9, 2, 6};
uint64_t sum(uint8_t *out, const uint8_t *in, uint32_t n) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) { total += (uint64_t)in[i] * weight[i & 7]; out[i] = ~in[i]; }
    return total << (n & 31);
}";

fn sum_job(input: Vec<u8>) -> Rv32Job {
    let len = input.len();
    let call = Call {
        declaration: "unsigned long long sum(unsigned char *, const unsigned char *, unsigned)".into(),
        function: "sum".into(),
        args: vec![Arg::Out(len), Arg::In(input), Arg::Word32(len as u32)],
        ret: Ret::Word64,
    };
    Rv32Job::new(source(SUM), vec![call])
}

fn expected_sum(input: &[u8]) -> u64 {
    let weight = [3u64, 1, 4, 1, 5, 9, 2, 6];
    let total: u64 = input.iter().enumerate().map(|(i, &b)| u64::from(b) * weight[i & 7]).sum();
    total << (input.len() & 31)
}

#[test]
fn every_level_and_instruction_set_computes_the_same() {
    let input: Vec<u8> = (0..50u8).map(|i| i.wrapping_mul(37)).collect();
    let mut runs = 0;
    for march in [Code::Plain, Code::Compressed] {
        for level in Level::ALL {
            let job = Rv32Job { code: march, level, ..sum_job(input.clone()) };
            let report = run_rv32(&toolchain(), &job).unwrap();
            assert_eq!(report.outputs[0].ret, expected_sum(&input), "{march:?} {level:?}");
            let complement: Vec<u8> = input.iter().map(|b| !b).collect();
            assert_eq!(report.outputs[0].buffers[0].as_deref(), Some(&complement[..]));
            assert!(u64::from(report.measures[0].stack_bytes) <= report.stack_bounds[0].bytes);
            assert!(report.measures[0].instret > 50 && report.size_bytes > 40);
            runs += 1;
        }
    }
    assert_eq!(runs, 10);
}

#[test]
fn inputs_can_be_replaced_without_building_again() {
    let toolchain = toolchain();
    let mut program = toolchain.build(&sum_job(vec![0; 16])).unwrap();
    let first = program.run(&Config::default()).unwrap();
    assert_eq!(first.outputs[0].ret, 0);
    let input: Vec<u8> = (100..116).collect();
    program.set_input(0, 1, &input).unwrap();
    let second = program.run(&Config::default()).unwrap();
    assert_eq!(second.outputs[0].ret, expected_sum(&input));
    assert!(program.set_input(0, 1, &[1, 2]).is_err(), "another length");
    assert!(program.set_input(0, 2, &[0; 16]).is_err(), "not a buffer");
}

#[test]
fn constants_in_flash_cost_on_the_board_only() {
    let toolchain = toolchain();
    let measure = |constants| {
        // At O0 no read of a constant is hoisted or folded.
        let job = Rv32Job { constants, level: Level::O0, ..sum_job(vec![7; 64]) };
        run_rv32(&toolchain, &job).unwrap().measures[0]
    };
    let (ram, flash) = (measure(Constants::Ram), measure(Constants::Flash));
    assert_eq!((ram.flash_words, flash.flash_words), (0, 64));
    assert_eq!(flash.cycles_board - flash.cycles_core, 64 * 90 + flash.icache_misses * 945);
    assert_eq!(ram.instret, flash.instret);
}

const LOOKUP: &str = "
unsigned table[64];
static volatile unsigned mask;
unsigned masked(const unsigned char *k) { unsigned r = 0; for (int i = 0; i < 64; i++) r |= table[i] & -(unsigned)(i == (k[0] & 63)); return r; }
unsigned indexed(const unsigned char *k) { return table[k[0] & 63]; }
unsigned branching(const unsigned char *k) { if (k[0] & 1) mask = 1; return mask; }";

fn trace_hashes(function: &str) -> Vec<u64> {
    let call = Call {
        declaration: format!("unsigned {function}(const unsigned char *)"),
        function: function.into(),
        args: vec![Arg::In(vec![0])],
        ret: Ret::Word32,
    };
    let mut program = toolchain().build(&Rv32Job::new(source(LOOKUP), vec![call])).unwrap();
    let keys = [0u8, 1, 17, 63];
    keys.iter()
        .map(|&key| {
            program.set_input(0, 0, &[key]).unwrap();
            program.run(&Config::default()).unwrap().run.windows[0].trace_hash
        })
        .collect()
}

#[test]
fn the_trace_hash_sees_secret_addresses_and_branches_and_nothing_else() {
    let differs = |hashes: Vec<u64>| hashes.iter().any(|&h| h != hashes[0]);
    assert!(!differs(trace_hashes("masked")));
    assert!(differs(trace_hashes("indexed")));
    assert!(differs(trace_hashes("branching")));
}

fn run_void(text: &str) -> Result<(), LabError> {
    let call = Call { declaration: "void f(void)".into(), function: "f".into(), args: vec![], ret: Ret::Void };
    let program = toolchain().build(&Rv32Job::new(source(text), vec![call]))?;
    program.run(&Config { step_limit: 100_000, ..Config::default() }).map(|_| ())
}

#[test]
fn broken_programs_end_in_their_own_error() {
    let sim = |text: &str| match run_void(text) {
        Err(LabError::Sim(error)) => error,
        other => panic!("{text}: {other:?}"),
    };
    assert!(matches!(sim("void f(void) { for (;;) ; }"), SimError::StepLimit { steps: 100_000 }));
    assert!(matches!(sim("void f(void) { __asm__(\".word 0\"); }"), SimError::IllegalInstruction { bits: 0, .. }));
    assert!(matches!(sim("void f(void) { __asm__(\".word 0xffffffff\"); }"), SimError::IllegalInstruction { .. }));
    assert!(matches!(sim("void f(void) { *(volatile int *)0x1000 = 1; }"), SimError::AccessFault { store: true, .. }));
    assert!(matches!(sim("void f(void) { *(volatile int *)0x20010000 = 1; }"), SimError::AccessFault { .. }));
    assert!(matches!(
        sim("void f(void) { (void)*(volatile int *)0x80800000; }"),
        SimError::AccessFault { store: false, .. }
    ));
    assert!(matches!(
        sim("void f(void) { __asm__(\"lui a5, 0x80000; lw a5, 2(a5)\" ::: \"a5\"); }"),
        SimError::Misaligned { bytes: 4, .. }
    ));
    assert!(matches!(sim("void f(void) { ((void (*)(void))0x80000000)(); }"), SimError::FetchFault { pc: 0x80000000 }));
    assert!(matches!(sim("void f(void) { __asm__(\"ecall\"); }"), SimError::UnknownTrap { .. }));
    let nested = "void lab_window_begin(void); void f(void) { lab_window_begin(); }";
    assert!(matches!(sim(nested), SimError::UnbalancedMarker { .. }));
    assert!(matches!(run_void("void f(void) { syntax error }"), Err(LabError::ToolFailed { .. })));
    assert!(matches!(run_void("extern void g(void); void f(void) { g(); }"), Err(LabError::ToolFailed { .. })));
    let exits = "void lab_exit(int); void f(void) { lab_exit(3); }";
    assert!(matches!(run_void(exits), Err(LabError::Sim(SimError::UnbalancedMarker { .. }) | LabError::ExitStatus(3))));
    assert!(run_void("void f(void) { }").is_ok());
}

fn bound_error(text: &str) -> StackError {
    let call =
        Call { declaration: "int f(int)".into(), function: "f".into(), args: vec![Arg::Word32(1)], ret: Ret::Void };
    let program = toolchain().build(&Rv32Job::new(source(text), vec![call])).unwrap();
    match program.stack_bound("f") {
        Err(LabError::Stack(error)) => error,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn no_stack_bound_without_a_finite_one() {
    let recursive = "__attribute__((noinline)) int f(int n) { volatile int x = n; return n ? f(n - 1) * x : 1; }";
    assert!(matches!(bound_error(recursive), StackError::Recursion(_)));
    let dynamic = "void use(char *); int f(int n) { volatile char x[n]; x[0] = 1; return x[0]; }";
    assert!(matches!(bound_error(dynamic), StackError::DynamicFrame(_)));
    assert!(matches!(bound_error("int (*p)(int); int f(int n) { return p(n) + 1; }"), StackError::IndirectCall(_)));
}

#[test]
fn the_stack_bound_is_met_by_a_program_that_uses_it_all() {
    let text = "
__attribute__((noinline)) int leaf(int n) { volatile char x[500]; x[n] = 1; return x[n]; }
__attribute__((noinline)) int small(int n) { volatile char x[20]; x[n] = 1; return x[n]; }
int f(int n) { volatile char x[100]; x[n] = leaf(n); return x[n] + small(n); }";
    let call =
        Call { declaration: "int f(int)".into(), function: "f".into(), args: vec![Arg::Word32(1)], ret: Ret::Word32 };
    let report = run_rv32(&toolchain(), &Rv32Job::new(source(text), vec![call])).unwrap();
    assert_eq!(report.outputs[0].ret, 2);
    assert_eq!(report.stack_bounds[0].path, ["f", "leaf"]);
    assert!(report.stack_bounds[0].bytes > 600);
    assert_eq!(u64::from(report.measures[0].stack_bytes), report.stack_bounds[0].bytes);
}

#[test]
fn functions_folded_into_one_have_one_frame() {
    let body = "(int n) { volatile char x[500]; x[n] = 1; return x[n]; }";
    let text = format!(
        "static __attribute__((noinline)) int first{body}
static __attribute__((noinline)) int second{body}
int f(int n) {{ return first(n) + 2 * second(n + 1); }}"
    );
    let call =
        Call { declaration: "int f(int)".into(), function: "f".into(), args: vec![Arg::Word32(1)], ret: Ret::Word32 };
    let report = run_rv32(&toolchain(), &Rv32Job::new(source(&text), vec![call])).unwrap();
    assert_eq!(report.outputs[0].ret, 3);
    assert_eq!(u64::from(report.measures[0].stack_bytes), report.stack_bounds[0].bytes);
    assert!(report.stack_bounds[0].bytes > 500);
}

#[test]
fn the_profile_accounts_for_every_cycle() {
    let text = "
volatile unsigned sink;
__attribute__((noinline)) unsigned leaf(unsigned n) { unsigned r = 0; while (n--) r += n * r + 1; return r; }
__attribute__((noinline)) unsigned middle(unsigned n) { return leaf(n) + leaf(n + 1); }
__attribute__((noinline)) unsigned tail(unsigned n) { return leaf(n * 3); }
unsigned f(unsigned n) { for (int i = 0; i < 5; i++) sink = middle(n + i) + tail(n + i) + 1; return sink; }";
    let call = Call {
        declaration: "unsigned f(unsigned)".into(),
        function: "f".into(),
        args: vec![Arg::Word32(10)],
        ret: Ret::Word32,
    };
    let program = toolchain().build(&Rv32Job::new(source(text), vec![call])).unwrap();
    let ran = program.run(&Config { profile: true, ..Config::default() }).unwrap();
    let tree = ran.run.calls.as_ref().unwrap();
    let table = leaf_table(tree);
    let total: u64 = table.iter().map(|l| l.self_cycles).sum();
    // The window closes when `lab_window_end` is reached: everything before was charged to some function.
    assert_eq!(total, ran.run.windows[0].cycles_core);
    let find = |name: &str| table.iter().find(|l| l.function == name).unwrap();
    assert_eq!((find("leaf").calls, find("middle").calls, find("tail").calls, find("f").calls), (15, 5, 5, 1));
    assert_eq!(table[0].function, "leaf");
    let inside = find("middle").inclusive_cycles + find("tail").inclusive_cycles + find("f").self_cycles;
    assert_eq!(find("f").inclusive_cycles, inside);
    let folded = folded(tree);
    assert!(folded.contains("f;middle;leaf ") && folded.contains("f;tail;leaf "), "{folded}");
    let svg = flamegraph_svg(tree, "f").unwrap();
    assert!(svg.contains("<svg") && svg.contains("middle"));
    let plain = program.run(&Config::default()).unwrap();
    assert_eq!(plain.run.windows[0], ran.run.windows[0], "profiling changes nothing");
    assert!(plain.run.calls.is_none());
}

//! Retired instructions against QEMU: the same executable must retire exactly as many in both.
//!
//! QEMU's `sifive_e` board, revision B, with one instruction a clock tick (`-icount shift=0`): its `minstret` is then exact
//! and repeatable. The program reads the counter itself and prints the difference by semihosting.

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use santoku_lab::calibration::timed_main;
use santoku_lab::harness::{Level, Code, Source, Toolchain};
use santoku_lab::rv32::{Config, Image, Machine};

const MIXED: &str = "
static unsigned state = 1;
static volatile unsigned long long sink;
static unsigned next(void) { return state = state * 1664525u + 1013904223u; }
__attribute__((noinline)) static unsigned long long divide(unsigned long long a, unsigned b) { return a / (b | 1) + a % (b | 1); }
static void work(void)
{
    for (int i = 0; i < 400; i++) {
        unsigned long long a = (unsigned long long)next() << 32 | next();
        int s = (int)next();
        sink += divide(a, next()) + (unsigned)(s / ((int)next() | 1)) + (a >> (next() & 63)) + (unsigned)(s % 7);
        sink ^= (long long)s * (int)next() >> 16;
    }
}";
const MEMORY: &str = "
static unsigned char bytes[2000];
static short halves[300];
static unsigned heap[500];
static volatile int sink;
static int compare(unsigned a, unsigned b) { return a < b ? -1 : a > b; }
static void work(void)
{
    for (int i = 0; i < 500; i++) heap[i] = i * 2654435761u;
    for (int i = 1; i < 500; i++)
        for (int j = i; j > 0 && compare(heap[j - 1], heap[j]) > 0; j--) {
            unsigned t = heap[j]; heap[j] = heap[j - 1]; heap[j - 1] = t;
        }
    for (int i = 0; i < 2000; i++) bytes[i] = (unsigned char)heap[i % 500];
    for (int i = 0; i < 300; i++) halves[i] = (short)(bytes[i] << 8 | bytes[1999 - i]);
    for (int i = 0; i < 300; i++) sink += halves[i] + (signed char)bytes[i];
    __builtin_memcpy(bytes, bytes + 1000, 777);
    switch (sink & 7) { case 0: sink = 9; break; case 1: sink = 8; break; case 2: sink = 3; break; case 3: sink = 1; break;
                        case 4: sink = 7; break; default: sink = 0; }
}";
const CALLS: &str = "
static volatile unsigned sink;
__attribute__((noinline)) static unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__attribute__((noinline)) static unsigned twice(unsigned (*f)(unsigned), unsigned n) { return f(n) + f(n + 1); }
static void work(void) { sink = twice(fibonacci, 15); }";

/// The program's printed text on QEMU, or `None` when QEMU is not installed.
fn on_qemu(elf: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("program.elf");
    std::fs::write(&path, elf).expect("scratch is writable");
    let mut command = Command::new("timeout");
    command.args(["60", "qemu-system-riscv32", "-M", "sifive_e,revb=true", "-icount", "shift=0", "-bios", "none"]);
    command.args(["-display", "none", "-monitor", "none", "-serial", "none", "-kernel"]).arg(&path);
    command.args(["-chardev", "stdio,id=console", "-semihosting-config", "enable=on,target=native,chardev=console"]);
    match command.stdin(Stdio::null()).output() {
        Ok(done) if done.status.code() == Some(127) => None,
        Ok(done) => {
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            Some(String::from_utf8_lossy(&done.stdout).into_owned())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => panic!("{error}"),
    }
}

/// Cycles and instructions the program prints, on the simulator.
fn on_simulator(elf: &[u8]) -> String {
    let image = Image::parse(elf).expect("an executable");
    let run = Machine::new(&image, &Config::default()).expect("it loads").run().expect("it runs");
    assert_eq!(run.exit_status, 0);
    String::from_utf8(run.console).expect("it prints ASCII")
}

fn instructions(printed: &str) -> u64 {
    printed.lines().nth(1).and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("unexpected output {printed:?}"))
}

#[test]
fn retired_instructions_equal_qemu() {
    let toolchain = Toolchain::find().expect("the cross compiler is installed");
    let mut compared = 0;
    for text in [MIXED, MEMORY, CALLS] {
        for (march, level) in [(Code::Plain, Level::O2), (Code::Compressed, Level::Os), (Code::Compressed, Level::O0)] {
            let main: Source = timed_main(text, "work()");
            let elf = toolchain.build_plain(&[main], march, level, false).expect("it builds");
            let Some(qemu) = on_qemu(&elf) else {
                santoku_skips::skip("retired instructions", "qemu-system-riscv32 is not installed (apt install qemu-system-misc)");
                return;
            };
            let (qemu, ours) = (instructions(&qemu), instructions(&on_simulator(&elf)));
            assert!(qemu > 10_000, "a program of {qemu} instructions shows nothing");
            assert_eq!(ours, qemu, "{march:?} {level:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 9);
}

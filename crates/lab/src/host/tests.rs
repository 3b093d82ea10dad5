use crate::peers::find_root;
use super::*;
use std::path::PathBuf;

fn root() -> PathBuf {
    find_root(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("tests run inside the repository")
}

fn quick(name: &str, len: usize) -> Workload {
    Workload { rounds: 15, batch_us: 50, ..Workload::new(name, len) }
}

/// An implementation whose only operation leaves `byte`.
fn constant(name: &str, byte: u8, setup: u8) -> HostImpl {
    let adapter = format!(
        "#include \"bench.h\"\nstatic uint8_t out[1];\nstatic void run(void) {{ out[0] = {byte}; }}\n\
         static int setup(void) {{ return {setup}; }}\n\
         static const struct bench_op ops[] = {{{{\"put\", run, 0, out, 1}}}};\n\
         const struct bench_impl BENCH_IMPL = {{setup, ops, 1}};\n"
    );
    HostImpl {
        name: name.into(),
        compiler: "gcc".into(),
        cflags: vec!["-O2".into()],
        sources: vec![],
        include_dirs: vec![],
        libs: vec![],
        adapter,
    }
}

#[test]
fn ciphers_report_cycles_per_byte() {
    let dir = tempfile::tempdir().expect("scratch folder");
    let impls: Vec<_> =
        ["libsodium", "openssl"].iter().map(|n| rivals::rival(&root(), n, "chacha20.c", "gcc", &["-O3"]).expect("peer")).collect();
    let run = compare(dir.path(), &impls, &quick("chacha20", 16384)).expect("comparison");
    for r in &run.rows {
        let per_byte = r.core_cycles_per_byte.expect("bulk operation").median;
        assert!(per_byte > 0.05 && per_byte < 50.0, "{r:?}");
    }
}

#[test]
fn a_wrong_result_is_never_timed() {
    let dir = tempfile::tempdir().expect("scratch folder");
    let err = compare(dir.path(), &[constant("a", 1, 0), constant("b", 2, 0)], &quick("put", 8)).expect_err("they differ");
    assert!(matches!(&err, HostError::Disagree { implementation, .. } if implementation == "b"), "{err}");

    let mut workload = quick("put", 8);
    workload.expected.insert("put".into(), vec![7]);
    let err = compare(dir.path(), &[constant("a", 1, 0)], &workload).expect_err("not what was expected");
    assert!(matches!(err, HostError::Disagree { .. }), "{err}");
    workload.expected.insert("put".into(), vec![1]);
    compare(dir.path(), &[constant("a", 1, 0)], &workload).expect("as expected");
}

#[test]
fn failures_name_the_implementation() {
    let dir = tempfile::tempdir().expect("scratch folder");
    let err = compare(dir.path(), &[constant("shy", 1, 5)], &quick("put", 8)).expect_err("setup fails");
    assert!(matches!(&err, HostError::Refused { implementation, code: 5 } if implementation == "shy"), "{err}");

    let mut broken = constant("broken", 1, 0);
    broken.adapter.push_str("not C");
    let err = compare(dir.path(), &[broken], &quick("put", 8)).expect_err("does not compile");
    assert!(matches!(&err, HostError::Build { implementation, .. } if implementation == "broken"), "{err}");

    let mut odd = constant("odd", 1, 0);
    odd.compiler = "no-such-compiler".into();
    let err = compare(dir.path(), &[odd], &quick("put", 8)).expect_err("no compiler");
    assert!(matches!(err, HostError::Tool { .. }), "{err}");

    let mut crash = constant("crash", 1, 0);
    crash.adapter = crash.adapter.replace("out[0] = 1;", "__builtin_trap();");
    let err = compare(dir.path(), &[crash], &quick("put", 8)).expect_err("it traps");
    assert!(matches!(err, HostError::Crashed { .. }), "{err}");

    let err = compare(dir.path(), &[], &quick("put", 8)).expect_err("nothing to compare");
    assert!(matches!(err, HostError::Request { .. }), "{err}");
    let err = compare(dir.path(), &[constant("a", 1, 0), constant("a", 1, 0)], &quick("put", 8)).expect_err("same name");
    assert!(matches!(err, HostError::Request { .. }), "{err}");
}

#[test]
fn percentiles_are_nearest_rank() {
    let s = parse::spread((1..=11).rev().map(f64::from).collect()).expect("not empty");
    assert_eq!(s, Spread { p10: 2.0, median: 6.0, p90: 10.0 });
    assert!(parse::spread(vec![]).is_none());
}

fn xor_kernel(compiler: &str, constant: u8) -> HostImpl {
    let kernel = kernel::Kernel {
        declarations: "static void f(uint8_t *o, const uint8_t *i, size_t n) { while (n--) o[n] = i[n] ^ KEY; }".into(),
        setup: String::new(),
        call: "f(out, in, sizeof in);".into(),
        compared: true,
    };
    HostImpl {
        name: format!("{compiler} {constant}"),
        compiler: compiler.into(),
        cflags: vec!["-O3".into(), format!("-DKEY={constant}")],
        adapter: kernel.adapter(4096),
        ..constant_impl()
    }
}

fn constant_impl() -> HostImpl {
    constant("", 0, 0)
}

#[test]
fn kernels_are_timed_per_byte_and_compared() {
    let dir = tempfile::tempdir().expect("scratch folder");
    let workload = quick("xor", 4096);
    let run = compare(dir.path(), &[xor_kernel("gcc", 5), xor_kernel("clang-19", 5)], &workload).expect("same kernel");
    for r in &run.rows {
        // About 0.5 on an idle machine; a busy one may stretch that, but not to what a count per message would be.
        let median = r.core_cycles_per_byte.as_ref().expect("bulk").median;
        assert!(median > 0.01 && median < 50.0, "{r:?}");
    }
    let err = compare(dir.path(), &[xor_kernel("gcc", 5), xor_kernel("gcc", 6)], &workload).expect_err("keys differ");
    assert!(matches!(err, HostError::Disagree { .. }), "{err}");
    // A kernel made for another message length must not run past the message.
    let mut long = workload.clone();
    long.message_len = 100;
    let err = compare(dir.path(), &[xor_kernel("gcc", 5)], &long).expect_err("lengths differ");
    assert!(matches!(err, HostError::Refused { code: 2, .. }), "{err}");
}

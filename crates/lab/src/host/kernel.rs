//! Adapters for bulk kernels: a C function on buffers, timed per byte.

/// How to call a kernel. The C texts see `out` and `in` (as long as the message, 64-byte aligned, `in` holds the message) and
/// `bench_key`.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// `#include`s, prototypes, buffers and tables of its own.
    pub declarations: String,
    /// Statements run once before timing, e.g. key expansion; may be empty.
    pub setup: String,
    /// Statements that process the whole message once.
    pub call: String,
    /// Whether `out` is what other implementations leave too. False for kernels whose blocks stay in sliced order.
    pub compared: bool,
}

impl Kernel {
    /// Adapter text for [`super::HostImpl::adapter`], with one operation named `encrypt`. `message_len` must be the
    /// workload's: the bench refuses the implementation (code 2) otherwise.
    pub fn adapter(&self, message_len: usize) -> String {
        let Kernel { declarations, setup, call, compared } = self;
        let (result, result_len) = if *compared { ("out", message_len) } else { ("0", 0) };
        format!(
            "#include \"bench.h\"\n\
             static uint8_t out[{message_len}] __attribute__((aligned(64)));\n\
             static uint8_t in[{message_len}] __attribute__((aligned(64)));\n\
             {declarations}\n\
             static void run(void) {{ {call} }}\n\
             static int setup(void)\n{{\n  if (bench_msg_len != sizeof in) return 2;\n  memcpy(in, bench_msg, sizeof in);\n  {setup}\n  return 0;\n}}\n\
             static const struct bench_op ops[] = {{{{\"encrypt\", run, {message_len}, {result}, {result_len}}}}};\n\
             const struct bench_impl BENCH_IMPL = {{setup, ops, 1}};\n"
        )
    }
}

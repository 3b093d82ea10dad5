//! `crypto_sign` on the RV32 model: one run signs a message and opens the signed message, for ours and for rivals alike.

use crate::subject::Subject;
use crate::BenchError;
use santoku_lab::harness::{run_rv32, Arg, Call, Constants, Code, Level, Ret, Rv32Job, Source, Toolchain};
use santoku_lab::record::{Row, Stamp};
use santoku_lab::rv32::{Config, Measure};

/// RFC 8032, section 7.1, test 2: seed and public key.
const SEED: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
const PUBLIC: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
/// Signature of [`message`] under that key. Signing is deterministic, so every correct program makes these bytes.
pub const SIGNATURE: &str = "cfa1a1b228866fe122b6bd492fb0226b56a3c129ad66125deaeb8a8f2f059f1ab845d685a8a603e97938bcc6aff3dbe6c802fd0a9062d54ae525d1ebfdfdab0a";
/// Bytes of the measured message: that of the published figures.
pub const MESSAGE_BYTES: usize = 256;

/// Parameters of both functions.
const PARAMETERS: &str = "(unsigned char *, unsigned long long *, const unsigned char *, unsigned long long, const unsigned char *)";
/// The measured calls draw no randomness, but the linker wants the function.
const RANDOM: &str = "void randombytes(unsigned char *x, unsigned long long n);\nvoid randombytes(unsigned char *x, unsigned long long n) { while (n) { x[--n] = 0; } }\n";

/// How a subject is compiled and placed.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub code: Code,
    pub level: Level,
    pub constants: Constants,
}

/// Figures of one subject in one setting.
#[derive(Clone, Debug)]
pub struct SignRun {
    pub variant: String,
    pub level: Level,
    pub sign: Figures,
    pub open: Figures,
    /// `.text` and `.rodata` of everything the subject's files hold.
    pub size_bytes: u64,
    pub compiler: String,
    pub flags: Vec<String>,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub measure: Measure,
    /// Longest call path, in bytes.
    pub stack_bound: u64,
}

/// The measured key: seed, then public key.
pub fn key() -> Vec<u8> {
    [hex(SEED), hex(PUBLIC)].concat()
}

pub fn message() -> Vec<u8> {
    (0..MESSAGE_BYTES).map(|k| (7 * k + 3) as u8).collect()
}

/// Bytes of a constant of this module.
fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).filter_map(|k| u8::from_str_radix(&text[2 * k..2 * k + 2], 16).ok()).collect()
}

/// `crypto_sign` of `message` under `key`.
pub fn sign_call(subject: &Subject, message: &[u8], key: &[u8]) -> Call {
    let out = Arg::Out(message.len() + 64);
    call(subject, "", vec![out, Arg::Out(8), Arg::In(message.to_vec()), Arg::Word64(message.len() as u64), Arg::In(key.to_vec())])
}

/// `crypto_sign_open` of `signed` under `public`.
pub fn open_call(subject: &Subject, signed: &[u8], public: &[u8]) -> Call {
    let args = vec![Arg::Out(signed.len()), Arg::Out(8), Arg::In(signed.to_vec()), Arg::Word64(signed.len() as u64), Arg::In(public.to_vec())];
    call(subject, "_open", args)
}

fn call(subject: &Subject, suffix: &str, args: Vec<Arg>) -> Call {
    let function = format!("{}{suffix}", subject.prefix);
    Call { declaration: format!("int {function}{PARAMETERS}"), function, args, ret: Ret::Word32 }
}

/// A job of these calls.
pub fn job(subject: &Subject, setting: Setting, calls: Vec<Call>) -> Rv32Job {
    Rv32Job {
        support: vec![Source::Text { name: "randombytes.c".into(), text: RANDOM.into() }],
        include_dirs: subject.include_dirs.clone(),
        code: setting.code,
        level: setting.level,
        constants: setting.constants,
        flags: subject.flags.clone(),
        ..Rv32Job::new(subject.sources.clone(), calls)
    }
}

/// The measured job: signs the message, opens the signed message.
pub fn measured_job(subject: &Subject, setting: Setting) -> Rv32Job {
    let (key, message) = (key(), message());
    let signed = [hex(SIGNATURE), message.clone()].concat();
    job(subject, setting, vec![sign_call(subject, &message, &key), open_call(subject, &signed, &key[32..])])
}

/// Builds, signs, opens, and checks both results.
///
/// # Errors
/// `WrongResult` if the signature is another, or opening fails or does not give the message back; `Lab` if building or
/// running does.
pub fn measure(toolchain: &Toolchain, subject: &Subject, setting: Setting) -> Result<SignRun, BenchError> {
    let report = run_rv32(toolchain, &measured_job(subject, setting)).map_err(|e| BenchError::lab(&subject.variant, e))?;
    let output = |call: usize| report.outputs[call].buffers[0].clone().unwrap_or_default();
    let wrong = |what: &str| BenchError::WrongResult { program: format!("{} at -{}", subject.variant, setting.level.name()), reason: what.into() };
    if output(0).get(..64) != Some(&hex(SIGNATURE)[..]) {
        return Err(wrong("another signature than the one RFC 8032 defines"));
    }
    if report.outputs[1].ret as u32 != 0 {
        return Err(wrong("a valid signature is refused"));
    }
    if output(1).get(..MESSAGE_BYTES) != Some(&message()[..]) {
        return Err(wrong("opening gives back another message"));
    }
    let figures = |call: usize| Figures { measure: report.measures[call], stack_bound: report.stack_bounds[call].bytes };
    Ok(SignRun {
        variant: subject.variant.clone(),
        level: setting.level,
        sign: figures(0),
        open: figures(1),
        size_bytes: report.size_bytes,
        compiler: report.program.compiler.clone(),
        flags: report.program.flags.clone(),
    })
}

impl SignRun {
    /// The rows of a record: `nacl.sign` and `nacl.open`.
    pub fn rows(&self, stamp: &Stamp) -> [Row; 2] {
        [self.row("nacl.sign", &self.sign, stamp), self.row("nacl.open", &self.open, stamp)]
    }

    fn row(&self, program: &str, figures: &Figures, stamp: &Stamp) -> Row {
        let measure = &figures.measure;
        Row {
            program: program.into(),
            variant: self.variant.clone(),
            machine: "e31".into(),
            level: self.level.name().into(),
            cycles_core: measure.cycles_core,
            cycles_board: Some(measure.cycles_board),
            instret: Some(measure.instret),
            icache_misses: Some(measure.icache_misses),
            flash_words: Some(measure.flash_words),
            stack_bytes: Some(u64::from(measure.stack_bytes)),
            stack_bound_bytes: Some(figures.stack_bound),
            size_bytes: Some(self.size_bytes),
            trace_hash: Some(format!("{:016x}", measure.trace_hash)),
            compiler: self.compiler.clone(),
            flags: self.flags.join(" "),
            date: stamp.date.clone(),
            commit: stamp.commit.clone(),
        }
    }
}

/// Trace hash of signing with each key (64 bytes) and message of [`MESSAGE_BYTES`]. Equal hashes mean equal program counters and
/// data addresses throughout.
pub fn trace_hashes(toolchain: &Toolchain, subject: &Subject, setting: Setting, cases: &[(Vec<u8>, Vec<u8>)]) -> Result<Vec<u64>, BenchError> {
    let lab = |e: santoku_lab::LabError| BenchError::lab(&subject.variant, e);
    let mut built = toolchain.build(&job(subject, setting, vec![sign_call(subject, &message(), &key())])).map_err(lab)?;
    let mut hashes = vec![];
    for (key, message) in cases {
        built.set_input(0, 4, key).map_err(lab)?;
        built.set_input(0, 2, message).map_err(lab)?;
        hashes.push(built.run(&Config::default()).map_err(lab)?.run.windows[0].trace_hash);
    }
    Ok(hashes)
}

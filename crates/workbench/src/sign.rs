//! `crypto_sign` on the RV32 model: one run signs a message and opens the signature, for ours and for rivals alike.

use crate::BenchError;
use santoku_lab::harness::{run_rv32, Arg, Call, Constants, Level, March, Program, Ret, Rv32Job, Source, Toolchain};
use santoku_lab::rv32::{Config, Measure};
use std::path::PathBuf;

/// RFC 8032, section 7.1, test 2: seed and public key.
const SEED: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
const PUBLIC: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
/// Bytes of the measured message.
pub const MESSAGE_BYTES: usize = 256;

const SIGN: &str =
    "int crypto_sign(unsigned char *, unsigned long long *, const unsigned char *, unsigned long long, const unsigned char *)";
const OPEN: &str =
    "int crypto_sign_open(unsigned char *, unsigned long long *, const unsigned char *, unsigned long long, const unsigned char *)";
/// The measured calls draw no randomness, but the linker wants the function.
const RANDOM: &str = "void randombytes(unsigned char *x, unsigned long long n);\nvoid randombytes(unsigned char *x, unsigned long long n) { while (n) { x[--n] = 0; } }\n";

/// A C implementation with TweetNaCl's names.
#[derive(Clone, Debug)]
pub struct Subject {
    pub program: String,
    pub sources: Vec<Source>,
    /// Headers, as further sources or folders.
    pub include_dirs: Vec<PathBuf>,
    pub flags: Vec<String>,
}

/// How it is compiled and placed.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub march: March,
    pub level: Level,
    pub constants: Constants,
}

/// Figures of one subject in one setting.
#[derive(Clone, Debug)]
pub struct SignRun {
    pub sign: Measure,
    pub open: Measure,
    /// Longest call path from `crypto_sign`, `crypto_sign_open`, in bytes.
    pub sign_stack_bound: u64,
    pub open_stack_bound: u64,
    pub size_bytes: u64,
    pub signature: Vec<u8>,
    pub compiler: String,
    pub flags: Vec<String>,
    pub built: Program,
}

pub fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).filter_map(|k| u8::from_str_radix(&text[2 * k..2 * k + 2], 16).ok()).collect()
}

pub fn message() -> Vec<u8> {
    (0..MESSAGE_BYTES).map(|k| (7 * k + 3) as u8).collect()
}

fn job(subject: &Subject, setting: Setting) -> Rv32Job {
    let n = MESSAGE_BYTES as u64;
    let sk = [hex(SEED), hex(PUBLIC)].concat();
    let sign = Call {
        declaration: SIGN.into(),
        function: "crypto_sign".into(),
        args: vec![Arg::Out(MESSAGE_BYTES + 64), Arg::Out(8), Arg::In(message()), Arg::Word64(n), Arg::In(sk)],
        ret: Ret::Word32,
    };
    let open = Call {
        declaration: OPEN.into(),
        function: "crypto_sign_open".into(),
        args: vec![
            Arg::Out(MESSAGE_BYTES + 64),
            Arg::Out(8),
            Arg::In(vec![0; MESSAGE_BYTES + 64]),
            Arg::Word64(n + 64),
            Arg::In(hex(PUBLIC)),
        ],
        ret: Ret::Word32,
    };
    Rv32Job {
        support: vec![Source::Text { name: "randombytes.c".into(), text: RANDOM.into() }],
        include_dirs: subject.include_dirs.clone(),
        march: setting.march,
        level: setting.level,
        constants: setting.constants,
        flags: subject.flags.clone(),
        ..Rv32Job::new(subject.sources.clone(), vec![sign, open])
    }
}

/// Builds, signs, opens what was signed, and checks both results.
///
/// # Errors
/// `WrongResult` if opening fails or does not give the message back; `Lab` if building or running does.
pub fn measure(toolchain: &Toolchain, subject: &Subject, setting: Setting) -> Result<SignRun, BenchError> {
    let lab = |e: santoku_lab::LabError| BenchError::Lab { what: subject.program.clone(), reason: e.to_string() };
    let wrong = |reason: &str| BenchError::WrongResult { program: subject.program.clone(), reason: reason.into() };
    // The first run has no signature to open yet; it only makes one.
    let first = run_rv32(toolchain, &job(subject, setting)).map_err(lab)?;
    let signed = first.outputs[0].buffers[0].clone().ok_or_else(|| wrong("no signed message"))?;
    let mut built = first.program;
    built.set_input(1, 2, &signed).map_err(lab)?;
    let ran = built.run(&Config::default()).map_err(lab)?;
    if ran.outputs[1].ret as u32 != 0 {
        return Err(wrong("crypto_sign_open refuses what crypto_sign signed"));
    }
    let opened = ran.outputs[1].buffers[0].clone().unwrap_or_default();
    if opened.get(..MESSAGE_BYTES) != Some(&message()[..]) {
        return Err(wrong("crypto_sign_open gives back another message"));
    }
    Ok(SignRun {
        sign: ran.run.windows[0],
        open: ran.run.windows[1],
        sign_stack_bound: first.stack_bounds[0].bytes,
        open_stack_bound: first.stack_bounds[1].bytes,
        size_bytes: first.size_bytes,
        signature: signed[..64].to_vec(),
        compiler: built.compiler.clone(),
        flags: built.flags.clone(),
        built,
    })
}

/// Trace hash of signing with each of the keys (64 bytes each); equal hashes mean equal addresses and branches.
pub fn trace_hashes(run: &mut SignRun, program: &str, keys: &[Vec<u8>]) -> Result<Vec<u64>, BenchError> {
    let lab = |e: santoku_lab::LabError| BenchError::Lab { what: program.into(), reason: e.to_string() };
    let mut hashes = vec![];
    for key in keys {
        run.built.set_input(0, 4, key).map_err(lab)?;
        hashes.push(run.built.run(&Config::default()).map_err(lab)?.run.windows[0].trace_hash);
    }
    Ok(hashes)
}

//! Every word that C, C++ and their headers take, as the name of everything a program can name: the unit compiles, in every
//! version of C, and its header in C++.

use santoku_backend_c::{emit, EmitError, Options};
use santoku_ir::build::FuncBuilder;
use santoku_ir::{ConstValue, Expr, FuncId, Inline, Place, Program, Ty};
use santoku_skips::installed;
use std::process::Command;

/// Written down here once more, not taken from the printer.
const WORDS: &str = "
    auto break case char const continue default do double else enum extern float for goto if int long register return short signed sizeof
    static struct switch typedef union unsigned void volatile while inline restrict _Bool _Complex _Imaginary _Alignas _Alignof _Atomic
    _Generic _Noreturn _Static_assert _Thread_local alignas alignof bool constexpr false nullptr static_assert thread_local true typeof
    typeof_unqual _BitInt _Decimal32 asm __asm __asm__ __attribute__ __func__ __int128 __inline __typeof__ __volatile__ linux unix i386
    and and_eq bitand bitor catch char8_t char16_t char32_t class compl concept consteval constinit const_cast co_await co_return co_yield
    decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq operator or or_eq private protected public
    reinterpret_cast requires static_cast template this throw try typeid typename using virtual wchar_t xor xor_eq
    size_t ptrdiff_t max_align_t NULL offsetof uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uint_fast16_t int_least8_t
    uintptr_t intmax_t INT8_MIN INT32_MAX UINT64_MAX SIZE_MAX PTRDIFF_MAX UINT32_C INT64_C UINTMAX_C INTPTR_MAX WCHAR_MAX INT8_WIDTH
    memcpy memmove memset main errno stk_u128 stk_i128 stk_barrier stk_mask_u8 stk_sel_u32 stk_eq_u32 stk_rotl32 STK_NOINLINE STK_TABLE
    STK_TABLES_IN_RAM stk_assume_twos_complement SANTOKU_NAMES_H NAMES V out r tmp mask cond k diff index f";

fn words() -> Vec<&'static str> {
    WORDS.split_whitespace().collect()
}

const BYTE: Ty = Ty::Word(8);

/// A structure, constants and static functions of these names, and exported functions that name parameters, locals and fields so.
fn program(words: &[&str]) -> Program {
    let mut p = Program::default();
    let all = p.add_struct("struct", words.iter().map(|w| (w.to_string(), BYTE)).collect());
    let tables: Vec<_> = words.iter().map(|w| p.add_const(*w, Ty::array(BYTE, 2), ConstValue::ints([1, 2]))).collect();
    let mut statics: Vec<FuncId> = vec![];
    for w in words {
        let empty = Program::default();
        let mut b = FuncBuilder::new(&empty, *w);
        let (x, y) = (b.param(*w, BYTE), b.ret("out", BYTE));
        let x = b.get(x);
        b.assign(Place::local(y), x + Expr::word(8, 1));
        b.func_mut().inline = Inline::Never;
        let f = b.finish();
        statics.push(p.add_func(f));
    }
    let mut b = FuncBuilder::new(&p, "whole");
    let params: Vec<_> = words.iter().map(|w| b.param(*w, BYTE)).collect();
    let s = b.param("uint8_t", Ty::Struct(all));
    let out = b.ret("void", BYTE);
    let first = b.read(Place::local(s).field(0));
    b.assign(Place::local(out), first);
    for (k, (x, w)) in params.iter().zip(words).enumerate() {
        let v = b.var(*w, BYTE);
        let x = b.get(*x);
        b.call(vec![Place::local(v)], statics[k], vec![], vec![x]);
        let sum = b.get(out) + b.get(v) + b.read(Place::local(s).field(k as u32)) + b.read(Place::constant(tables[k]).at(1));
        b.assign(Place::local(out), sum);
    }
    b.func_mut().export = Some("f".into());
    let f = b.finish();
    p.add_func(f);
    assert_eq!(santoku_ir::verify::verify(&p), vec![]);
    p
}

fn options() -> Options {
    Options::new("names", None)
}

fn compiles(compiler: &str, flags: &[&str], file: &str, folder: &std::path::Path) -> Result<(), String> {
    let run = Command::new(compiler).args(flags).args(["-Wall", "-Werror", "-fsyntax-only", file]).current_dir(folder).output();
    let run = run.map_err(|e| e.to_string())?;
    if run.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&run.stderr).into_owned()) }
}

#[test]
fn every_word_of_c_is_a_name_of_ours() {
    let made = emit(&program(&words()), &options()).unwrap_or_else(|e| panic!("{e}"));
    let folder = std::env::temp_dir().join(format!("santoku-names-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("names.c"), &made.source).expect("written");
    std::fs::write(folder.join("names.h"), &made.header).expect("written");
    std::fs::write(folder.join("spoiled.c"), made.source.replace(" int_", " int")).expect("written");
    let mut ran = 0;
    for compiler in installed(&["gcc", "clang-19"]) {
        for version in ["-std=c99", "-std=c11", "-std=gnu17", "-std=c2x", "-std=gnu2x"] {
            compiles(compiler, &[version], "names.c", &folder).unwrap_or_else(|e| panic!("{compiler} {version}: {e}"));
        }
        assert!(compiles(compiler, &["-std=c99"], "spoiled.c", &folder).is_err());
        ran += 1;
    }
    assert!(ran > 0, "no compiler");
    for compiler in installed(&["g++", "clang++-19"]) {
        for version in ["-std=c++11", "-std=c++20"] {
            compiles(compiler, &[version, "-x", "c++"], "names.h", &folder).unwrap_or_else(|e| panic!("{compiler} {version}: {e}"));
        }
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn no_word_of_c_is_exported() {
    let fine = ["out", "r", "tmp", "mask", "cond", "k", "diff", "f", "NAMES"];
    for w in words() {
        let mut p = program(&["x"]);
        p.funcs[0].export = Some(w.into());
        p.funcs[1].export = None;
        match emit(&p, &options()) {
            Err(EmitError::Name { name, .. }) => assert!(name == w && !fine.contains(&w)),
            other => assert!(other.is_ok() && fine.contains(&w), "{w}: {other:?}"),
        }
    }
}

/// A static function whose name would be that of an exported one, a structure or a constant steps aside.
#[test]
fn generated_names_step_aside() {
    for exported in ["p23_g", "whole_T", "p_T", "t"] {
        let mut p = Program::default();
        let s = p.add_struct("p.T", vec![("t".into(), BYTE)]);
        let c = p.add_const("whole.T", Ty::array(BYTE, 2), ConstValue::ints([1, 2]));
        let empty = Program::default();
        let mut b = FuncBuilder::new(&empty, "p23.g");
        let (x, y) = (b.param("t", BYTE), b.ret("out", BYTE));
        let x = b.get(x);
        b.assign(Place::local(y), x);
        let g = b.finish();
        let g = p.add_func(g);
        let mut b = FuncBuilder::new(&p, "p23.f");
        let (x, y) = (b.param("t", Ty::Struct(s)), b.ret("out", BYTE));
        let v = b.var("whole_T", BYTE);
        let x = b.read(Place::local(x).field(0)) + b.read(Place::constant(c).at(0));
        b.call(vec![Place::local(v)], g, vec![], vec![x]);
        let v = b.get(v);
        b.assign(Place::local(y), v);
        b.func_mut().export = Some(exported.into());
        let f = b.finish();
        p.add_func(f);
        let made = emit(&p, &options()).unwrap_or_else(|e| panic!("{e}"));
        assert!(made.header.contains(&format!(" {exported}(")), "{}", made.header);
        let folder = std::env::temp_dir().join(format!("santoku-aside-{}-{exported}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("names.c"), &made.source).expect("written");
        std::fs::write(folder.join("names.h"), &made.header).expect("written");
        compiles("gcc", &["-std=c99"], "names.c", &folder).unwrap_or_else(|e| panic!("{exported}: {e}\n{}", made.source));
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}

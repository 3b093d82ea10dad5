//! C identifiers for source names: unique, readable, never a C keyword or a helper of ours.

use std::collections::{BTreeMap, BTreeSet};

/// Words of C from C89 to C23, of GNU C and of C++, in which the headers are read too.
const WORDS: &[&str] = &[
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "class", "co_await",
    "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype",
    "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend",
    "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
    "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static",
    "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
    "typename", "typeof", "typeof_unqual", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor", "xor_eq",
];

/// Types and macros of the headers that units include, macros that compilers define, and what the unit itself declares.
const TAKEN: &[&str] = &[
    "NULL", "V", "char16_t", "char32_t", "char8_t", "complex", "errno", "i386", "linux", "main", "max_align_t", "memcpy", "memmove",
    "memset", "nullptr_t", "offsetof", "ptrdiff_t", "rsize_t", "size_t", "unix", "unreachable", "wchar_t", "wint_t",
];

/// Names of library functions that generated names keep away from, for the sake of warnings.
const SHADOWS: &[&str] = &["index", "exp", "log", "y0", "y1", "j0", "j1", "yn", "jn"];

/// Functions of the C library that compilers know: one of another kind under such a name is called in their place.
const LIBRARY: &[&str] = &[
    "abort", "abs", "acos", "asin", "atan", "atan2", "atexit", "atof", "atoi", "atol", "atoll", "bcmp", "bcopy", "bsearch", "bzero", "calloc",
    "cbrt", "ceil", "cos", "cosh", "div", "erf", "exit", "exp2", "fabs", "fclose", "fdim", "ffs", "floor", "fma", "fmax", "fmin", "fmod",
    "fopen", "fprintf", "fputc", "fputs", "fread", "free", "frexp", "fwrite", "gamma", "getenv", "hypot", "ilogb", "isalnum", "isalpha",
    "isdigit", "isspace", "labs", "ldexp", "lgamma", "llabs", "llrint", "llround", "log10", "log1p", "log2", "longjmp", "lrint", "lround",
    "malloc", "memccpy", "memchr", "memcmp", "mempcpy", "modf", "nan", "nearbyint", "pow", "printf", "putchar", "puts", "qsort", "raise",
    "rand", "read", "realloc", "remainder", "rindex", "rint", "round", "scanf", "setjmp", "sin", "sinh", "snprintf", "sprintf", "sqrt",
    "srand", "sscanf", "strcat", "strchr", "strcmp", "strcpy", "strcspn", "strdup", "strlen", "strncat", "strncmp", "strncpy", "strpbrk",
    "strrchr", "strspn", "strstr", "strtol", "strtoul", "system", "tan", "tanh", "tgamma", "tolower", "toupper", "trunc", "vprintf", "write",
];

/// `intN_t`, `uint_fastN_t`, `INT64_MAX`, `UINT32_C` and the like.
fn of_stdint(s: &str) -> bool {
    let small = s.trim_start_matches('u').starts_with("int") && s.ends_with("_t");
    let ends = ["_MAX", "_MIN", "_C", "_WIDTH"].iter().any(|e| s.ends_with(e));
    let starts = ["INT", "UINT", "SIZE_", "PTRDIFF_", "WCHAR_", "WINT_", "SIG_ATOMIC_", "RSIZE_", "BOOL_", "BITINT_"].iter().any(|p| s.starts_with(p));
    small || ends && starts
}

/// Reserved for compilers, which take it for anything.
fn of_the_compiler(s: &str) -> bool {
    let mut chars = s.chars();
    chars.next() == Some('_') && chars.next().is_some_and(|c| c == '_' || c.is_ascii_uppercase())
}

/// Of our helpers, macros and include guards.
fn ours(s: &str) -> bool {
    ["stk_", "STK_", "SANTOKU_", "V_"].iter().any(|p| s.starts_with(p))
}

/// Why C cannot have a function of this name in our units, if so.
pub fn unusable(name: &str) -> Option<&'static str> {
    match name {
        n if WORDS.contains(&n) => Some("it is a word of C or C++"),
        n if TAKEN.contains(&n) || of_stdint(n) => Some("it is declared by a header that the C file includes, by the C file itself or by compilers"),
        n if LIBRARY.contains(&n) || SHADOWS.contains(&n) => Some("it is a function of the C library"),
        n if of_the_compiler(n) => Some("such names are reserved for compilers"),
        n if ours(n) => Some("names that begin so are those of generated helpers"),
        _ => None,
    }
}

/// Replaces what C does not allow in a name.
pub fn mangle(name: &str) -> String {
    let mut s: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if s.is_empty() || s.starts_with(|c: char| c.is_ascii_digit()) {
        s.insert(0, '_');
    }
    let known = [WORDS, TAKEN, SHADOWS].iter().any(|l| l.contains(&s.as_str()));
    if known || of_stdint(&s) {
        s.push('_');
    }
    // These are known by how they begin.
    if of_the_compiler(&s) || ours(&s) {
        s.insert(0, 'x');
    }
    s
}

/// Hands out names that are unique within one scope.
#[derive(Clone, Debug, Default)]
pub struct Names {
    used: BTreeSet<String>,
    next: BTreeMap<String, u32>,
}

impl Names {
    pub fn fresh(&mut self, name: &str) -> String {
        let base = mangle(name);
        if self.used.insert(base.clone()) {
            return base;
        }
        let n = self.next.entry(base.clone()).or_insert(1);
        loop {
            *n += 1;
            let candidate = format!("{base}_{n}");
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
    pub fn reserve(&mut self, name: &str) {
        self.used.insert(name.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_c_cannot_have_is_never_handed_out() {
        let lists = [WORDS, TAKEN, SHADOWS].concat();
        let more = ["uint8_t", "int_fast16_t", "UINT64_MAX", "INT32_C", "SIZE_MAX", "__asm", "_Bool", "_Generic", "__func__", "stk_u128", "STK_TABLE", "SANTOKU_X_H", "V_XOR"];
        for name in lists.into_iter().chain(more) {
            let got = Names::default().fresh(name);
            assert!(got != name && unusable(name).is_some() && unusable(&got).is_none(), "{name}: {got}");
        }
        for name in ["f", "int_", "p256_g", "crypto_stream", "string_hash", "result", "value"] {
            assert!(unusable(name).is_none() && mangle(name) == name, "{name}");
        }
        let mut names = Names::default();
        assert_eq!(["int", "int_", "int"].map(|n| names.fresh(n)), ["int_", "int__2", "int__3"]);
    }
}

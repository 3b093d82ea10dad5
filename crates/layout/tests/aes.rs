//! AES-128 whose S-box is the printed table, bit by bit and byte by byte: built, compiled and compared with the interpreter.

mod support;

use santoku_ir::interp::Interp;
use santoku_layout::{build, Layout, Request};
use santoku_skips::{checked, lacking};
use support::{compile, runs_here, try_all, Case};

const AES: &str = include_str!("support/aes.stk");

#[test]
fn the_table_of_the_standard_becomes_a_bitsliced_kernel() {
    let program = compile(AES);
    for t in &program.tests {
        Interp::new(&program).call(t.func, &[], vec![]).unwrap_or_else(|f| panic!("{}: {f:?}", t.name));
    }
    let gates: Vec<usize> = santoku_passes::circuits(&program, &mut santoku_passes::Silent).values().map(|c| c.gates.len()).collect();
    assert!(matches!(gates[..], [n] if (90..130).contains(&n)), "{gates:?} gates");
    let text = AES.replace("aes128_encrypt", "f");
    let isas = ["portable64", "avx512vl"].into_iter().filter(|isa| runs_here(*isa));
    let cases: Vec<Case> =
        isas.map(|isa| Case { name: "aes".into(), text: text.clone(), layout: Layout::Bitslice, isa, interleave: 1 }).collect();
    let count = try_all(&cases);
    assert_eq!((count.agreed, count.refused.len()), (cases.len(), 0), "{:?} {:?}", count.refused, count.left_out);
}

/// Bytes in lanes of bytes: the S-box is shuffled, and entries of any table are.
#[test]
fn tables_of_bytes_are_looked_up_in_lanes() {
    let mut x = 1u32;
    let mut entries: Vec<u32> = (0..256).collect();
    for i in (1..256).rev() {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        entries.swap(i, (x >> 16) as usize % (i + 1));
    }
    let any = format!(
        "table a: u8 -> u8 = {entries:?}\ntable b: u8 -> u8 = [for i in 0..<256: u8(i * i + 7)]\n\
         @export(\"f\")\nfn f(x: [u8; 16], k: [u8; 2]) -> [u8; 16] {{\n  var y = x\n  for i in 0..<16 {{ y[i] = a(x[i] ^ k[0]) ^ b(a(y[i])) ^ b(k[1]) }}\n  y\n}}\n"
    );
    let aes = AES.replace("aes128_encrypt", "f");
    let mut cases = vec![];
    for isa in ["sse2", "avx2", "avx512vl", "avx512"] {
        for (name, text) in [("aes", &aes), ("any", &any)] {
            compiles(name, text, isa);
            if runs_here(isa) {
                cases.push(Case { name: name.into(), text: text.clone(), layout: Layout::Vertical, isa, interleave: 1 });
            } else {
                lacking(format!("{name}, vertical {}", isa), "this processor lacks its instructions");
            }
        }
    }
    let count = try_all(&cases);
    assert_eq!((count.agreed, count.refused.len()), (cases.len(), 0), "{:?} {:?}", count.refused, count.left_out);
    checked(count.agreed, "kernels that look bytes up");
}

/// The kernel has no gate of the table, and a compiler takes it, with GFNI too.
fn compiles(name: &str, text: &str, isa: &'static str) {
    let program = compile(text);
    let f = program.funcs.iter().find(|f| f.export.as_deref() == Some("f")).expect("exported");
    let shared = f.params.iter().skip(1).map(|id| f.local(*id).name.clone()).collect();
    let request = Request { layout: Layout::Vertical, isa: support::unit(isa), interleave: 1, granularity: 5, shared, name: "k".into(), without: Default::default(), dump_after: None };
    let kernel = build(&program, "f", &request).unwrap_or_else(|e| panic!("{name}: {e}"));
    let tables = if name == "aes" { 1 } else { 2 };
    assert_eq!(kernel.source.matches("static inline V k_lookup_").count(), tables, "{name}");
    assert_eq!(kernel.source.contains("gf2p8affineinv"), name == "aes" && support::unit(isa).affine.is_some(), "{name} {isa}");
    let dir = std::env::temp_dir().join(format!("santoku-lookup-{}-{name}-{}", std::process::id(), isa));
    std::fs::create_dir_all(&dir).expect("a folder");
    let (c, o) = (dir.join("k.c"), dir.join("k.o"));
    std::fs::write(&c, &kernel.source).expect("written");
    std::fs::write(dir.join("k.h"), &kernel.header).expect("written");
    for more in [&[][..], &["-mgfni"][..]] {
        let run = std::process::Command::new("gcc").args(["-std=gnu11", "-O1", "-c"]).args(&kernel.cflags).args(more).arg(&c).arg("-o").arg(&o).output().expect("gcc");
        assert!(run.status.success(), "{name} {} {more:?}: {}", isa, String::from_utf8_lossy(&run.stderr));
    }
    std::fs::remove_dir_all(dir).expect("removed");
}

//! Where the cycles of a primitive go: functions, and a flame graph.

use crate::primitives::Tree;
use crate::sign::measured_job;
use crate::sign_table::{setting, NAME};
use crate::subject::ours;
use crate::text::table;
use crate::{p256, BenchError};
use santoku_lab::ckb;
use santoku_lab::harness::{Level, Toolchain};
use santoku_lab::profile::{flamegraph_svg, leaf_table, Leaf};
use santoku_lab::rv32::{CallTree, Config};
use std::collections::BTreeSet;

/// A profile: functions, most cycles in themselves first, and the picture.
pub struct Profiled {
    pub leaves: Vec<Leaf>,
    pub svg: String,
    /// Cycles of the run.
    pub cycles: u64,
}

/// `crypto_sign` on the E31 model.
pub fn sign(tree: &Tree, target: &str, level: Level) -> Result<Profiled, BenchError> {
    let toolchain = Toolchain::find().map_err(|e| BenchError::lab("RV32", e))?;
    let subject = ours(tree, &tree.primitive(NAME)?, target, level, &BTreeSet::new())?;
    let lab = |e: santoku_lab::LabError| BenchError::lab(&subject.variant, e);
    let mut job = measured_job(&subject, setting(level));
    // The tree is that of the last window.
    job.calls.truncate(1);
    let built = toolchain.build(&job).map_err(lab)?;
    let ran = built.run(&Config { profile: true, ..Config::default() }).map_err(lab)?;
    let calls: CallTree = ran.run.calls.ok_or_else(|| BenchError::lab(NAME, "the run kept no call tree"))?;
    let svg = flamegraph_svg(&calls, &format!("crypto_sign, {}, E31 model, -{}", subject.variant, level.name())).map_err(lab)?;
    Ok(Profiled { leaves: leaf_table(&calls), svg, cycles: ran.run.windows[0].cycles_core })
}

/// Verification on CKB-VM, built by the first compiler of its description at -O3: the valid signature of the table.
pub fn verify(tree: &Tree) -> Result<Profiled, BenchError> {
    let (unit, source, header) = p256::source(tree)?;
    let cross = p256::compiler(tree, None)?;
    let program = p256::program(&unit, &source, &header, &cross, Level::O3)?;
    let run = p256::figures(&program, &p256::vectors(), Level::O3)?;
    let svg = run.profile.flame_graph(&format!("p256_ecdsa_verify, CKB-VM, {} -O3", run.compiler)).map_err(|e| BenchError::lab(p256::NAME, e))?;
    Ok(Profiled::of_vm(&run.profile, svg))
}

impl Profiled {
    /// A profile of CKB-VM with its picture.
    pub fn of_vm(profile: &ckb::Profile, svg: String) -> Profiled {
        let leaf = |f: &ckb::FunctionCost| Leaf {
            function: f.name.clone(),
            self_cycles: f.self_cycles,
            inclusive_cycles: f.inclusive_cycles,
            calls: f.calls,
        };
        Profiled { leaves: profile.functions.iter().map(leaf).collect(), svg, cycles: profile.run.cycles }
    }

    /// Functions that took at least a thousandth of the run.
    pub fn text(&self) -> String {
        let total = self.cycles.max(1);
        let line = |l: &Leaf| {
            let share = format!("{:.1} %", l.self_cycles as f64 * 100.0 / total as f64);
            vec![l.function.clone(), l.calls.to_string(), l.self_cycles.to_string(), share, l.inclusive_cycles.to_string()]
        };
        let shown = self.leaves.iter().filter(|l| l.self_cycles * 1000 >= total).map(line).collect();
        format!("{}{} cycles\n", table(&["function", "calls", "self", "share", "with callees"], 1, shown), self.cycles)
    }
}

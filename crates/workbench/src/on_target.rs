//! Tests built as C and run on a target: natively, on a simulator or on an emulator.

use crate::asserted::{asserted, Assertions};
use crate::cases::Case;
use crate::interface::{compiled, Function};
use crate::operation::Case as Call;
use crate::user::exported_c;
use crate::interpreted::number_bytes;
use crate::BenchError;
use santoku_backend_c::{Exported, Role};
use santoku_driver::Checked;
use santoku_ir::Loc;
use santoku_lab::calls::{run, Job};
use santoku_lab::cross::Cross;
use santoku_lab::harness::Source;
use santoku_target::Level;

/// What came of one case.
#[derive(Clone, Debug)]
pub struct Ran {
    pub id: String,
    /// The assertion that does not hold: its text and place.
    pub wrong: Option<(String, Loc)>,
}

/// What came of a test.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub cases: Vec<Ran>,
    /// Assertions that are for the interpreter alone.
    pub ghost: usize,
    /// Assertions that were made. Where there is none, nothing was run.
    pub made: usize,
}

/// Base name of the C.
const UNIT: &str = "tests";
/// Calls in one program: their arguments and results are in its memory together.
const CALLS: usize = 64;

/// Runs every test of the program, each with its cases; one without parameters has a single case without values.
///
/// # Errors
/// Those of passes and back end; `Lab`: a type that is not called here, no compiler, or the program did not run.
pub fn run_all(checked: &Checked, cases: &[Vec<Case>], level: Level, tell: &dyn Fn(&str)) -> Result<Vec<Outcome>, BenchError> {
    let lab = |e: santoku_lab::LabError| BenchError::lab(&checked.target.name, e);
    let tests = asserted(&checked.program);
    let (emitted, text) = exported_c(&tests.program, checked, UNIT)?;
    let source = Source::Text { name: format!("{UNIT}.c"), text };
    let cross = Cross::find(&checked.target, None).map_err(lab)?;
    let mut out = vec![];
    for (test, cases) in tests.tests.iter().zip(cases) {
        let exported = emitted.exported.iter().find(|e| e.name == test.function).ok_or_else(|| BenchError::lab(&test.function, "it is not in the C"))?;
        let functions = [compiled(exported).map_err(|why| BenchError::lab(&test.function, why))?];
        let mut ran = vec![];
        for part in cases.chunks(CALLS).filter(|_| !test.all.is_empty()) {
            tell(&format!("{} of {} cases", ran.len(), cases.len()));
            let calls: Result<Vec<_>, BenchError> = part.iter().map(|case| call(case, exported, &functions).call(&functions, checked.target.byte_order)).collect();
            let job = Job { sources: vec![source.clone()], include_dirs: vec![], calls: calls?, level };
            let left = run(&cross, &job).map_err(lab)?;
            if left.len() != part.len() {
                return Err(BenchError::lab(&test.function, "not every call was made"));
            }
            ran.extend(part.iter().zip(left).map(|(case, left)| Ran { id: case.id.clone(), wrong: wrong(test, left.ret as u32) }));
        }
        out.push(Outcome { cases: ran, ghost: test.ghost, made: test.all.len() });
    }
    Ok(out)
}

fn call(case: &Case, exported: &Exported, functions: &[Function; 1]) -> Call {
    let values = exported.arguments.iter().zip(&functions[0].arguments).filter(|(a, _)| a.role != Role::Length);
    let inputs = values.zip(&case.args).map(|((a, f), value)| {
        let mut bytes = vec![];
        number_bytes(value, f.number, &mut bytes);
        (a.name.clone(), bytes)
    });
    Call { id: case.id.clone(), function: exported.name.clone(), inputs: inputs.collect(), ..Call::default() }
}

fn wrong(test: &Assertions, returned: u32) -> Option<(String, Loc)> {
    let n = returned.checked_sub(1)? as usize;
    Some(test.all.get(n).cloned().unwrap_or_else(|| (format!("it returned {returned}"), Loc::default())))
}

//! Assembly of a primitive by our own back end.
//! Trusted: nothing: the certifier looks at the bytes.

use crate::compile::front;
use crate::primitives::{Primitive, Tree};
use crate::row::AssemblyRow;
use crate::BenchError;
use santoku_driver::{build, BuildOptions, Lowering};
use std::collections::BTreeSet;

/// What a row declares, as text. Exported functions have the names that C has for them.
///
/// # Errors
/// Those of the compiler; `Source` with `no-assembly`: the row's target is no RISC-V.
pub fn assembly(tree: &Tree, primitive: &Primitive, row: &AssemblyRow) -> Result<String, BenchError> {
    let target = tree.target(&row.target)?;
    let checked = front(tree, &primitive.entry, target.clone())?;
    let options = BuildOptions {
        level: row.level,
        without: BTreeSet::new(),
        dump_after: None,
        unit: primitive.unit.clone(),
        provenance: String::new(),
        keep_secrets: false,
    };
    let built = build(&checked, &options, &|| 0)?;
    let usual = Lowering::of(row.level);
    let how = Lowering { inline_max: row.inline.unwrap_or(usual.inline_max), ..usual };
    Ok(santoku_driver::assembly(&built, &target, &checked.sources, &how)?)
}

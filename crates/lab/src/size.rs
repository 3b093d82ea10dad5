//! Code size of an object file: instructions and constants, nothing a linker would drop.

use object::{Object, ObjectSection, SectionKind};

use crate::error::LabError;

/// Bytes of `.text*` and `.rodata*` (with `.srodata*`) of a relocatable object. Unwind tables, notes and debug
/// information do not count; initialised and zero data neither.
pub fn text_rodata(object_file: &[u8]) -> Result<u64, LabError> {
    let file = object::File::parse(object_file).map_err(|e| LabError::Object(e.to_string()))?;
    let counted = |kind: SectionKind, name: &str| match kind {
        SectionKind::Text => true,
        SectionKind::ReadOnlyData | SectionKind::ReadOnlyString => {
            name.starts_with(".rodata") || name.starts_with(".srodata")
        }
        _ => false,
    };
    Ok(file.sections().filter(|s| s.name().is_ok_and(|n| counted(s.kind(), n))).map(|s| s.size()).sum())
}

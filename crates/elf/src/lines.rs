//! Source lines, from the line programs alone (`.debug_line`, DWARF 2 to 5).

use gimli::{AttributeValue, DebugLine, DebugLineOffset, DebugLineStr, DebugStr, EndianSlice, LineRow, Reader, RunTimeEndian};

use crate::raw::Raw;
use crate::read::LINE_SECTIONS;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// From `address` to `end`, the instructions come from this line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub address: u64,
    pub end: u64,
    pub file: u32,
    pub line: u32,
}

/// The table of one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    pub files: Vec<String>,
    /// Ascending by address.
    pub rows: Vec<Row>,
}

impl Lines {
    pub(crate) fn at(&self, pc: u64) -> Option<(&str, u32)> {
        let after = self.rows.partition_point(|r| r.address <= pc);
        let row = self.rows[..after].iter().rev().find(|r| r.address <= pc && pc < r.end)?;
        Some((self.files.get(row.file as usize)?, row.line))
    }
}

/// Reads the relocated sections; an empty table when there are none.
pub(crate) fn read(raw: &Raw) -> Result<Lines, String> {
    let section = |name: &str| {
        let found = raw.sections.iter().find(|s| s.name == name && !s.allocated);
        EndianSlice::new(found.and_then(|s| s.bytes.as_deref()).unwrap_or(&[]), RunTimeEndian::Little)
    };
    let [line, line_str, str] = LINE_SECTIONS.map(section);
    let strings = Strings { line: line_str.into(), other: str.into() };
    let mut lines = Lines::default();
    let mut offset = 0;
    while offset < line.len() {
        let length = unit_length(line, offset).map_err(|e| e.to_string())?;
        program(&strings, line, offset, (raw.xlen / 8) as u8, &mut lines).map_err(|e| e.to_string())?;
        offset = offset.checked_add(length).ok_or("a unit of the line table has no end")?;
    }
    lines.rows.sort();
    Ok(lines)
}

/// Bytes of the unit at `offset`, its length field among them.
fn unit_length(line: Slice<'_>, offset: usize) -> gimli::Result<usize> {
    let mut rest = line;
    rest.skip(offset)?;
    let before = rest.len();
    let (length, _) = rest.read_initial_length()?;
    Ok((before - rest.len()).saturating_add(length))
}

/// Names of files are in the line table or in either of these.
struct Strings<'a> {
    line: DebugLineStr<Slice<'a>>,
    other: DebugStr<Slice<'a>>,
}

impl<'a> Strings<'a> {
    fn text(&self, value: AttributeValue<Slice<'a>>) -> gimli::Result<String> {
        let text = match value {
            AttributeValue::String(text) => text,
            AttributeValue::DebugLineStrRef(at) => self.line.get_str(at)?,
            AttributeValue::DebugStrRef(at) => self.other.get_str(at)?,
            _ => return Ok("?".into()),
        };
        Ok(text.to_string_lossy().into_owned())
    }
}

fn program<'a>(strings: &Strings<'a>, line: Slice<'a>, offset: usize, address_size: u8, lines: &mut Lines) -> gimli::Result<()> {
    let table: DebugLine<Slice<'a>> = line.into();
    let program = table.program(DebugLineOffset(offset), address_size, None, None)?;
    let first = lines.files.len() as u32;
    for file in program.header().file_names() {
        let name = strings.text(file.path_name())?;
        let folder = match file.directory(program.header()) {
            Some(folder) if file.directory_index() != 0 => strings.text(folder)?,
            _ => String::new(),
        };
        lines.files.push(if folder.is_empty() || name.starts_with('/') { name } else { format!("{folder}/{name}") });
    }
    // Before version 5 files are counted from 1.
    let base = u32::from(program.header().version() < 5);
    let mut rows = program.rows();
    let mut open: Option<LineRow> = None;
    while let Some((_, row)) = rows.next_row()? {
        if let Some(before) = open.take() {
            let number = before.line().map_or(0, |l| l.get() as u32);
            if number != 0 && before.address() < row.address() {
                let file = (before.file_index() as u32).wrapping_sub(base).wrapping_add(first);
                lines.rows.push(Row { address: before.address(), end: row.address(), file, line: number });
            }
        }
        open = (!row.end_sequence()).then_some(*row);
    }
    Ok(())
}

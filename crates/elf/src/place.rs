//! Addresses: as the linker gave them, or distinct ones for the sections of an object.

use crate::error::Error;
use crate::raw::{Home, Raw, RawSection, SymbolKind};

/// First address given in an object. Nothing lies at 0, so a null pointer points at nothing.
const BASE: u64 = 0x1_0000;
/// Unused bytes between sections: a small overrun meets no neighbour.
const GAP: u64 = 256;
/// All addresses given lie below: every one is reached by `lui` and by `auipc` from every other.
const LIMIT: u64 = 0x4000_0000;
/// Room for each undefined symbol: their addresses have different high and different low parts, so that what is put together
/// of two leads nowhere.
const EXTERNAL: u64 = 0x1010;
/// How far behind its section a symbol may lie.
const ANCHOR: u64 = 1 << 16;

/// Where symbols are.
pub(crate) struct Addresses {
    /// By symbol index.
    pub symbols: Vec<u64>,
    /// Names of undefined symbols and the addresses that stand for them, ascending.
    pub externals: Vec<(u64, String)>,
}

/// Gives the sections of an object their addresses, makes room for common symbols, and computes the addresses of symbols.
pub(crate) fn place(raw: &mut Raw) -> Result<Addresses, Error> {
    let end = if raw.linked { 0 } else { place_sections(raw)? };
    check_sections(raw)?;
    let mut externals = vec![];
    let mut symbols = vec![];
    for (index, symbol) in raw.symbols.iter().enumerate() {
        let address = match symbol.home {
            Home::Undefined if index == 0 || raw.linked => 0,
            Home::Undefined => {
                let address = end + EXTERNAL * externals.len() as u64;
                externals.push((address, symbol.name.clone()));
                address
            }
            Home::Section(section) if !raw.linked => {
                let section = &raw.sections[section];
                // An anchor may lie behind the section: what it anchors is then reached with negative offsets.
                if symbol.value > section.size.saturating_add(ANCHOR) {
                    return Err(Error::corrupt(format!("symbol {}", symbol.name), format!("it lies outside section {}", section.name)));
                }
                section.address + symbol.value
            }
            Home::Section(_) | Home::Absolute | Home::Common => symbol.value,
        };
        symbols.push(address);
    }
    if end + EXTERNAL * externals.len() as u64 > LIMIT {
        return Err(too_large());
    }
    check_extents(raw, &symbols)?;
    Ok(Addresses { symbols, externals })
}

/// Returns the first address after all sections.
fn place_sections(raw: &mut Raw) -> Result<u64, Error> {
    place_common(raw)?;
    let mut next = BASE;
    for section in raw.sections.iter_mut().filter(|s| s.allocated) {
        let align = section.align.max(16);
        if !align.is_power_of_two() || align > LIMIT {
            return Err(Error::corrupt(format!("section {}", section.name), format!("alignment {align} is no power of two")));
        }
        section.address = next.next_multiple_of(align);
        next = section.address.checked_add(section.size).filter(|e| *e <= LIMIT).ok_or_else(too_large)? + GAP;
    }
    Ok(next.next_multiple_of(16))
}

fn too_large() -> Error {
    Error::unsupported("the section table", "the sections of this object take more than 1 GiB", "split the object")
}

/// Common symbols become one writable section of zeros.
fn place_common(raw: &mut Raw) -> Result<(), Error> {
    let index = raw.sections.len();
    let mut size = 0u64;
    for symbol in raw.symbols.iter_mut().filter(|s| s.home == Home::Common) {
        // The value of a common symbol is its alignment.
        let align = symbol.value.max(1);
        if !align.is_power_of_two() || align > LIMIT || symbol.size > LIMIT || size > LIMIT {
            return Err(Error::corrupt(format!("symbol {}", symbol.name), "its size or alignment is impossible"));
        }
        symbol.value = size.next_multiple_of(align);
        symbol.home = Home::Section(index);
        size = symbol.value + symbol.size;
    }
    if size > 0 {
        raw.sections.push(RawSection {
            name: "COMMON".into(),
            address: 0,
            size,
            align: 16,
            allocated: true,
            writable: true,
            executable: false,
            thread_local: false,
            merge: None,
            group: None,
            doubt: Some("a common symbol is no definition: a linker may take another".into()),
            bytes: None,
        });
    }
    Ok(())
}

/// Thread-local zeros have an address but take no room.
pub(crate) fn takes_room(section: &RawSection) -> bool {
    section.allocated && section.size > 0 && !(section.thread_local && section.bytes.is_none())
}

fn check_sections(raw: &Raw) -> Result<(), Error> {
    let mut taken: Vec<&RawSection> = raw.sections.iter().filter(|s| takes_room(s)).collect();
    taken.sort_by_key(|s| s.address);
    let last = if raw.xlen == 32 { u64::from(u32::MAX) } else { u64::MAX };
    for section in &taken {
        let fits = section.address.checked_add(section.size - 1).is_some_and(|end| end <= last);
        if !fits {
            return Err(Error::corrupt(format!("section {}", section.name), "it ends beyond the address space"));
        }
    }
    for pair in taken.windows(2) {
        if pair[1].address - pair[0].address < pair[0].size {
            return Err(Error::corrupt(format!("section {}", pair[1].name), format!("it overlaps section {}", pair[0].name)));
        }
    }
    Ok(())
}

/// A function or data object lies inside its section, all of it.
fn check_extents(raw: &Raw, addresses: &[u64]) -> Result<(), Error> {
    for (symbol, &address) in raw.symbols.iter().zip(addresses) {
        let Home::Section(section) = symbol.home else { continue };
        let section = &raw.sections[section];
        if !matches!(symbol.kind, SymbolKind::Function | SymbolKind::Object) || symbol.size == 0 || !section.allocated {
            continue;
        }
        let inside = address.checked_sub(section.address).and_then(|o| o.checked_add(symbol.size)).is_some_and(|e| e <= section.size);
        if !inside {
            return Err(Error::corrupt(format!("symbol {}", symbol.name), format!("it reaches beyond section {}", section.name)));
        }
    }
    Ok(())
}

//! The program headers of a linked image: they put bytes into memory, the sections only say what these are.

use object::elf;
use object::read::elf::{FileHeader, ProgramHeader};
use object::LittleEndian;

use crate::error::Error;
use crate::place::takes_room;
use crate::raw::RawSection;

const LE: LittleEndian = LittleEndian;

/// What is loaded at an address.
struct Load<'a> {
    address: u64,
    /// Bytes in memory; those behind `bytes` are 0.
    size: u64,
    bytes: &'a [u8],
    executable: bool,
}

impl Load<'_> {
    /// The byte at an offset.
    fn byte(&self, offset: u64) -> u8 {
        usize::try_from(offset).ok().and_then(|o| self.bytes.get(o)).copied().unwrap_or(0)
    }
}

/// Every section lies in one segment, which has its bytes.
pub(crate) fn check<E: FileHeader<Endian = LittleEndian>>(header: &E, file: &[u8], sections: &[RawSection]) -> Result<(), Error> {
    let loads = loads(header, file)?;
    for section in sections.iter().filter(|s| takes_room(s)) {
        let place = || format!("section {}", section.name);
        let offset = |l: &Load| section.address.checked_sub(l.address).filter(|o| o.checked_add(section.size).is_some_and(|e| e <= l.size));
        let Some((load, from)) = loads.iter().find_map(|l| Some((l, offset(l)?))) else {
            return Err(Error::corrupt(place(), "no program header loads it"));
        };
        let same = match &section.bytes {
            // Beyond the file's bytes all is 0, so it is enough to look at those.
            None => load.bytes.get(usize::try_from(from).unwrap_or(usize::MAX)..).unwrap_or(&[]).iter().take(usize::try_from(section.size).unwrap_or(usize::MAX)).all(|b| *b == 0),
            Some(bytes) => bytes.iter().zip(from..).all(|(b, at)| *b == load.byte(at)),
        };
        if !same {
            return Err(Error::corrupt(place(), "the program headers load other bytes at its address"));
        }
        if section.executable && !load.executable {
            return Err(Error::corrupt(place(), "it holds code, and the program header that loads it says that nothing is executed there"));
        }
    }
    Ok(())
}

fn loads<'a, E: FileHeader<Endian = LittleEndian>>(header: &E, file: &'a [u8]) -> Result<Vec<Load<'a>>, Error> {
    let bad = |e: object::Error| Error::corrupt("the program headers", e);
    let mut all: Vec<Load> = vec![];
    for (n, p) in header.program_headers(LE, file).map_err(bad)?.iter().enumerate() {
        let place = || format!("program header {n}");
        match p.p_type(LE) {
            elf::PT_LOAD => {}
            elf::PT_INTERP | elf::PT_DYNAMIC => {
                return Err(Error::unsupported(place(), "the image is completed when it starts", "link with -static -no-pie, or give the objects"));
            }
            _ => continue,
        }
        let (address, size): (u64, u64) = (p.p_vaddr(LE).into(), p.p_memsz(LE).into());
        let bytes = p.data(LE, file).map_err(|()| Error::corrupt(place(), "its bytes are not in the file"))?;
        if bytes.len() as u64 > size || address.checked_add(size).is_none() {
            return Err(Error::corrupt(place(), "it has more bytes than room"));
        }
        if size > 0 {
            all.push(Load { address, size, bytes, executable: p.p_flags(LE) & elf::PF_X != 0 });
        }
    }
    all.sort_by_key(|l| l.address);
    if all.windows(2).any(|w| w[1].address - w[0].address < w[0].size) {
        return Err(Error::corrupt("the program headers", "two of them load the same address"));
    }
    Ok(all)
}

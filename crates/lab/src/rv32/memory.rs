//! Flash, RAM and the bench device of the simulated machine.

use super::error::SimError;
use super::image::Image;

/// First address of flash (code and, when placed there, constants). Read-only to the program.
pub const FLASH_BASE: u32 = 0x2000_0000;
/// First address of RAM.
pub const RAM_BASE: u32 = 0x8000_0000;
/// Storing a byte here prints it: the console of the RTL bench.
pub const BENCH_CONSOLE: u32 = 0x3ff0_0000;
/// Storing here ends the run with the stored value as status.
pub const BENCH_EXIT: u32 = 0x3ff0_0004;
/// Largest flash image accepted, in bytes.
pub const FLASH_MAX: usize = 1 << 24;

/// Memory contents. Flash extends to the last loaded byte, rounded up to a word.
#[derive(Clone)]
pub struct Memory {
    flash: Vec<u8>,
    ram: Vec<u8>,
}

/// Where a load was served from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// On-chip RAM.
    Ram,
    /// SPI flash, read past the instruction cache.
    Flash,
}

impl Memory {
    /// Memory of `ram_bytes` of RAM with the image's segments in place.
    pub fn new(image: &Image, ram_bytes: u32) -> Result<Self, SimError> {
        let mut memory = Memory { flash: Vec::new(), ram: vec![0; ram_bytes as usize] };
        for (addr, bytes) in &image.segments {
            memory.place(*addr, bytes)?;
        }
        memory.flash.resize(memory.flash.len().next_multiple_of(4), 0);
        Ok(memory)
    }

    fn place(&mut self, addr: u32, bytes: &[u8]) -> Result<(), SimError> {
        let outside = || SimError::BadElf(format!("segment at {addr:#010x} of {} bytes fits no memory", bytes.len()));
        let (memory, offset) = if addr >= RAM_BASE {
            (&mut self.ram, (addr - RAM_BASE) as usize)
        } else {
            let offset = addr.checked_sub(FLASH_BASE).ok_or_else(outside)? as usize;
            let end = offset.checked_add(bytes.len()).filter(|&e| e <= FLASH_MAX).ok_or_else(outside)?;
            if self.flash.len() < end {
                self.flash.resize(end, 0);
            }
            (&mut self.flash, offset)
        };
        let target = memory.get_mut(offset..).and_then(|m| m.get_mut(..bytes.len())).ok_or_else(outside)?;
        target.copy_from_slice(bytes);
        Ok(())
    }

    /// Flash contents from [`FLASH_BASE`].
    pub fn flash(&self) -> &[u8] {
        &self.flash
    }

    /// Address after the last byte of RAM.
    pub fn ram_end(&self) -> u32 {
        RAM_BASE + self.ram.len() as u32
    }

    /// `N` bytes at `addr`, and where they came from; `None` outside memory.
    #[inline]
    pub fn load<const N: usize>(&self, addr: u32) -> Option<([u8; N], Source)> {
        if let Some(bytes) = self.ram.get(addr.wrapping_sub(RAM_BASE) as usize..).and_then(|m| m.first_chunk()) {
            return Some((*bytes, Source::Ram));
        }
        let bytes = self.flash.get(addr.wrapping_sub(FLASH_BASE) as usize..)?.first_chunk()?;
        Some((*bytes, Source::Flash))
    }

    /// Writes `N` bytes of RAM; `None` outside RAM.
    #[inline]
    pub fn store<const N: usize>(&mut self, addr: u32, bytes: [u8; N]) -> Option<()> {
        *self.ram.get_mut(addr.wrapping_sub(RAM_BASE) as usize..)?.first_chunk_mut()? = bytes;
        Some(())
    }

    /// `len` bytes at `addr` from RAM or flash, without any effect on timing.
    pub fn read(&self, addr: u32, len: usize) -> Option<&[u8]> {
        let (memory, base) = if addr >= RAM_BASE { (&self.ram, RAM_BASE) } else { (&self.flash, FLASH_BASE) };
        memory.get(addr.checked_sub(base)? as usize..)?.get(..len)
    }
}

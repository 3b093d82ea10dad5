//! The E31 pipeline as issue slots: when each instruction issues, given what is still in flight.
//!
//! A slot is a clock cycle in which one instruction may issue. Three resources outlive the slot of the instruction
//! that used them: results on their way to a register, the store buffer, and the multiplier/divider, which can
//! write its result only in a slot in which no other instruction writes a register. `docs/lab.md` gives the rules in
//! prose; the golden micro-tests compare them with the Rocket RTL.

use serde::de::IntoDeserializer;
use serde::{Deserialize, Serialize};

use super::error::SimError;
use super::isa::{Class, Inst};
use crate::cross::machine;

/// Timing parameters in clock cycles, the `[costs]` of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Slots from a word load to the use of its result.
    pub load_word: u64,
    /// Slots from a byte or halfword load to the use of its result.
    pub load_narrow: u64,
    /// Slots from a control-register read to the use of its result.
    pub csr: u64,
    /// Slots from a multiplication to the first slot in which its result may be written.
    pub multiply: u64,
    /// Slots from the write of a multiplier or divider result to an instruction that needs the result or the unit.
    pub long_result: u64,
    /// Slots from a store to the first slot in which it may leave the store buffer.
    pub store_hold: u64,
    /// Slots lost by a load that meets its own bytes in the store buffer.
    pub replay: u64,
    /// Slots lost by a mispredicted control transfer.
    pub mispredict: u64,
    /// Slots of fetching lost by a transfer that is predicted only when its word arrives.
    pub redirect: u64,
    /// Slots of an instruction-cache refill in the "core" column.
    pub refill_core: u64,
    /// Cycles of an instruction-cache refill over SPI flash, "board" column. An estimate.
    pub refill_board: u64,
    /// Cycles of one data read from SPI flash, "board" column. Fitted on published board figures.
    pub flash_word: u64,
}

impl Timing {
    /// The E31 with code in its cache and data in RAM: `targets/rv32.toml`.
    ///
    /// # Errors
    /// [`SimError::Costs`]: the description lacks a cost, or has one that this machine has not.
    pub fn e31() -> Result<Timing, SimError> {
        let target = machine("rv32").map_err(|e| SimError::Costs(e.to_string()))?;
        let read = Timing::deserialize(target.costs.into_deserializer());
        read.map_err(|e: serde::de::value::Error| SimError::Costs(e.to_string()))
    }
}

/// Slots lost, by cause. Together with the instruction count they make up `cycles_core`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    /// Waiting for a load, or for the write of a register whose load is pending.
    pub load: u64,
    /// Waiting for the multiplier or divider.
    pub muldiv: u64,
    /// Loads replayed behind a store to the same bytes.
    pub replay: u64,
    /// Waiting for the right path after a mispredicted control transfer.
    pub mispredict: u64,
    /// Waiting for words of code on a path that was predicted.
    pub fetch: u64,
    /// Instruction-cache refills.
    pub icache: u64,
}

impl Stalls {
    /// Component-wise difference `self - earlier`.
    pub fn since(self, earlier: Stalls) -> Stalls {
        Stalls {
            load: self.load - earlier.load,
            muldiv: self.muldiv - earlier.muldiv,
            replay: self.replay - earlier.replay,
            mispredict: self.mispredict - earlier.mispredict,
            fetch: self.fetch - earlier.fetch,
            icache: self.icache - earlier.icache,
        }
    }
}

const STORE_BUFFER: usize = 4;

#[derive(Clone, Copy, Default)]
struct PendingStore {
    word: u32,
    bytes: u8,
    slot: u64,
}

/// A multiplication or division in flight.
#[derive(Clone, Copy)]
struct LongOp {
    rd: u8,
    earliest: u64,
    written: Option<u64>,
}

/// Pipeline state between instructions.
pub struct Pipeline {
    /// Parameters of the machine.
    pub timing: Timing,
    /// First slot in which the next instruction may issue.
    pub next: u64,
    /// Slots lost so far, by cause.
    pub stalls: Stalls,
    /// Slot after the last issued instruction: slots from here to the next issue are bubbles.
    issued_until: u64,
    ready: [u64; 32],
    long: Option<LongOp>,
    stores: [PendingStore; STORE_BUFFER],
    n_stores: usize,
}

/// Bytes of a word touched by an access of `bytes` at `addr`, as a mask; accesses are aligned.
fn byte_mask(addr: u32, bytes: u32) -> u8 {
    (((1u32 << bytes) - 1) << (addr & 3)) as u8
}

impl Pipeline {
    /// Empty pipeline at slot 0.
    pub fn new(timing: Timing) -> Self {
        Pipeline {
            timing,
            next: 0,
            stalls: Stalls::default(),
            issued_until: 0,
            ready: [0; 32],
            long: None,
            stores: [PendingStore::default(); STORE_BUFFER],
            n_stores: 0,
        }
    }

    /// The slot in which `inst` issues, given that it was fetched by slot `fetched` (not before `next`): operands arrived,
    /// destination not pending, unit free.
    #[inline(always)]
    pub fn issue(&mut self, inst: &Inst, class: Class, fetched: u64) -> u64 {
        let ready = |r: u8| self.ready[(r & 31) as usize];
        let slot = fetched.max(ready(inst.rs1)).max(ready(inst.rs2)).max(ready(inst.rd));
        self.stalls.load += slot - fetched;
        if slot > self.issued_until {
            self.free_writeback(self.issued_until, slot);
            self.drain_stores(self.issued_until, slot);
        }
        let Some(long) = self.long else { return slot };
        let touches = |r: u8| r != 0 && r == long.rd;
        if class == Class::MulDiv || touches(inst.rd) || touches(inst.rs1) || touches(inst.rs2) {
            // The stalled slots are bubbles, so a result that is ready by now is written at once.
            let written = long.written.unwrap_or(slot.max(long.earliest));
            let resumed = slot.max(written + self.timing.long_result);
            self.long = None;
            self.stalls.muldiv += resumed - slot;
            self.drain_stores(slot.max(self.issued_until), resumed);
            return resumed;
        }
        if long.written.is_some_and(|w| slot >= w + self.timing.long_result) {
            self.long = None;
        }
        slot
    }

    /// Slot in which a load of RAM issued in `slot` really happens: later when it meets its bytes in the store buffer.
    #[inline]
    pub fn load(&mut self, slot: u64, addr: u32, bytes: u32) -> u64 {
        let mask = byte_mask(addr, bytes);
        let meets = |s: &PendingStore| s.word == addr >> 2 && s.bytes & mask != 0;
        if !self.stores[..self.n_stores].iter().any(meets) {
            return slot;
        }
        let resumed = slot + self.timing.replay;
        self.stalls.replay += self.timing.replay;
        self.free_writeback(slot, resumed);
        self.drain_stores(slot, resumed);
        resumed
    }

    /// Enters a store issued in `slot` into the store buffer. A full buffer lets its oldest entry go.
    #[inline]
    pub fn store(&mut self, slot: u64, addr: u32, bytes: u32) {
        if self.n_stores == STORE_BUFFER {
            self.pop_store();
        }
        self.stores[self.n_stores] = PendingStore { word: addr >> 2, bytes: byte_mask(addr, bytes), slot };
        self.n_stores += 1;
    }

    /// Starts a long operation in `slot` whose result can be written `latency` slots later at the earliest.
    pub fn start_long(&mut self, slot: u64, rd: u8, latency: u64) {
        self.long = Some(LongOp { rd, earliest: slot + latency, written: None });
    }

    /// Says that register `rd`, written by the instruction of `slot`, can be used `latency` slots later.
    #[inline]
    pub fn result(&mut self, slot: u64, rd: u8, latency: u64) {
        self.ready[(rd & 31) as usize] = slot + latency;
        self.ready[0] = 0;
    }

    /// Ends the instruction of `slot`.
    #[inline]
    pub fn retire(&mut self, slot: u64, class: Class) {
        let writes_register = matches!(class, Class::Alu | Class::Load | Class::Jump | Class::Csr);
        if !writes_register {
            self.free_writeback(slot, slot + 1);
        }
        if class != Class::Load {
            self.drain_stores(slot, slot + 1);
        }
        self.issued_until = slot + 1;
        self.next = slot + 1;
    }

    /// The slots `from..to` write no register: a waiting multiplier result takes the first it can.
    #[inline]
    fn free_writeback(&mut self, from: u64, to: u64) {
        if let Some(long) = &mut self.long {
            let slot = from.max(long.earliest);
            if long.written.is_none() && slot < to {
                long.written = Some(slot);
            }
        }
    }

    /// The slots `from..to` hold no load: waiting stores leave in order, one a slot.
    #[inline]
    fn drain_stores(&mut self, mut from: u64, to: u64) {
        while self.n_stores > 0 {
            let leaves = from.max(self.stores[0].slot + self.timing.store_hold);
            if leaves >= to {
                return;
            }
            from = leaves + 1;
            self.pop_store();
        }
    }

    fn pop_store(&mut self) {
        self.stores.copy_within(1..self.n_stores, 0);
        self.n_stores -= 1;
    }
}

/// Slots from a division to the first slot in which its result may be written.
///
/// One step per bit, 33 in all; leading quotient bits known to be zero from the operands' highest set bits are skipped at
/// the price of one step, unless the divisor is zero. The count of skipped bits wraps modulo 32, so a quotient of zero is
/// slow. Operands and results that need a sign change cost one slot each.
pub fn divide_latency(dividend: u32, divisor: u32, signed: bool, remainder: bool) -> u64 {
    let negative = |v: u32| signed && (v as i32) < 0;
    let highest_bit = |v: u32| if negative(v) { v.wrapping_neg() } else { v }.checked_ilog2().unwrap_or(0);
    let skipped = 31u32.wrapping_sub(highest_bit(dividend).wrapping_sub(highest_bit(divisor))) & 31;
    let steps = if divisor == 0 || skipped == 0 { 33 } else { 34 - skipped };
    let negate_result = match (remainder, divisor) {
        (true, _) => negative(dividend),
        (false, 0) => false,
        (false, _) => negative(dividend) != negative(divisor),
    };
    let negate_operands = negative(dividend) || negative(divisor);
    u64::from(steps) - 1 + u64::from(negate_operands) + u64::from(negate_result)
}

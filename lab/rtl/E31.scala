// The E31 core complex as its manual describes it, out of rocket-chip's parts: RV32IMAC, no virtual memory, no
// floating point, 16 KiB two-way instruction cache, data scratchpad at 0x80000000, default branch predictors,
// multiplier of 8 bits a cycle, divider with early out. Everything else (code, constants, console) is reached over the
// memory-mapped port, which takes the place of the SPI flash.
package santoku.rtl

import freechips.rocketchip.config._
import freechips.rocketchip.diplomacy._
import freechips.rocketchip.rocket._
import freechips.rocketchip.subsystem._
import freechips.rocketchip.system._
import freechips.rocketchip.tile._

class WithE31Tile extends Config((site, here, up) => {
  case XLen => 32
  case RocketTilesKey =>
    val beatBits = site(SystemBusKey).beatBits
    val lineBytes = site(CacheBlockBytes)
    val core = RocketCoreParams(
      useVM = false,
      fpu = None,
      nPMPs = 0,
      nBreakpoints = 1,
      nPerfCounters = 2,
      mulDiv = Some(MulDivParams(mulUnroll = 8, divEarlyOut = true)))
    // One way of 64 KiB: a scratchpad is a direct-mapped data cache that never misses.
    val scratchpad = DCacheParams(
      rowBits = beatBits,
      nSets = 1024,
      nWays = 1,
      nTLBEntries = 4,
      nMSHRs = 0,
      blockBytes = lineBytes,
      scratch = Some(BigInt(0x80000000L)))
    val icache = ICacheParams(rowBits = beatBits, nSets = 128, nWays = 2, nTLBEntries = 4, blockBytes = lineBytes)
    List(RocketTileParams(core = core, btb = Some(BTBParams()), dcache = Some(scratchpad), icache = Some(icache)))
  case RocketCrossingKey =>
    List(RocketCrossingParams(crossingType = SynchronousCrossing(), master = TileMasterPortParams()))
  case ExtBus =>
    val beatBytes = site(MemoryBusKey).beatBytes
    Some(MasterPortParams(base = BigInt(0x20000000L), size = BigInt(0x20000000L), beatBytes = beatBytes, idBits = 4))
})

class E31 extends Config(
  new WithNoMemPort ++
    new WithNMemoryChannels(0) ++
    new WithNBanks(0) ++
    new WithNoSlavePort ++
    new WithBootROMFile("bootrom.img") ++
    new WithE31Tile ++
    new BaseConfig)

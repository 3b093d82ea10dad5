#!/usr/bin/env bash
# Builds the E31 model from the Rocket generator on Maven Central: elaborate, lower to Verilog, verilate.
# usage: build.sh OUTPUT_FOLDER     leaves OUTPUT_FOLDER/e31; steps whose result is there are not repeated.
# Needs what `tools/setup.sh rtl` installs. About 5 minutes and 10 GB of memory.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)

# Elaboration calls dtc and waits for ever where it is missing.
for tool in java mvn dtc verilator g++ unzip; do
    command -v "$tool" >/dev/null || { echo "lab/rtl: $tool is not installed: run tools/setup.sh rtl" >&2; exit 2; }
done
cd "$out"

if [ ! -e jars/.done ]; then
    mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$out/jars"
    touch jars/.done
fi

# The reset vector is offset 0x40 of the boot ROM: jump to the program's first instruction, as the board's ROM does.
{ head -c 64 /dev/zero; printf '\xb7\x02\x01\x20\x67\x80\x02\x00'; } >bootrom.img # lui t0, 0x20010; jr t0

if [ ! -e E31.fir.done ]; then
    mkdir -p classes elaborated
    java -cp 'jars/*' scala.tools.nsc.Main -nowarn -classpath "$(printf '%s:' jars/*.jar)" -d classes "$here/E31.scala"
    java -Xmx4g -cp 'classes:jars/*' freechips.rocketchip.system.Generator \
        elaborated freechips.rocketchip.system ExampleRocketSystem santoku.rtl E31 >elaborate.log 2>&1
    touch E31.fir.done
fi

if [ ! -e E31.v ]; then
    java -Xmx10g -Xss64m -cp 'jars/*' firrtl.stage.FirrtlMain -X verilog --no-check-comb-loops \
        -i elaborated/santoku.rtl.E31.fir -faf elaborated/santoku.rtl.E31.anno.json \
        --target-dir "$out" -o E31.part.v >firrtl.log 2>&1
    mv E31.part.v E31.v
fi

if [ ! -e e31 ] || [ "$here/bench.cpp" -nt e31 ]; then
    (cd "$out" && for file in plusarg_reader EICG_wrapper AsyncResetReg; do
        unzip -qoj jars/rocketchip_2.12-1.2.6.jar "vsrc/$file.v"
    done)
    # Without PRINTF_COND=0 the core prints every cycle.
    verilator --cc --exe --build -j 2 -O3 --x-assign fast --x-initial fast --noassert -Wno-fatal -Wno-lint \
        +define+PRINTF_COND=0 +define+STOP_COND=0 --top-module ExampleRocketSystem --prefix Rocket -CFLAGS '-O2 -std=c++17' --Mdir verilated -o "$out/e31" \
        plusarg_reader.v EICG_wrapper.v AsyncResetReg.v E31.v "$here/bench.cpp" >verilate.log 2>&1
fi
echo "$out/e31"

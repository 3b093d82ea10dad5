"""The medians of `--benchmark-json` side by side: microseconds of a call, and how many times as long others take. usage: table.py FILE"""

import json
import sys

benchmarks = json.load(open(sys.argv[1]))["benchmarks"]
groups = {}
for b in benchmarks:
    groups.setdefault(b["group"], {})[b["params"]["package"]] = b["stats"]["median"] * 1e6
if not groups:
    sys.exit("no benchmark")
print(f"{'microseconds':28}{'santoku':>10}{'cryptography':>14}{'ratio':>7}{'PyNaCl':>10}{'ratio':>7}")
for group, times in groups.items():
    ours = times["santoku"]
    row = f"{group:28}{ours:10.1f}"
    for other, width in [("cryptography", 14), ("PyNaCl", 10)]:
        row += f"{times[other]:{width}.1f}{times[other] / ours:7.2f}" if other in times else " " * (width + 7)
    print(row.rstrip())

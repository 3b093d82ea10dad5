#!/usr/bin/env python3
"""Draws the cycles of a lab record as docs/sign-cycles.svg. Needs matplotlib.

usage: tools/chart.py lab/runs/<record> docs/sign-cycles.svg
"""
import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

NAMES = {"tweetnacl": "TweetNaCl", "santoku-spark": "Santoku, SPARKNaCl's algorithm", "santoku": "Santoku"}
LEVELS = ["O1", "O2", "O3", "Os"]


def main(record, out):
    rows = [json.loads(line) for line in open(f"{record}/raw.ndjson")]
    matplotlib.rcParams["svg.hashsalt"] = "santoku"
    fig, ax = plt.subplots(figsize=(8, 3.2))
    for k, (variant, name) in enumerate(NAMES.items()):
        cycles = {r["level"]: r["cycles_core"] / 1e6 for r in rows if r["program"] == "nacl.sign" and r["variant"] == variant}
        bars = ax.barh([i + 0.27 * (1 - k) for i in range(len(LEVELS))], [cycles[l] for l in LEVELS], 0.25, label=name)
        ax.bar_label(bars, fmt="%.1f", fontsize=7, padding=2)
    ax.set_yticks(range(len(LEVELS)), [f"-{l}" for l in LEVELS])
    ax.invert_yaxis()
    ax.set_xlabel("Mcycles for one Ed25519 signature of 256 bytes, RV32IMC, E31 model, data in RAM")
    fig.legend(fontsize=8, frameon=False, ncol=3, loc="upper center")
    ax.spines[["top", "right"]].set_visible(False)
    fig.tight_layout(rect=(0, 0, 1, 0.93))
    fig.savefig(out, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

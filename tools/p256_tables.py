#!/usr/bin/env python3
"""Writes the odd multiples of the P-256 base point used by lib/ecdsa. Source of the curve: FIPS 186-4, D.1.2.3.

Run from the repository root: python3 tools/p256_tables.py
"""
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
G = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
     0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)


def add(p, q):
    (x1, y1), (x2, y2) = p, q
    m = (3 * x1 * x1 - 3) * pow(2 * y1, P - 2, P) if p == q else (y2 - y1) * pow(x2 - x1, P - 2, P)
    x = (m * m - x1 - x2) % P
    return x, (m * (x1 - x) - y1) % P


def main():
    g2, points = add(G, G), [G]
    while len(points) < 32:
        points.append(add(points[-1], g2))
    rows = ",\n".join(f"  [\n    {x:#066x},\n    {y:#066x}\n  ]" for x, y in points)
    with open("lib/curve/p256_odd7_points.stk", "w") as f:
        f.write("/// G, 3G, ... 63G of NIST P-256, affine (x, y). Written by tools/p256_tables.py.\n")
        f.write(f"const POINTS: [[int; 2]; 32] = [\n{rows}\n]\n")


if __name__ == "__main__":
    main()

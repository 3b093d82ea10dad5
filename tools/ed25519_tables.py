#!/usr/bin/env python3
"""Writes the tables of multiples of the Ed25519 base point used by lib/curve.

Source of the definitions: RFC 8032, section 5.1. Affine arithmetic with exact integers; nothing is taken from
another implementation. Run from the repository root: python3 tools/ed25519_tables.py
"""
P = 2**255 - 19
D = -121665 * pow(121666, P - 2, P) % P


def add(p, q):
    (x1, y1), (x2, y2) = p, q
    k = D * x1 * x2 * y1 * y2 % P
    return ((x1 * y2 + x2 * y1) * pow(1 + k, P - 2, P) % P, (y1 * y2 + x1 * x2) * pow(1 - k, P - 2, P) % P)


def mul(k, p):
    r = (0, 1)
    while k:
        if k & 1:
            r = add(r, p)
        p = add(p, p)
        k >>= 1
    return r


def base():
    y = 4 * pow(5, P - 2, P) % P
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if (x * x - xx) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return (x if x % 2 == 0 else P - x, y)


def neg(p):
    return (-p[0] % P, p[1])


def ready(p):
    x, y = p
    return ((y + x) % P, (y - x) % P, 2 * D * x * y % P)


def rows(points):
    return ",\n".join("  [\n" + ",\n".join(f"    {v:#066x}" for v in ready(p)) + "\n  ]" for p in points)


def comb(blocks):
    """Entry 8 j + i: 2^(s j) (2^192 + sum over t < 3 of +-2^(64 t)) B, plus where bit t of i is set; s = 64 / blocks."""
    b, s, out = base(), 64 // blocks, []
    for j in range(blocks):
        teeth = [mul(2 ** (64 * t + s * j), b) for t in range(4)]
        for i in range(8):
            p = teeth[3]
            for t in range(3):
                p = add(p, teeth[t] if i >> t & 1 else neg(teeth[t]))
            out.append(p)
    return out


def odd(count):
    b = base()
    b2, out = add(b, b), [b]
    while len(out) < count:
        out.append(add(out[-1], b2))
    return out


def write(path, what, name, points):
    with open(path, "w") as f:
        f.write(f"/// {what}\n/// Rows are (y + x, y - x, 2dxy) modulo 2^255 - 19. Written by tools/ed25519_tables.py.\n")
        f.write(f"const {name}: [[int; 3]; {len(points)}] = [\n{rows(points)}\n]\n")


def main():
    for blocks in (1, 2, 4, 16):
        write(f"lib/curve/ed25519_comb{blocks}_points.stk",
              f"Signed comb of 4 teeth, {blocks} block(s): entry 8 j + i is 2^({64 // blocks} j) (2^192 + sum of +-2^(64 t)) B.",
              "POINTS", comb(blocks))
    for w, count in ((5, 8), (8, 64)):
        write(f"lib/curve/ed25519_odd{w}_points.stk", f"Odd multiples B, 3B, ... of the base point for a window of {w} bits.",
              "POINTS", odd(count))


if __name__ == "__main__":
    main()

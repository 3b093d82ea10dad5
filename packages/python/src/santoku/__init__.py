"""Cryptography over C that Santoku made of proved programs: no branch and no address depends on a secret.

`ec`, `ed25519`, `x25519` and `aead` have the shapes of `cryptography`, `nacl` those of PyNaCl. Secrets that are bytes stay in Python's memory, which nobody overwrites.
"""

from santoku import aead, ec, ed25519, exceptions, hashes, nacl, x25519

__all__ = ["aead", "ec", "ed25519", "exceptions", "hashes", "nacl", "x25519"]
__version__ = "0.1.0"

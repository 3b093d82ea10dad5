"""Hash functions by name, computed by hashlib: messages are public, or their hash functions take the same time for all."""

from __future__ import annotations

import hashlib
from typing import Protocol


class HashAlgorithm(Protocol):
    """Anything with a name that hashlib knows: the classes here, and those of `cryptography`."""

    @property
    def name(self) -> str: ...


class _Named:
    name = ""

    @property
    def digest_size(self) -> int:
        return hashlib.new(self.name).digest_size


class SHA224(_Named):
    name = "sha224"


class SHA256(_Named):
    name = "sha256"


class SHA384(_Named):
    name = "sha384"


class SHA512(_Named):
    name = "sha512"


class SHA3_224(_Named):
    name = "sha3_224"


class SHA3_256(_Named):
    name = "sha3_256"


class SHA3_384(_Named):
    name = "sha3_384"


class SHA3_512(_Named):
    name = "sha3_512"


def digest(algorithm: HashAlgorithm, data: bytes) -> bytes:
    """The hash of `data`. ValueError: hashlib has no function of that name."""
    return hashlib.new(algorithm.name.replace("-", "_"), data).digest()

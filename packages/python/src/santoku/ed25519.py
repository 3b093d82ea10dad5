"""Ed25519, with the shapes of `cryptography.hazmat.primitives.asymmetric.ed25519`. RFC 8032, section 5.1."""

from __future__ import annotations

import os

from santoku import _raw
from santoku.exceptions import InvalidSignature


class Ed25519PublicKey:
    def __init__(self, data: bytes) -> None:
        """ValueError: not the one encoding of a point."""
        if not _raw.ed25519.is_public_key(data):
            raise ValueError("not a public key of Ed25519")
        self._data = bytes(data)

    @classmethod
    def from_public_bytes(cls, data: bytes) -> Ed25519PublicKey:
        return cls(data)

    def public_bytes_raw(self) -> bytes:
        return self._data

    def has_small_order(self) -> bool:
        """A signature under such a key says nothing of the message."""
        return _raw.ed25519.has_small_order(self._data)

    def verify(self, signature: bytes, data: bytes) -> None:
        """InvalidSignature if it is not one."""
        if len(signature) != 64 or not _raw.ed25519.verify(data, signature, self._data):
            raise InvalidSignature

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ed25519PublicKey) and self._data == other._data

    def __hash__(self) -> int:
        return hash(self._data)


class Ed25519PrivateKey:
    def __init__(self, seed: bytes) -> None:
        self._public = _raw.ed25519.public_key(seed)
        self._seed = bytes(seed)

    @classmethod
    def generate(cls) -> Ed25519PrivateKey:
        return cls(os.urandom(32))

    @classmethod
    def from_private_bytes(cls, data: bytes) -> Ed25519PrivateKey:
        """ValueError: not 32 bytes."""
        return cls(data)

    def private_bytes_raw(self) -> bytes:
        return self._seed

    def public_key(self) -> Ed25519PublicKey:
        return Ed25519PublicKey(self._public)

    def sign(self, data: bytes) -> bytes:
        return _raw.ed25519.sign(data, self._seed, self._public)

"""X25519, with the shapes of `cryptography.hazmat.primitives.asymmetric.x25519`. RFC 7748."""

from __future__ import annotations

import hmac
import os

from santoku import _raw


class X25519PublicKey:
    def __init__(self, data: bytes) -> None:
        """ValueError: not 32 bytes."""
        if len(data) != 32:
            raise ValueError("an X25519 public key has 32 bytes")
        self._data = bytes(data)

    @classmethod
    def from_public_bytes(cls, data: bytes) -> X25519PublicKey:
        return cls(data)

    def public_bytes_raw(self) -> bytes:
        return self._data


class X25519PrivateKey:
    def __init__(self, data: bytes) -> None:
        self._public = _raw.scalarmult_curve25519.x25519_base(data)
        self._data = bytes(data)

    @classmethod
    def generate(cls) -> X25519PrivateKey:
        return cls(os.urandom(32))

    @classmethod
    def from_private_bytes(cls, data: bytes) -> X25519PrivateKey:
        """ValueError: not 32 bytes."""
        return cls(data)

    def private_bytes_raw(self) -> bytes:
        return self._data

    def public_key(self) -> X25519PublicKey:
        return X25519PublicKey(self._public)

    def exchange(self, peer_public_key: X25519PublicKey) -> bytes:
        """ValueError: what is shared is 0, because the key has a low order (RFC 7748, section 6.1)."""
        shared = _raw.scalarmult_curve25519.x25519(self._data, peer_public_key._data)
        if hmac.compare_digest(shared, bytes(32)):
            raise ValueError("the peer's key has a low order")
        return shared

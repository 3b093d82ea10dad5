"""Authenticated encryption, with the shapes of `cryptography.hazmat.primitives.ciphers.aead`. RFC 8439; draft-irtf-cfrg-xchacha-03; SP 800-38D."""

from __future__ import annotations

import os
from typing import Any, Callable, ClassVar, Optional, Tuple

from santoku import _raw
from santoku.exceptions import InvalidTag

TAG_BYTES = 16


class _Cipher:
    _nonce_bytes: ClassVar[int] = 12
    _key: bytes
    _seal: Callable[..., Tuple[bytes, bytes]]
    _open: Callable[..., Tuple[bytes, int]]

    def encrypt(self, nonce: bytes, data: bytes, associated_data: Optional[bytes] = None) -> bytes:
        """The ciphertext, and the tag behind it. ValueError: the nonce has another length, or a text is too long."""
        sealed, tag = self._seal(self._key, nonce, associated_data or b"", data)
        return sealed + tag

    def decrypt(self, nonce: bytes, data: bytes, associated_data: Optional[bytes] = None) -> bytes:
        """The plaintext. InvalidTag: it was not sealed so."""
        if len(data) < TAG_BYTES:
            raise InvalidTag
        cut = len(data) - TAG_BYTES
        view = memoryview(data)
        opened, good = self._open(self._key, nonce, associated_data or b"", view[:cut], view[cut:])
        if not good:
            raise InvalidTag
        return opened


def _random_key(bit_length: int, known: Tuple[int, ...]) -> bytes:
    if bit_length not in known:
        raise ValueError(f"keys have {' or '.join(map(str, known))} bits")
    return os.urandom(bit_length // 8)


class ChaCha20Poly1305(_Cipher):
    """Nonces have 12 bytes, and none is used twice with a key."""

    _unit: ClassVar[Any] = _raw.aead_chacha20poly1305

    def __init__(self, key: bytes) -> None:
        if len(key) != 32:
            raise ValueError("keys have 32 bytes")
        self._key, self._seal, self._open = bytes(key), self._unit.seal, self._unit.open

    @classmethod
    def generate_key(cls) -> bytes:
        return _random_key(256, (256,))


class XChaCha20Poly1305(ChaCha20Poly1305):
    """Nonces have 24 bytes, and may be random."""

    _unit: ClassVar[Any] = _raw.aead_xchacha20poly1305


class AESGCM(_Cipher):
    """Keys of 128 or 256 bits; nonces have 12 bytes, and none is used twice with a key."""

    def __init__(self, key: bytes) -> None:
        unit = _raw.aead_aesgcm
        functions = {16: (unit.aes128gcm_seal, unit.aes128gcm_open), 32: (unit.aes256gcm_seal, unit.aes256gcm_open)}
        if len(key) not in functions:
            raise ValueError("keys have 16 or 32 bytes")
        self._key = bytes(key)
        self._seal, self._open = functions[len(key)]

    @classmethod
    def generate_key(cls, bit_length: int) -> bytes:
        return _random_key(bit_length, (128, 256))

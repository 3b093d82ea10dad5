"""Boxes and signatures of NaCl, with the shapes of PyNaCl: `nacl.secret`, `nacl.public`, `nacl.signing`."""

from __future__ import annotations

import os
from typing import Optional

from santoku import _raw
from santoku.exceptions import BadSignatureError, CryptoError

NONCE_BYTES = 24
KEY_BYTES = 32
# NaCl's C wants zeros before what is sealed, and before what is opened.
_ZEROS = bytes(32)
_BOX_ZEROS = bytes(16)

_unit = _raw.nacl_box


class EncryptedMessage(bytes):
    """The nonce and the box; the parts are attributes."""

    nonce: bytes
    ciphertext: bytes

    @classmethod
    def _of(cls, nonce: bytes, ciphertext: bytes) -> EncryptedMessage:
        message = cls(nonce + ciphertext)
        message.nonce, message.ciphertext = nonce, ciphertext
        return message


def _encrypt(key: bytes, plaintext: bytes, nonce: Optional[bytes]) -> EncryptedMessage:
    chosen = os.urandom(NONCE_BYTES) if nonce is None else bytes(nonce)
    sealed, _ = _unit.secretbox(_ZEROS + plaintext, chosen, key)
    return EncryptedMessage._of(chosen, sealed[len(_BOX_ZEROS) :])


def _decrypt(key: bytes, ciphertext: bytes, nonce: Optional[bytes]) -> bytes:
    if nonce is None:
        nonce, ciphertext = ciphertext[:NONCE_BYTES], ciphertext[NONCE_BYTES:]
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"nonces have {NONCE_BYTES} bytes")
    if len(ciphertext) < 16:
        raise CryptoError("a box has 16 bytes at least")
    opened, good = _unit.secretbox_open(_BOX_ZEROS + ciphertext, nonce, key)
    if not good:
        raise CryptoError("Decryption failed. Ciphertext failed verification")
    return opened[len(_ZEROS) :]


class SecretBox:
    """XSalsa20 and Poly1305 under a key of 32 bytes."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"keys have {KEY_BYTES} bytes")
        self._key = bytes(key)

    def __bytes__(self) -> bytes:
        return self._key

    def encrypt(self, plaintext: bytes, nonce: Optional[bytes] = None) -> EncryptedMessage:
        """With a random nonce if none is given; none is used twice with a key."""
        return _encrypt(self._key, plaintext, nonce)

    def decrypt(self, ciphertext: bytes, nonce: Optional[bytes] = None) -> bytes:
        """CryptoError if it was not sealed so. Without `nonce`, that is the beginning of `ciphertext`."""
        return _decrypt(self._key, ciphertext, nonce)


class PublicKey:
    """A key of X25519."""

    def __init__(self, public_key: bytes) -> None:
        if len(public_key) != KEY_BYTES:
            raise ValueError(f"keys have {KEY_BYTES} bytes")
        self._key = bytes(public_key)

    def __bytes__(self) -> bytes:
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class PrivateKey:
    """A secret key of X25519."""

    def __init__(self, private_key: bytes) -> None:
        if len(private_key) != KEY_BYTES:
            raise ValueError(f"keys have {KEY_BYTES} bytes")
        self._key = bytes(private_key)
        self.public_key = PublicKey(_unit.scalarmult_base(self._key)[0])

    @classmethod
    def generate(cls) -> PrivateKey:
        return cls(os.urandom(KEY_BYTES))

    def __bytes__(self) -> bytes:
        return self._key


class Box:
    """What two key pairs share: X25519, HSalsa20, XSalsa20 and Poly1305."""

    def __init__(self, private_key: PrivateKey, public_key: PublicKey) -> None:
        self._shared, _ = _unit.box_beforenm(bytes(public_key), bytes(private_key))

    def shared_key(self) -> bytes:
        return self._shared

    def encrypt(self, plaintext: bytes, nonce: Optional[bytes] = None) -> EncryptedMessage:
        return _encrypt(self._shared, plaintext, nonce)

    def decrypt(self, ciphertext: bytes, nonce: Optional[bytes] = None) -> bytes:
        return _decrypt(self._shared, ciphertext, nonce)


class SignedMessage(bytes):
    """The signature and the message; the parts are attributes."""

    signature: bytes
    message: bytes


class VerifyKey:
    """A public key of Ed25519."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"keys have {KEY_BYTES} bytes")
        self._key = bytes(key)

    def __bytes__(self) -> bytes:
        return self._key

    def verify(self, smessage: bytes, signature: Optional[bytes] = None) -> bytes:
        """The message. BadSignatureError if it is not signed so. Without `signature`, that is the beginning of `smessage`."""
        if signature is None:
            signature, smessage = smessage[:64], smessage[64:]
        if len(signature) != 64 or not _raw.ed25519.verify(smessage, signature, self._key):
            raise BadSignatureError("Signature was forged or corrupt")
        return bytes(smessage)


class SigningKey:
    """A seed of Ed25519."""

    def __init__(self, seed: bytes) -> None:
        self.verify_key = VerifyKey(_raw.ed25519.public_key(seed))
        self._seed = bytes(seed)

    @classmethod
    def generate(cls) -> SigningKey:
        return cls(os.urandom(KEY_BYTES))

    def __bytes__(self) -> bytes:
        return self._seed

    def sign(self, message: bytes) -> SignedMessage:
        signature = _raw.ed25519.sign(message, self._seed, bytes(self.verify_key))
        signed = SignedMessage(signature + message)
        signed.signature, signed.message = signature, bytes(message)
        return signed

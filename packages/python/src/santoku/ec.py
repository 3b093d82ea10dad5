"""ECDSA and ECDH on P-224, P-256, P-384, P-521 and secp256k1, with the shapes of `cryptography.hazmat.primitives.asymmetric.ec`.

FIPS 186-5, section 6; SEC 1; RFC 6979; SP 800-56A, 5.7.1.2.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar, Optional, Tuple, Union

from santoku import _raw
from santoku.exceptions import InvalidSignature
from santoku.hashes import HashAlgorithm, digest


class EllipticCurve:
    """A curve; its classes are below."""

    name: ClassVar[str]
    key_size: ClassVar[int]
    _unit: ClassVar[Any]

    @classmethod
    def _size(cls) -> int:
        return (cls.key_size + 7) // 8


class SECP224R1(EllipticCurve):
    name, key_size, _unit = "secp224r1", 224, _raw.p224


class SECP256R1(EllipticCurve):
    name, key_size, _unit = "secp256r1", 256, _raw.p256


class SECP384R1(EllipticCurve):
    name, key_size, _unit = "secp384r1", 384, _raw.p384


class SECP521R1(EllipticCurve):
    name, key_size, _unit = "secp521r1", 521, _raw.p521


class SECP256K1(EllipticCurve):
    name, key_size, _unit = "secp256k1", 256, _raw.secp256k1


@dataclass(frozen=True)
class Prehashed:
    """The data is a digest already, of any length."""

    algorithm: Optional[HashAlgorithm] = None


@dataclass(frozen=True)
class ECDSA:
    """Signatures of data by this hash function. Nonces are RFC 6979's, with random bytes (section 3.6) unless `deterministic_signing`."""

    algorithm: Union[HashAlgorithm, Prehashed]
    deterministic_signing: bool = False

    def _digest(self, data: bytes) -> bytes:
        return bytes(data) if isinstance(self.algorithm, Prehashed) else digest(self.algorithm, data)


class ECDH:
    """Key agreement: x of the product."""


def encode_dss_signature(r: int, s: int, curve: EllipticCurve) -> bytes:
    """The DER of (r, s): RFC 3279, 2.2.3. OverflowError: a number does not fit the curve."""
    size = curve._size()
    der, length = curve._unit.signature_to_der(r.to_bytes(size, "big") + s.to_bytes(size, "big"))
    return der[:length]


def decode_dss_signature(signature: bytes, curve: EllipticCurve) -> Tuple[int, int]:
    """(r, s) of the one form that DER allows. ValueError for any other."""
    sig, status = curve._unit.signature_from_der(signature)
    if status != 0:
        raise ValueError("not the DER of a signature on this curve")
    size = curve._size()
    return int.from_bytes(sig[:size], "big"), int.from_bytes(sig[size:], "big")


class EllipticCurvePublicKey:
    """A point of a curve that is not the point at infinity."""

    def __init__(self, curve: EllipticCurve, point: bytes) -> None:
        if not curve._unit.is_public_key(point):
            raise ValueError("not a point of the curve")
        self.curve, self._point = curve, bytes(point)

    @classmethod
    def from_encoded_point(cls, curve: EllipticCurve, data: bytes) -> EllipticCurvePublicKey:
        """Of SEC 1, 2.3.4: uncompressed or compressed. ValueError for all else, the hybrid form and infinity among it."""
        point, status = curve._unit.public_key_decode(data)
        if status != 0:
            raise ValueError("not an encoded point of the curve")
        return cls(curve, point)

    @property
    def key_size(self) -> int:
        return self.curve.key_size

    def encoded(self, compressed: bool = False) -> bytes:
        """SEC 1, 2.3.3."""
        return self.curve._unit.public_key_compress(self._point) if compressed else b"\x04" + self._point

    def verify(self, signature: bytes, data: bytes, signature_algorithm: ECDSA) -> None:
        """Of a signature in DER. InvalidSignature if it is not one."""
        sig, status = self.curve._unit.signature_from_der(signature)
        if status != 0:
            raise InvalidSignature
        self.verify_raw(sig, data, signature_algorithm)

    def verify_raw(self, signature: bytes, data: bytes, signature_algorithm: ECDSA) -> None:
        """Of r, then s, big-endian, each as long as the order. InvalidSignature if it is not one."""
        if len(signature) != 2 * self.curve._size() or not self.curve._unit.verify(signature_algorithm._digest(data), signature, self._point):
            raise InvalidSignature

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EllipticCurvePublicKey) and self.curve.name == other.curve.name and self._point == other._point

    def __hash__(self) -> int:
        return hash((self.curve.name, self._point))


class EllipticCurvePrivateKey:
    """A number from 1 to the order less 1."""

    def __init__(self, curve: EllipticCurve, secret: bytes) -> None:
        """`secret`: big-endian, as long as the order. ValueError: it is 0, or not below the order, or has another length."""
        if not curve._unit.is_private_key(secret):
            raise ValueError("not a private key of the curve")
        self.curve, self._secret = curve, bytes(secret)

    @property
    def key_size(self) -> int:
        return self.curve.key_size

    @property
    def private_bytes_raw(self) -> bytes:
        return self._secret

    def public_key(self) -> EllipticCurvePublicKey:
        point, _ = self.curve._unit.public_key(self._secret)
        return EllipticCurvePublicKey(self.curve, point)

    def sign(self, data: bytes, signature_algorithm: ECDSA) -> bytes:
        """In DER."""
        der, length = self.curve._unit.signature_to_der(self.sign_raw(data, signature_algorithm))
        return der[:length]

    def sign_raw(self, data: bytes, signature_algorithm: ECDSA) -> bytes:
        """r, then s, big-endian, each as long as the order."""
        unit, message = self.curve._unit, signature_algorithm._digest(data)
        if signature_algorithm.deterministic_signing:
            signature, status = unit.sign(message, self._secret)
        else:
            signature, status = unit.sign_hedged(message, self._secret, os.urandom(32))
        if status != 0:
            raise RuntimeError("128 nonces made no signature")
        return signature

    def exchange(self, algorithm: ECDH, peer_public_key: EllipticCurvePublicKey) -> bytes:
        """x of the product, with all its bytes. ValueError: the keys are of two curves."""
        if self.curve.name != peer_public_key.curve.name:
            raise ValueError("the keys are of two curves")
        shared, _ = self.curve._unit.ecdh(self._secret, peer_public_key._point)
        return shared


def generate_private_key(curve: EllipticCurve) -> EllipticCurvePrivateKey:
    """Of random bytes: FIPS 186-5, A.2.1."""
    return EllipticCurvePrivateKey(curve, curve._unit.private_key(os.urandom(curve._size() + 8)))


def derive_private_key(private_value: int, curve: EllipticCurve) -> EllipticCurvePrivateKey:
    """ValueError: it is not in 1 to the order less 1. Python's integers take a time that depends on them."""
    if not 0 < private_value < 1 << curve.key_size:
        raise ValueError("not a private key of the curve")
    return EllipticCurvePrivateKey(curve, private_value.to_bytes(curve._size(), "big"))


def recover_public_key(curve: EllipticCurve, signature: bytes, recid: int, data: bytes, signature_algorithm: ECDSA) -> EllipticCurvePublicKey:
    """The key under which r, then s is a signature: SEC 1, 4.1.6. InvalidSignature if there is none."""
    point, status = curve._unit.recover(signature_algorithm._digest(data), signature, recid)
    if status != 0:
        raise InvalidSignature
    return EllipticCurvePublicKey(curve, point)

"""The same calls of this package, of cryptography and of PyNaCl, where these are installed."""

import os
import random

import pytest

from santoku import aead, ec, ed25519, hashes, nacl, x25519
from santoku.exceptions import InvalidSignature

CURVES = [ec.SECP224R1(), ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1(), ec.SECP256K1()]
RANDOM = random.Random(1)


def spoilt(data, count):
    """`data` with one bit changed, `count` times."""
    for _ in range(count):
        at = RANDOM.randrange(8 * len(data))
        yield data[: at // 8] + bytes([data[at // 8] ^ 1 << at % 8]) + data[at // 8 + 1 :]


def result(call, *errors):
    try:
        return call()
    except errors:
        return "an error"


class TestCryptography:
    @pytest.mark.parametrize("curve", CURVES, ids=lambda c: c.name)
    def test_curves(self, curve):
        cryptography = pytest.importorskip("cryptography")
        from cryptography.hazmat.primitives import hashes as their_hashes
        from cryptography.hazmat.primitives.asymmetric import ec as theirs
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        assert cryptography
        their_curve = getattr(theirs, curve.name.upper())()
        order_bits = curve.key_size
        scalars = [1, 2, 3, 2**64, 2 ** (order_bits - 1) - 1] + [RANDOM.getrandbits(order_bits - 1) for _ in range(15)]
        checked = 0
        for k in scalars:
            ours, other = ec.derive_private_key(k, curve), theirs.derive_private_key(k, their_curve)
            public, their_public = ours.public_key(), other.public_key()
            for compressed, form in [(False, PublicFormat.UncompressedPoint), (True, PublicFormat.CompressedPoint)]:
                encoded = their_public.public_bytes(Encoding.X962, form)
                assert public.encoded(compressed) == encoded
                for wrong in spoilt(encoded, 10):
                    read = result(lambda: ec.EllipticCurvePublicKey.from_encoded_point(curve, wrong).encoded(), ValueError)
                    their_key = result(lambda: theirs.EllipticCurvePublicKey.from_encoded_point(their_curve, wrong), ValueError)
                    if wrong[0] not in (6, 7):
                        assert read == (their_key if their_key == "an error" else their_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))
                    checked += 1
            # Our classes of hash functions, and theirs.
            for ours_by, theirs_by in [(hashes.SHA256(), their_hashes.SHA256()), (their_hashes.SHA384(), their_hashes.SHA384()), (hashes.SHA3_512(), their_hashes.SHA3_512())]:
                message = RANDOM.randbytes(RANDOM.randrange(200))
                their_public.verify(ours.sign(message, ec.ECDSA(ours_by)), message, theirs.ECDSA(theirs_by))
                signature = other.sign(message, theirs.ECDSA(theirs_by))
                public.verify(signature, message, ec.ECDSA(ours_by))
                for wrong in spoilt(signature, 3):
                    with pytest.raises(InvalidSignature):
                        public.verify(wrong, message, ec.ECDSA(ours_by))
                checked += 5
            peer = theirs.generate_private_key(their_curve)
            encoded = peer.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
            shared = ours.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(curve, encoded))
            assert shared == other.exchange(theirs.ECDH(), peer.public_key())
            checked += 1
        assert checked > 700

    def test_curve25519(self):
        pytest.importorskip("cryptography")
        from cryptography.exceptions import InvalidSignature as Theirs
        from cryptography.hazmat.primitives.asymmetric import ed25519 as their_ed25519
        from cryptography.hazmat.primitives.asymmetric import x25519 as their_x25519

        for n in range(60):
            seed, message = RANDOM.randbytes(32), RANDOM.randbytes(n)
            ours, other = ed25519.Ed25519PrivateKey(seed), their_ed25519.Ed25519PrivateKey.from_private_bytes(seed)
            signature = ours.sign(message)
            assert signature == other.sign(message)
            for s in [signature, *spoilt(signature, 3)]:
                assert result(lambda: ours.public_key().verify(s, message), InvalidSignature) == result(lambda: other.public_key().verify(s, message), Theirs)
            point = RANDOM.randbytes(32)
            exchange = their_x25519.X25519PrivateKey.from_private_bytes(seed).exchange
            assert x25519.X25519PrivateKey(seed).exchange(x25519.X25519PublicKey(point)) == exchange(their_x25519.X25519PublicKey.from_public_bytes(point))

    def test_ciphers(self):
        pytest.importorskip("cryptography")
        from cryptography.hazmat.primitives.ciphers import aead as theirs

        for name, bits in [("ChaCha20Poly1305", 256), ("AESGCM", 128), ("AESGCM", 256)]:
            for n in [*range(70), 1000, 10_000]:
                key, nonce, data, with_it = RANDOM.randbytes(bits // 8), RANDOM.randbytes(12), RANDOM.randbytes(n), RANDOM.randbytes(n % 40)
                sealed = getattr(aead, name)(key).encrypt(nonce, data, with_it)
                assert sealed == getattr(theirs, name)(key).encrypt(nonce, data, with_it)


class TestPyNaCl:
    def test_boxes(self):
        pytest.importorskip("nacl")
        from nacl import public, secret, signing

        for n in range(80):
            key, nonce, text = RANDOM.randbytes(32), RANDOM.randbytes(24), RANDOM.randbytes(n)
            assert nacl.SecretBox(key).encrypt(text, nonce) == secret.SecretBox(key).encrypt(text, nonce)
            a, b = nacl.PrivateKey(key), public.PrivateKey(RANDOM.randbytes(32))
            sealed = public.Box(b, public.PublicKey(bytes(a.public_key))).encrypt(text)
            assert nacl.Box(a, nacl.PublicKey(bytes(b.public_key))).decrypt(bytes(sealed)) == text
            signed = nacl.SigningKey(key).sign(text)
            assert signed == bytes(signing.SigningKey(key).sign(text))
            assert signing.VerifyKey(bytes(nacl.SigningKey(key).verify_key)).verify(bytes(signed)) == text

    def test_xchacha20poly1305(self):
        pytest.importorskip("nacl")
        from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt as encrypt

        for n in [*range(80), 5000]:
            key, nonce, data, with_it = os.urandom(32), os.urandom(24), os.urandom(n), os.urandom(n % 30)
            assert aead.XChaCha20Poly1305(key).encrypt(nonce, data, with_it) == encrypt(data, with_it, nonce, key)

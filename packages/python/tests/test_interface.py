"""What the interface promises beyond the vectors."""

import array
import threading
import time

import pytest

from santoku import _raw, aead, ec, ed25519, hashes, nacl, x25519
from santoku.exceptions import BadSignatureError, CryptoError, InvalidSignature, InvalidTag

CURVES = [ec.SECP224R1(), ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1(), ec.SECP256K1()]
SHA = ec.ECDSA(hashes.SHA256())
FIXED = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)


@pytest.mark.parametrize("curve", CURVES, ids=lambda c: c.name)
class TestCurve:
    def test_signatures(self, curve):
        key = ec.generate_private_key(curve)
        public = key.public_key()
        signature = key.sign(b"message", SHA)
        public.verify(signature, b"message", SHA)
        assert signature != key.sign(b"message", SHA)
        assert key.sign(b"message", FIXED) == key.sign(b"message", FIXED)
        for wrong in [(signature, b"another", SHA), (signature, b"message", ec.ECDSA(hashes.SHA384())), (signature[:-1], b"message", SHA), (b"", b"message", SHA)]:
            with pytest.raises(InvalidSignature):
                public.verify(*wrong)
        with pytest.raises(InvalidSignature):
            ec.derive_private_key(5, curve).public_key().verify(signature, b"message", SHA)
        r, s = ec.decode_dss_signature(signature, curve)
        assert ec.encode_dss_signature(r, s, curve) == signature
        with pytest.raises(ValueError):
            ec.decode_dss_signature(signature + b"\0", curve)

    def test_keys(self, curve):
        size = (curve.key_size + 7) // 8
        for wrong in [bytes(size), b"\xff" * size, bytes(size - 1) + b""]:
            with pytest.raises(ValueError):
                ec.EllipticCurvePrivateKey(curve, wrong)
        for wrong in [0, -1, 1 << curve.key_size]:
            with pytest.raises(ValueError):
                ec.derive_private_key(wrong, curve)
        public = ec.derive_private_key(7, curve).public_key()
        for compressed in [False, True]:
            assert ec.EllipticCurvePublicKey.from_encoded_point(curve, public.encoded(compressed)) == public
        long = public.encoded()
        for wrong in [b"", b"\0", long[:-1], long + b"\0", b"\x06" + long[1:], b"\x05" + long[1:], long[:-1] + bytes([long[-1] ^ 1]), b"\x02" + b"\xff" * size]:
            with pytest.raises(ValueError):
                ec.EllipticCurvePublicKey.from_encoded_point(curve, wrong)

    def test_agreement(self, curve):
        a, b = ec.generate_private_key(curve), ec.generate_private_key(curve)
        assert a.exchange(ec.ECDH(), b.public_key()) == b.exchange(ec.ECDH(), a.public_key())
        other = next(c for c in CURVES if c.name != curve.name)
        with pytest.raises(ValueError):
            a.exchange(ec.ECDH(), ec.generate_private_key(other).public_key())

    def test_recovery(self, curve):
        key = ec.generate_private_key(curve)
        signature = key.sign_raw(b"message", SHA)
        found = []
        for recid in range(4):
            try:
                found.append(ec.recover_public_key(curve, signature, recid, b"message", SHA))
            except InvalidSignature:
                pass
        assert key.public_key() in found
        with pytest.raises(ValueError):
            ec.recover_public_key(curve, signature, 4, b"message", SHA)


@pytest.mark.parametrize("cipher,nonce", [(aead.ChaCha20Poly1305(bytes(32)), 12), (aead.XChaCha20Poly1305(bytes(32)), 24), (aead.AESGCM(bytes(16)), 12), (aead.AESGCM(bytes(32)), 12)])
def test_ciphers(cipher, nonce):
    nonce = bytes(nonce)
    for n in [0, 1, 15, 16, 17, 1000]:
        sealed = cipher.encrypt(nonce, bytes(n), b"with")
        assert len(sealed) == n + 16 and cipher.decrypt(nonce, sealed, b"with") == bytes(n)
        for wrong in [(sealed, b"without"), (sealed[:-1], b"with"), (sealed + b"\0", b"with"), (bytes([sealed[0] ^ 1]) + sealed[1:], b"with"), (b"", b"with")]:
            with pytest.raises(InvalidTag):
                cipher.decrypt(nonce, *wrong)
    with pytest.raises(ValueError):
        cipher.encrypt(nonce + b"\0", b"", b"")
    with pytest.raises(TypeError):
        cipher.encrypt(nonce, "text", b"")


def test_keys_of_ciphers():
    for wrong in [lambda: aead.AESGCM(bytes(24)), lambda: aead.ChaCha20Poly1305(bytes(31)), lambda: aead.AESGCM.generate_key(192)]:
        with pytest.raises(ValueError):
            wrong()
    assert len(aead.AESGCM.generate_key(128)) == 16 and aead.ChaCha20Poly1305.generate_key() != aead.ChaCha20Poly1305.generate_key()


def test_boxes():
    a, b = nacl.PrivateKey.generate(), nacl.PrivateKey.generate()
    sealed = nacl.Box(a, b.public_key).encrypt(b"text")
    assert nacl.Box(b, a.public_key).decrypt(sealed) == b"text"
    assert nacl.Box(b, a.public_key).decrypt(sealed.ciphertext, sealed.nonce) == b"text"
    box = nacl.SecretBox(bytes(range(32)))
    assert box.decrypt(box.encrypt(b"")) == b""
    for wrong in [sealed[:-1], sealed[:23] + b"!" + sealed[24:], sealed[:30], sealed[:-1] + bytes([sealed[-1] ^ 1])]:
        with pytest.raises(CryptoError):
            nacl.Box(b, a.public_key).decrypt(wrong)
    for wrong in [lambda: nacl.SecretBox(b"short"), lambda: box.encrypt(b"", b"short"), lambda: box.decrypt(bytes(16), b"short"), lambda: nacl.PublicKey(b""), lambda: nacl.PrivateKey(b"")]:
        with pytest.raises(ValueError):
            wrong()


def test_signatures_of_nacl():
    key = nacl.SigningKey.generate()
    signed = key.sign(b"message")
    assert key.verify_key.verify(signed) == b"message" and key.verify_key.verify(signed.message, signed.signature) == b"message"
    for wrong in [signed[:-1], signed[1:], b""]:
        with pytest.raises(BadSignatureError):
            key.verify_key.verify(wrong)
    assert ed25519.Ed25519PrivateKey(bytes(key)).sign(b"message") == signed.signature


def test_low_orders():
    with pytest.raises(ValueError):
        x25519.X25519PrivateKey.generate().exchange(x25519.X25519PublicKey(bytes(32)))
    assert ed25519.Ed25519PublicKey(b"\x01" + bytes(31)).has_small_order()
    assert not ed25519.Ed25519PrivateKey.generate().public_key().has_small_order()
    with pytest.raises(ValueError):
        ed25519.Ed25519PublicKey(b"\x02" + bytes(31))


def test_bindings_compare_lengths():
    calls = [
        lambda: _raw.p256.verify(b"", bytes(63), bytes(64)),
        lambda: _raw.p256.public_key(bytes(33)),
        lambda: _raw.p256.recover(b"", bytes(64), -1),
        lambda: _raw.nacl_box.secretbox(bytes(31), bytes(23), bytes(32)),
        lambda: _raw.ed25519.sign(b"", bytes(31), bytes(32)),
    ]
    for call in calls:
        with pytest.raises(ValueError):
            call()
    # 8 numbers of 4 bytes, and 32.
    key = _raw.ed25519.public_key(bytes(32))
    assert _raw.ed25519.public_key(array.array("I", [0] * 8)) == key and _raw.ed25519.public_key(memoryview(bytearray(32))) == key
    with pytest.raises(ValueError):
        _raw.ed25519.public_key(array.array("I", [0] * 32))
    for wrong in ["t" * 32, None, 7]:
        with pytest.raises(TypeError):
            _raw.ed25519.public_key(wrong)


def test_the_interpreter_goes_on_while_c_runs():
    """While one thread computes for half a second in C, another goes on."""
    data = bytes(200_000_000)
    counted, done = 0, threading.Event()

    def work():
        ed25519.Ed25519PrivateKey(bytes(32)).sign(data)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    thread.join()
    assert counted > 20

"""Whole calls beside cryptography and PyNaCl: `pytest bench --benchmark-group-by=group`."""

import pytest

from santoku import aead, ec, ed25519, hashes, nacl, x25519

MESSAGE = bytes(range(256))
CURVES = {"P-256": "SECP256R1", "P-384": "SECP384R1", "P-521": "SECP521R1", "secp256k1": "SECP256K1"}


def curve_calls(module, hash_function, name):
    """Signing, verification and agreement, by a module of one of the two shapes, which are the same here."""
    curve = getattr(module, CURVES[name])()
    key, peer = module.generate_private_key(curve), module.generate_private_key(curve).public_key()
    by = module.ECDSA(hash_function)
    signature, public = key.sign(MESSAGE, by), key.public_key()
    return {"sign": lambda: key.sign(MESSAGE, by), "verify": lambda: public.verify(signature, MESSAGE, by), "exchange": lambda: key.exchange(module.ECDH(), peer)}


def calls(package, name):
    if package == "santoku":
        if name in CURVES:
            return curve_calls(ec, hashes.SHA256(), name)
        if name == "Ed25519":
            key = ed25519.Ed25519PrivateKey.generate()
            signature, public = key.sign(MESSAGE), key.public_key()
            return {"sign": lambda: key.sign(MESSAGE), "verify": lambda: public.verify(signature, MESSAGE)}
        if name == "X25519":
            key, peer = x25519.X25519PrivateKey.generate(), x25519.X25519PrivateKey.generate().public_key()
            return {"exchange": lambda: key.exchange(peer)}
        if name == "ChaCha20-Poly1305":
            cipher = aead.ChaCha20Poly1305(bytes(32))
            return {"16 KiB": lambda: cipher.encrypt(bytes(12), bytes(16384), b"")}
        box = nacl.SecretBox(bytes(32))
        return {"16 KiB": lambda: box.encrypt(bytes(16384), bytes(24))}
    if package == "PyNaCl":
        pytest.importorskip("nacl")
        from nacl import secret, signing

        if name == "Ed25519":
            key = signing.SigningKey.generate()
            signed = key.sign(MESSAGE)
            return {"sign": lambda: key.sign(MESSAGE), "verify": lambda: key.verify_key.verify(signed)}
        if name == "SecretBox":
            box = secret.SecretBox(bytes(32))
            return {"16 KiB": lambda: box.encrypt(bytes(16384), bytes(24))}
        return {}
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import hashes as their_hashes
    from cryptography.hazmat.primitives.asymmetric import ec as their_ec
    from cryptography.hazmat.primitives.asymmetric import ed25519 as their_ed25519
    from cryptography.hazmat.primitives.asymmetric import x25519 as their_x25519
    from cryptography.hazmat.primitives.ciphers import aead as their_aead

    if name in CURVES:
        return curve_calls(their_ec, their_hashes.SHA256(), name)
    if name == "Ed25519":
        key = their_ed25519.Ed25519PrivateKey.generate()
        signature, public = key.sign(MESSAGE), key.public_key()
        return {"sign": lambda: key.sign(MESSAGE), "verify": lambda: public.verify(signature, MESSAGE)}
    if name == "X25519":
        key, peer = their_x25519.X25519PrivateKey.generate(), their_x25519.X25519PrivateKey.generate().public_key()
        return {"exchange": lambda: key.exchange(peer)}
    if name == "ChaCha20-Poly1305":
        cipher = their_aead.ChaCha20Poly1305(bytes(32))
        return {"16 KiB": lambda: cipher.encrypt(bytes(12), bytes(16384), b"")}
    return {}


OPERATIONS = [(name, o) for name in CURVES for o in ("sign", "verify", "exchange")] + [
    ("Ed25519", "sign"),
    ("Ed25519", "verify"),
    ("X25519", "exchange"),
    ("ChaCha20-Poly1305", "16 KiB"),
    ("SecretBox", "16 KiB"),
]


@pytest.mark.parametrize("package", ["santoku", "cryptography", "PyNaCl"])
@pytest.mark.parametrize("name,operation", OPERATIONS, ids=lambda x: x)
def test_speed(benchmark, package, name, operation):
    call = calls(package, name).get(operation)
    if call is None:
        pytest.skip(f"{package} has no {operation} of {name}")
    benchmark.group = f"{name} {operation}"
    benchmark(call)

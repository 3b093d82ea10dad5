"""What goes wrong with good arguments."""


class InvalidSignature(Exception):
    """The signature is not one of this message under this key."""


class InvalidTag(Exception):
    """The message was not sealed under this key, with this nonce and this associated data."""


class CryptoError(Exception):
    """PyNaCl's name for a box or a signature that is not one."""


class BadSignatureError(CryptoError):
    """The signature is not one of this message under this key."""

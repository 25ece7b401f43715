"""SHA-256 as the interpreter has it built in.

`hashlib` takes OpenSSL's, whose library loads longer than a short command works. Only for what is
small; big files are hashed by `hashlib`, which is quicker once it is there.
"""

from __future__ import annotations

try:
    from _sha2 import sha256  # type: ignore[import-not-found]  # Python 3.12 and later
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:  # an interpreter built without
        from hashlib import sha256


def hex_digest(data: bytes) -> str:
    """The hexadecimal digits of the hash."""
    digits: str = sha256(data).hexdigest()
    return digits

"""SHA-256 from the interpreter's built-in module.

`hashlib` uses OpenSSL, whose library takes longer to load than a short command takes to run. Use
this only for small data; `hashlib` hashes big files faster once it is loaded.
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
    """The SHA-256 hash in hexadecimal digits."""
    digits: str = sha256(data).hexdigest()
    return digits

"""The player of an HTML export: a script and its style, which become part of the page.

The script knows no text of a record: it copies what the page shows anyway.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent


@cache
def style() -> str:
    """The style of the player's controls."""
    return (_FOLDER / "player.css").read_text(encoding="utf-8")


@cache
def script() -> str:
    """The script, as it stands between the tags of the page."""
    return (_FOLDER / "player.js").read_text(encoding="utf-8")


def source() -> str:
    """What the page's security policy must allow so that this script runs and no other."""
    return f"'sha256-{b64encode(sha256(script().encode()).digest()).decode()}'"

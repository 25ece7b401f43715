"""The default author of notes and verdicts: the one in the settings, or the one given when asked.

The login name is not used: notes travel with records, and it identifies a person and a machine.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from ..config import Config
from ..errors import RecordError
from ..files.paths import user_folder
from ..files.place import FileKind, asked_before
from .durable import write_bytes

NEUTRAL = "anonymous"
"""The author's name if none was given."""
MAX_NAME = 100
"""Maximum number of characters of a name."""
AUTHOR = FileKind("the author's name", asked_before, beside=True, makes_folder=True)
QUESTION = f"Your name on notes and verdicts? (asked once; empty: {NEUTRAL})"


def known_author(config: Config) -> str | None:
    """The name in the settings or given when asked; None if the user was not asked yet."""
    try:
        saved = _answer_path().read_text(encoding="utf-8")[:MAX_NAME].strip()
    except (OSError, ValueError):
        saved = ""
    return config.author or saved or None


def keep_author(answer: str) -> str:
    """Save the name that the user answered; return it, or the neutral name if it is empty."""
    name = answer[:MAX_NAME].strip() or NEUTRAL
    path = _answer_path()
    with contextlib.suppress(RecordError):  # a read-only home: the user is asked again next time
        write_bytes(path, f"{name}\n".encode(errors="replace"), AUTHOR)
    return name


def _answer_path() -> Path:
    return user_folder("state") / "author"

"""The name on notes and verdicts where none is given: as set, or as given when first asked.

The login name is not taken: notes travel with records, and it names a person and a machine.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from ..config import Config
from ..files.paths import user_folder

NEUTRAL = "anonymous"
"""The name of somebody who gave none."""
MAX_NAME = 100
"""Characters of a name."""
QUESTION = f"Your name on notes and verdicts? (asked once; empty: {NEUTRAL})"


def known_author(config: Config) -> str | None:
    """The name that is set, or was given when asked; None if nobody was asked yet."""
    try:
        kept = _answer_path().read_text(encoding="utf-8")[:MAX_NAME].strip()
    except (OSError, ValueError):
        kept = ""
    return config.author or kept or None


def keep_author(answer: str) -> str:
    """Remember what was answered; the name that this makes."""
    name = answer[:MAX_NAME].strip() or NEUTRAL
    path = _answer_path()
    with contextlib.suppress(OSError):  # a read-only home: asked again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n", encoding="utf-8", errors="replace")
    return name


def _answer_path() -> Path:
    return user_folder("state") / "author"

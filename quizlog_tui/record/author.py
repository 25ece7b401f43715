"""The default author of notes and verdicts: the one in the settings, or the one given when asked.

The login name is not used: notes travel with records, and it identifies a person and a machine.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from ..config import Config
from ..files.paths import user_folder

NEUTRAL = "anonymous"
"""The author's name if none was given."""
MAX_NAME = 100
"""Maximum number of characters of a name."""
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
    with contextlib.suppress(OSError):  # a read-only home: the user is asked again next time
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n", encoding="utf-8", errors="replace")
    return name


def _answer_path() -> Path:
    return user_folder("state") / "author"

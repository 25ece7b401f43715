"""Replaces a file of what the user has allowed or chosen, in the settings folder."""

from __future__ import annotations

import os
from pathlib import Path


def write_own_text(path: Path, text: str) -> None:
    """Replace a file at once, or make it with its folder. It is not synced: losing it asks again.

    Raises:
        OSError: It cannot be written; it is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)

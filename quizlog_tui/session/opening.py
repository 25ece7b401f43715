"""Opens records for users of the package."""

from __future__ import annotations

from pathlib import Path

from ..record.lock import WAIT_SECONDS
from ..replay.replayer import Replayer
from .session import Session


def open_record(
    path: str | Path,
    replayer: Replayer | None = None,
    *,
    save: bool = True,
    wait: float = WAIT_SECONDS,
) -> Session:
    """Open a record; see `Session`."""
    return Session(path, replayer, save=save, wait=wait)

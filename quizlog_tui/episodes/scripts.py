"""Finding the script of an episode by its hash, and taking it along with the files it reads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from ..bundle.needs import needed_files
from ..errors import EpisodeError, QuizlogError
from ..record.store import RecordFile
from ..replay.source import Source

MAX_BYTES = 64 * 1024 * 1024
"""The most that is taken along with one script."""
_SKIPPED = {"__pycache__", ".git", ".venv"}


def data_hash(source: Source) -> str:
    """A hash of the files beside a script that it mentions; empty where there are none.

    The same script asks other things where it reads other data.
    """
    needed, folder = needed_files(source), source.path.parent
    found = sha256()
    for path in needed:
        digest = sha256(path.read_bytes()).hexdigest() if os.access(path, os.R_OK) else ""
        found.update(f"{path.relative_to(folder).as_posix()}\0{digest}\n".encode())
    return f"+{found.hexdigest()[:16]}" if needed else ""


def find_script(folder: Path, code_hash: object) -> Path | None:
    """The script below a folder whose bytes have this hash; None if there is none."""
    for path in _files(folder, "*.py"):
        if "sha256:" + sha256(path.read_bytes()).hexdigest() == code_hash:
            return path
    return None


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    for path in sorted(folder.rglob(pattern)):
        if path.is_file() and not _SKIPPED & set(path.parts):
            yield path


def take_along(script: Path, code_hash: str, folder: Path) -> None:
    """Copy a script's folder, without the records in it: they hold answers.

    Raises:
        EpisodeError: The folder holds too much for one script.
    """
    target = folder / code_hash.removeprefix("sha256:")[:16]
    target.mkdir(parents=True, exist_ok=True)
    left = MAX_BYTES
    for path in _files(script.parent, "*"):
        left -= path.stat().st_size
        if left < 0:
            message = f"holds more than {MAX_BYTES // 2**20} MB"
            hint = "put the script and what it reads into a folder of its own"
            raise EpisodeError(message, where=str(script.parent), hint=hint)
        if not _holds_answers(path):
            copy = target / path.relative_to(script.parent)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


def _holds_answers(path: Path) -> bool:
    """Whether a file is a record, or is kept beside one."""
    if path.suffix in (".lock", ".jsonl") or ".runs" in str(path.parent):
        return True
    if path.suffix not in (".yaml", ".yml", ".json"):
        return False
    try:
        RecordFile(path).read()
    except QuizlogError:
        return False
    return True

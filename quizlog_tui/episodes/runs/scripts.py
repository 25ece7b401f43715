"""Finds the script of an episode by its hash, and copies it with the files it mentions.

Exported packages import `find_script` from here.
"""

from __future__ import annotations

import contextlib
from hashlib import sha256
from pathlib import Path

from ...errors import EpisodeError, QuizlogError
from ...files.durable import FileKind, write_bytes
from ...files.regular_file import read_regular
from ...record.store import RecordFile
from ...replay.script.needed_files import needed_files
from ...replay.script.source import read_source

_MAX_BYTES = 64 * 1024 * 1024
"""Maximum size of a script and its files together."""
_COPY = FileKind("a copy of a script's file", lambda path: False, makes_folder=True)
"""None is replaced."""


def find_script(folder: Path, code_hash: object, but: Path | None = None) -> Path | None:
    """The script with this hash below a folder, but not below `but` or a hidden folder, or None."""
    for path in sorted(folder.rglob("*.py")):
        if _is_hidden(path.relative_to(folder)) or (but and path.is_relative_to(but)):
            continue
        if _code_hash(path) == code_hash:
            return path
    return None


def _code_hash(path: Path) -> str:
    """The hash of a script in the format of a record; empty if it cannot be read."""
    try:
        return f"sha256:{sha256(read_regular(path, _MAX_BYTES)).hexdigest()}"
    except OSError:
        return ""


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def copy_needed_files(script: Path, code_hash: str, folder: Path) -> None:
    """Copy a script and the files next to it that it mentions.

    Hidden files are not copied, nor are records, because they contain answers.

    Raises:
        EpisodeError: The files are too big.
    """
    target = folder / code_hash.removeprefix("sha256:")[:16]
    left = _MAX_BYTES
    for path in (script, *needed_files(read_source(script))):
        inside = path.relative_to(script.parent)
        if _is_hidden(inside) or _holds_answers(path):
            continue
        left -= path.stat().st_size
        if left < 0:
            message = (
                f"the script and the files it mentions have more than {_MAX_BYTES // 2**20} MB"
            )
            raise EpisodeError(message, where=str(script), hint="export without --scripts")
        data = path.read_bytes()
        if not _holds(target / inside, data):
            write_bytes(target / inside, data, _COPY)


def _holds_answers(path: Path) -> bool:
    """Whether a file is a record, or belongs to one."""
    if path.suffix in (".lock", ".jsonl") or ".runs" in str(path.parent):
        return True
    if path.suffix not in (".yaml", ".yml", ".json"):
        return False
    try:
        RecordFile(path).read()
    except QuizlogError:
        return False
    return True


def _holds(path: Path, data: bytes) -> bool:
    """Whether a file has this content; a link to it does not count."""
    with contextlib.suppress(OSError):
        return not path.is_symlink() and read_regular(path, len(data)) == data
    return False

"""The programs beside models files that the user has allowed to be started.

A models file in the settings folder is the user's own. Another one may be a stranger's, and so may
a program that it names relative to itself: that is started only if the user has allowed it, at this
place and with these bytes, for this file. What is allowed is stored as TOML in the settings folder,
where it can be read and edited.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from pathlib import Path

from ...config import config_folder
from ...errors import ConfigError
from ...files.durable import write_own_text
from ...files.regular_file import hex_digest, read_regular
from ...text import one_line
from .models import programs_beside

_MOST_BYTES = 100_000_000
"""The size of the biggest program that can be allowed."""
_LINE = re.compile(r'^"(sha256:[0-9a-f]{64})"', re.M)
_HEAD = (
    "# Programs beside models files that quizlog may start, by a digest of both.\n"
    "# Delete a line to take it back.\n"
)


def allowed_programs_path() -> Path:
    """The path of the file, which may not exist."""
    return config_folder() / "programs.toml"


def programs_to_allow(models: Path) -> list[Path]:
    """The programs that a models file names relative to itself and the user has not allowed.

    Raises:
        ConfigError: The models file or a program cannot be read.
    """
    if os.path.realpath(models.absolute().parent) == os.path.realpath(config_folder()):
        return []
    allowed = _allowed()
    return [each for each in programs_beside(models) if _digest(models, each) not in allowed]


def allow_program(models: Path, program: Path) -> None:
    """Allow a program from now on.

    Args:
        models: The models file that names it.
        program: Its full path.

    Raises:
        ConfigError: It cannot be read, or the file of what is allowed cannot be written.
    """
    about = re.sub(r'["\\]', "?", one_line(f"{program}, for {models.absolute()}"))
    path = allowed_programs_path()
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else _HEAD
        write_own_text(path, f'{before}"{_digest(models, program)}" = "{about}"\n')
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "is not UTF-8 text"
        raise ConfigError(f"cannot store what is allowed: {said}", where=str(path)) from None


def check_allowed(models: Path) -> None:
    """Refuse a models file with programs that the user has not allowed.

    Raises:
        ConfigError: There is one; the message names it.
    """
    for program in programs_to_allow(models):
        raise refused(models, program)


def refused(models: Path, program: Path) -> ConfigError:
    """The error that a program is not allowed, with what to do."""
    asking = f"quizlog models check --models {shlex.quote(str(models))}"
    hint = f"run `{asking}` at a terminal, which asks you; or write its full path there"
    said = f"names the program {program}, which you have not allowed as both are now"
    return ConfigError(said, where=str(models), hint=hint)


def _allowed() -> set[str]:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return set(_LINE.findall(allowed_programs_path().read_text(encoding="utf-8")))
    return set()


def _digest(models: Path, program: Path) -> str:
    """What identifies both files: their places and their bytes."""
    parts = [
        part for path in (models, program) for part in (os.path.realpath(path), _bytes_of(path))
    ]
    return f"sha256:{hex_digest(repr(parts).encode())}"


def _bytes_of(path: Path) -> str:
    try:
        return hex_digest(read_regular(path, _MOST_BYTES))
    except OSError as error:
        raise ConfigError(f"cannot read: {error.strerror}", where=str(path)) from None

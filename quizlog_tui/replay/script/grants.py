"""What the user has granted to single scripts: the real clock, files, network or environment.

A script requests a grant by a comment such as `#quizlog: real-files`. Only the user can grant it,
to one version of one script, identified by its digest. Opening a file never grants anything. Grants
are stored as TOML in the settings folder, where they can be read and edited.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from ...config import config_folder
from ...errors import ConfigError

NAMES = ("real-clock", "real-environment", "real-files", "real-network")
"""What can be requested and granted."""
_LINE = re.compile(r'^"(sha256:[0-9a-f]{64})"\s*=\s*\[([^\]]*)\]', re.M)
_HEAD = "# What quizlog allows single scripts, by digest. Delete a line to take a grant back.\n"


def grants_path() -> Path:
    """The path of the file, which may not exist."""
    return config_folder() / "allowed.toml"


def granted(code_hash: str) -> frozenset[str]:
    """The grants of a version of a script; none if the file cannot be read."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for digest, names in _LINE.findall(grants_path().read_text(encoding="utf-8")):
            if digest == code_hash:
                return frozenset(name for name in NAMES if f'"{name}"' in names)
    return frozenset()


def grant(code_hash: str, names: Iterable[str]) -> None:
    """Grant something to a version of a script from now on.

    Args:
        code_hash: Its digest, `sha256:` and 64 hexadecimal digits.
        names: Some of `NAMES`.

    Raises:
        ConfigError: The file cannot be written.
    """
    every = sorted(granted(code_hash).union(names))
    line = f'"{code_hash}" = [{", ".join(map(_quoted, every))}]'
    path = grants_path()
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else _HEAD
        kept = [each for each in before.splitlines() if not each.startswith(f'"{code_hash}"')]
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_text("\n".join([*kept, line, ""]), encoding="utf-8")
        temporary.replace(path)
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "is not UTF-8 text"
        raise ConfigError(f"cannot store what is allowed: {said}", where=str(path)) from None


def _quoted(name: str) -> str:
    return f'"{name}"'

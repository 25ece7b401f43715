"""What the user has allowed single scripts: the real clock, files, network or environment.

A script asks for such a thing by a comment, `#quizlog: real-files`. It is granted to one version of
one script, told by its digest, and only by the user's own word; never by opening a file. Kept as
TOML in the folder of the settings, where it can be read and edited.
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
"""What can be asked for and granted."""
_LINE = re.compile(r'^"(sha256:[0-9a-f]{64})"\s*=\s*\[([^\]]*)\]', re.M)
_HEAD = "# What quizlog allows single scripts, by digest. Delete a line to take a grant back.\n"


def grants_path() -> Path:
    """The file, whether or not it is there."""
    return config_folder() / "allowed.toml"


def granted(code_hash: str) -> frozenset[str]:
    """What a version of a script was granted; nothing if the file cannot be read."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for digest, names in _LINE.findall(grants_path().read_text(encoding="utf-8")):
            if digest == code_hash:
                return frozenset(name for name in NAMES if f'"{name}"' in names)
    return frozenset()


def grant(code_hash: str, names: Iterable[str]) -> None:
    """Allow a version of a script these things from now on.

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
        raise ConfigError(f"cannot keep what is allowed: {said}", where=str(path)) from None


def _quoted(name: str) -> str:
    return f'"{name}"'

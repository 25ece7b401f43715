"""Reads variables from the environment and from `.env` files.

Whoever makes the current folder writes its `.env`: a clone or an unpacked archive has one, too.
So that file gives secrets only, and what names a program, a folder, a database or a host comes
from where nobody else writes: the environment, `.env` in the settings folder, or a file that the
user names. No file's variables are put into the environment of this process, so that no script,
program or code that it starts sees them.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import ConfigError
from ...files.paths import user_folder
from ...files.regular_file import read_regular

PRIMARY = "PRIMARY_MODEL"
"""The variable that names the primary model; it overrides the models file."""
SECRETS = frozenset({"USER_SECRET", "AIPROXY_TOKEN", "QUIZLOG_TOKEN", "TASK_DATABASE_URL"})
"""Variables with quizlog's own secrets, which no other program may see."""
NAME = ".env"
_MOST, _LONGEST = 64 * 1024, 8 * 1024
"""Maximum bytes of a file of variables, and characters of its lines: its reader takes long."""


@dataclass(frozen=True)
class Variables:
    """The variables that are set, by where they were set."""

    chosen: Mapping[str, str]
    """Of the environment, over those of the user's own file."""
    local: Mapping[str, str] = field(default_factory=dict)
    """Of `.env` in the current folder."""

    def secret(self, name: str) -> str:
        """A key or secret, which any of the files may give; "" if it is not set."""
        return self.chosen.get(name, self.local.get(name, ""))

    def setting(self, name: str) -> str:
        """Any other variable; "" if it is not set.

        Raises:
            ConfigError: It is set by the current folder only.
        """
        self.check_settings([name])
        return self.chosen.get(name, "")

    def check_settings(self, names: Iterable[str]) -> None:
        """Refuse variables that only the current folder sets, though they are no secrets.

        Raises:
            ConfigError: There are some; the message names them all.
        """
        found = [name for name in names if name in self.local and name not in self.chosen]
        if found:
            message = f"gives secrets only, and not {', '.join(found)}"
            hint = f"move such lines to {own_env()}, or export the variables"
            raise ConfigError(message, where=NAME, hint=hint)


ENVIRONMENT = Variables(os.environ)
"""The environment alone."""


def own_env() -> Path:
    """The path of the user's own file of variables, which need not exist."""
    return user_folder("config") / NAME


def read_env(path: Path | None = None, environment: Mapping[str, str] = os.environ) -> Variables:
    """The variables that are set; the environment overrides the files.

    Args:
        path: The only file to read; if None, `.env` in the settings folder and `.env` in the
            current folder, neither of which need exist.
        environment: Variables that override the files'.

    Raises:
        ConfigError: The named file is missing, or a file cannot be read.
    """
    if path is not None:
        if not path.exists():
            raise ConfigError("there is no such file", where=str(path))
        return Variables(_read(path) | dict(environment))
    chosen = _found(own_env()) | dict(environment)
    return Variables(chosen, _found(Path(NAME), strict=False))  # of any program, in any form


def _found(path: Path, *, strict: bool = True) -> dict[str, str]:
    """The variables of a file; none if there is no file, or a folder as virtual environments."""
    there = os.path.lexists(path) and not path.is_dir()
    return _read(path, strict=strict) if there else {}


def _read(path: Path, *, strict: bool = True) -> dict[str, str]:
    """The variables of a file. `${NAME}` stays as it is: it would show keys of the environment.

    Args:
        path: The file.
        strict: Whether a line that sets no variable is an error.
    """
    from dotenv.parser import parse_stream

    lines = list(parse_stream(io.StringIO(_text(path))))
    for line in lines if strict else ():
        if line.error:
            where, hint = f"{path}:{line.original.line}", "write NAME=VALUE, or # before it"
            raise ConfigError("sets no variable", where=where, hint=hint)
    return {line.key: line.value or "" for line in lines if line.key and not line.error}


def _text(path: Path) -> str:
    try:
        text = read_regular(path, _MOST).decode()
    except UnicodeDecodeError:
        raise ConfigError("is not UTF-8", where=str(path), hint="save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if max(map(len, text.splitlines()), default=0) > _LONGEST:
        raise ConfigError(f"has a line of more than {_LONGEST:,} characters", where=str(path))
    return text

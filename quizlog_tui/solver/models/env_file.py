"""Reads variables from the environment and from a `.env` file.

The file's variables are not put into the environment of this process, so that no script, program
or code that it starts sees them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ...errors import ConfigError

PRIMARY = "PRIMARY_MODEL"
"""The variable that names the primary model; it overrides the models file."""
SECRETS = frozenset({"USER_SECRET", "AIPROXY_TOKEN", "QUIZLOG_TOKEN", "TASK_DATABASE_URL"})
"""Variables with quizlog's own secrets, which no other program may see."""


def read_env(
    path: Path | None = None, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """All variables that are set; the environment overrides the file.

    Args:
        path: The file; if None, `.env` in the current folder, which need not exist.
        environment: Variables that override the file's.

    Raises:
        ConfigError: The named file is missing, or a file cannot be read.
    """
    from dotenv import dotenv_values

    file = path or Path(".env")
    if path is not None and not path.is_file():
        raise ConfigError("there is no such file", where=str(path))
    try:
        found = dotenv_values(file)
    except UnicodeDecodeError:
        raise ConfigError("is not UTF-8", where=str(file), hint="save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", where=str(file)) from None
    return {name: value or "" for name, value in found.items()} | dict(environment)

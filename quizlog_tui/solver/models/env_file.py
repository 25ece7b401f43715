"""What is set from outside: the environment, and below it a `.env` file.

Nothing of the file gets into the environment of this process, so no script, program or code that it
starts sees it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ...errors import ConfigError

PRIMARY = "PRIMARY_MODEL"
"""Says which model is the primary one, before what the file of models says."""
SECRETS = frozenset({"USER_SECRET", "AIPROXY_TOKEN", "QUIZLOG_TOKEN", "TASK_DATABASE_URL"})
"""Variables with secrets of ours, which no other's program is to see."""


def read_env(
    path: Path | None = None, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """All variables that are set; what the environment says goes first.

    Args:
        path: The file; `.env` in the current folder if None, and then it need not exist.
        environment: Variables that go before the file's.

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

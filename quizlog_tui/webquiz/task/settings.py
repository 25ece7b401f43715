"""The settings of tasks, read from variables and checked. Secrets are never shown."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import ConfigError
from ...files.paths import typed_path, user_folder
from ...solver.models.env_file import Variables, read_env

DATABASE = "tasks.sqlite"
"""The file in `task_basedir` that keeps tasks, where no other database is configured."""
_LEAST_SECRET = 6
_LEAST = f"at least {_LEAST_SECRET} characters"
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}


def _setting(default: Any, about: str, *, secret: bool = False, anywhere: bool = False) -> Any:
    """A setting. Only one that counts `anywhere` may stand in `.env` of the current folder."""
    metadata = {"about": about, "anywhere": anywhere}
    return field(default=default, repr=not secret, metadata=metadata)


@dataclass(frozen=True)
class TaskSettings:
    """The settings of tasks. Their names as variables are those of the fields, in capitals."""

    user_email: str = _setting("", "address of the person who takes the quiz", anywhere=True)
    user_secret: str = _setting("", f"the person's secret; {_LEAST}", secret=True, anywhere=True)
    aiproxy_token: str = _setting(
        "",
        "a key of models; `models.yaml` names this or any other variable",
        secret=True,
        anywhere=True,
    )
    task_basedir: Path = field(
        default_factory=lambda: user_folder("data") / "tasks",
        metadata={
            "about": "folder of all tasks, yours alone; empty: `tasks` in your data folder",
            "anywhere": False,
        },
    )
    task_retention_hours: float = _setting(
        24.0, "hours after which a server removes a finished task"
    )
    task_database_url: str = _setting(
        "",
        f"where tasks are kept: `postgresql://...`; empty: `{DATABASE}` in `TASK_BASEDIR`",
        secret=True,
    )
    max_concurrent_tasks: int = _setting(
        4, "tasks that a server works at once; servers with one database may each take one too many"
    )
    max_concurrent_browsers: int = _setting(
        4, "pages that all tasks of a process have open at once; waiting counts as the page's time"
    )
    max_concurrent_models: int = _setting(
        16, "queries to models at once, each for one question with its repair; waiting counts too"
    )
    max_queued_tasks: int = _setting(100, "tasks that may wait; further ones get 429")
    task_disk_mb: int = _setting(
        256, "most MB of a task's files: what its pages refer to, offer as downloads, and show"
    )
    debug_keep_workspaces: bool = _setting(
        False, "keep the folder in which a task worked; so does `--keep`"
    )
    browser_executable: str = _setting("", "the browser; empty: a Chromium of the system")
    quiz_allowed_origins: tuple[str, ...] = _setting(
        (), "further sites that a task's pages may refer to, with commas between them"
    )
    quiz_private_hosts: tuple[str, ...] = _setting(
        (), "hosts that may have a private address, with commas between them"
    )

    @property
    def database(self) -> str:
        """The address of the database that keeps tasks."""
        return self.task_database_url or f"sqlite:///{self.task_basedir / DATABASE}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that must not be stored anywhere."""
        return self.user_secret, self.aiproxy_token


_FIELDS = TaskSettings.__dataclass_fields__


def read_settings(
    path: Path | None = None, environment: Mapping[str, str] = os.environ
) -> TaskSettings:
    """The settings from the environment and from `.env` files, as `read_env` finds them.

    Args:
        path: The only file to read, if any.
        environment: Variables that override the files'.

    Raises:
        ConfigError: A value is not of its kind, or only the current folder gives one that it may
            not, or a file is missing or cannot be read.
    """
    variables = read_env(path, environment)
    variables.check_settings(name.upper() for name in _FIELDS if not _is_anywhere(name))
    given = {name: _given(variables, name).strip() for name in _FIELDS}
    found: dict[str, Any] = {name: _value(name, text) for name, text in given.items() if text}
    settings = TaskSettings(**found)
    if settings.user_secret and len(settings.user_secret) < _LEAST_SECRET:
        message = "is too short to be kept out of logs"
        raise ConfigError(message, where="USER_SECRET", hint=_LEAST)
    return settings


def _given(variables: Variables, field_name: str) -> str:
    name = field_name.upper()
    return variables.secret(name) if _is_anywhere(field_name) else variables.setting(name)


def _is_anywhere(field_name: str) -> bool:
    """Whether a setting may stand in `.env` of the current folder."""
    return bool(_FIELDS[field_name].metadata["anywhere"])


def _value(field_name: str, text: str) -> object:
    default, where = getattr(TaskSettings(), field_name), field_name.upper()
    if isinstance(default, bool):
        if text.lower() not in _TRUE | _FALSE:
            raise ConfigError(f"{text!r} is neither true nor false", where=where)
        return text.lower() in _TRUE
    if isinstance(default, (int, float)):
        try:
            number = type(default)(text)
        except ValueError:
            raise ConfigError(f"{text!r} is not a number", where=where) from None
        if not 0 < number < math.inf:
            raise ConfigError("must be more than 0", where=where)
        return number
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    return typed_path(text) if isinstance(default, Path) else text

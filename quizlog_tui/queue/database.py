"""What all users of the queue share: its name, its format, its database's address.

Nothing here knows what the tasks do.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, event, make_url
from sqlalchemy.exc import ArgumentError

from ..errors import ConfigError

APPLICATION = "quizlog"
QUEUE = "quizlog-tasks"
FORMAT = "quizlog-work-1"
"""Version of the stored steps and their order: tasks of another version are not continued."""
OPEN = ["ENQUEUED", "PENDING"]
"""The states of tasks that have not ended."""
_SERVER = "postgresql+psycopg"
_SERVERS = ("postgres", "postgresql", _SERVER)
"""Schemes of a PostgreSQL server's address."""


def file_of(url: str) -> Path | None:
    """The file of an SQLite database; None for a server.

    Raises:
        ConfigError: `url` is the address of neither an SQLite file nor a PostgreSQL server.
    """
    parsed = _parse(url)
    return Path(parsed.database or "") if parsed.drivername == "sqlite" else None


def system_url(url: str) -> str:
    """The address in the form that DBOS expects.

    Raises:
        ConfigError: As `file_of`.
    """
    return _parse(url).render_as_string(hide_password=False)


def server_arguments(url: str) -> dict[str, Any]:
    """The keyword arguments with which psycopg connects to a PostgreSQL server.

    Raises:
        ConfigError: As `file_of`.
    """
    parsed = _parse(url)
    return dict(parsed.get_dialect()().create_connect_args(parsed)[1])


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise _unknown() from None
    if parsed.drivername in _SERVERS:
        return parsed.set(drivername=_SERVER)
    if parsed.drivername != "sqlite" or not parsed.database:
        raise _unknown()
    return parsed


def _unknown() -> ConfigError:
    hint = "postgresql://USER:PASSWORD@HOST/NAME, or sqlite:///PATH"
    message = "is not the address of a database for tasks"
    return ConfigError(message, where="TASK_DATABASE_URL", hint=hint)


@event.listens_for(Engine, "connect")
def _tell_milliseconds(connection: Any, _: object) -> None:
    """Give an old SQLite the time that DBOS asks it for.

    On Python 3.12 and later, DBOS's tables and statements say `unixepoch('subsec')`, to which
    SQLite before 3.42 answers NULL. DBOS makes its engines itself, so all of them are listened to.
    """
    if sqlite3.sqlite_version_info < (3, 42) and isinstance(connection, sqlite3.Connection):
        connection.create_function("unixepoch", 1, _unixepoch)


def _unixepoch(modifier: object) -> float:
    if modifier != "subsec":
        raise ValueError(f"unixepoch({modifier!r}) is not known here")
    return round(time.time(), 3)

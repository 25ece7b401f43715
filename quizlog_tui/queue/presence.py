"""Tells which processes work a database's tasks, by locks that end with their process.

A database file is worked by one process at a time. A PostgreSQL server allows any number; each
process holds a lock with its own name, which ends with its connection.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError, LockedError
from ..files.ours import own_file, own_folder
from ..record.lock import locked
from .database import file_of, server_arguments

if TYPE_CHECKING:
    import psycopg

_KEY = "hashtextextended('quizlog ' || %(name)s, 0)"
_HOLD = f"SELECT pg_advisory_lock({_KEY})"
_GONE = f"SELECT pg_try_advisory_lock({_KEY}) AND pg_advisory_unlock({_KEY})"
_KEEPALIVE = "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3"
"""Lets the server notice a vanished machine after about ten seconds."""
_DEFAULTS: dict[str, Any] = {"connect_timeout": 10, "options": _KEEPALIVE}
"""Connection arguments unless the address sets them."""


@dataclass(frozen=True)
class Presence:
    """This process as one of those that work a database's tasks."""

    name: str
    is_gone: Callable[[str], bool]
    """Whether the process with a name has ended. Blocks until the database answers."""


@contextmanager
def present(url: str) -> Iterator[Presence]:
    """Hold this process's lock until the end of the block or of the process.

    Args:
        url: `sqlite:///PATH` or `postgresql://...`.

    Raises:
        ConfigError: The database cannot be reached, or is of another kind.
        LockedError: The database is a file, and another process works its tasks.
    """
    path = file_of(url)
    if path is not None:
        with _alone(path):
            yield Presence("this machine", lambda name: False)
        return
    roll = _Roll(server_arguments(url))
    try:
        yield Presence(roll.name, roll.is_gone)
    finally:
        roll.close()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    if not os.path.lexists(path.parent):
        own_folder(path.parent)
    own_file(path)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(path, 1.0))
        except LockedError:
            hint = "several processes share a PostgreSQL database: set TASK_DATABASE_URL"
            raise LockedError(
                "another process works its tasks", where=str(path), hint=hint
            ) from None
        _allow_concurrent_reads(path)
        yield


def _allow_concurrent_reads(path: Path) -> None:
    """Turn on write-ahead logging, so that reads and writes do not wait for each other."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
    except sqlite3.DatabaseError as error:
        raise ConfigError(f"cannot store tasks: {error}", where=str(path)) from None


class _Roll:
    """A lock with a unique name in a PostgreSQL server. Must be closed."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self.name = uuid.uuid4().hex
        self._arguments = arguments
        self._connection = self._connect()

    def _connect(self) -> psycopg.Connection:
        import psycopg

        try:
            connection = psycopg.connect(**(_DEFAULTS | self._arguments), autocommit=True)
        except psycopg.Error as error:
            reason = str(error).strip().splitlines()[-1] if str(error).strip() else "no answer"
            message = f"cannot reach the database: {reason}"
            raise ConfigError(message, where="TASK_DATABASE_URL") from None
        connection.execute(_HOLD, {"name": self.name})
        return connection

    def is_gone(self, name: str) -> bool:
        """Whether no process holds the lock with a name; reconnects if the connection broke."""
        import psycopg

        try:
            row = self._connection.execute(_GONE, {"name": name}).fetchone()
        except psycopg.OperationalError:
            self._connection.close()
            self._connection = self._connect()
            return False
        return bool(row and row[0])

    def close(self) -> None:
        """Release the lock."""
        self._connection.close()

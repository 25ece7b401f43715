"""Tells which processes work a database's tasks, by locks that end with their process.

A database file is worked by one process at a time. A PostgreSQL server allows any number; each
process holds a lock with its own name, which ends with its connection.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError, LockedError
from ..files.durable import own_file, own_folder
from ..record.lock import locked
from .database import file_of, refused, server_arguments

if TYPE_CHECKING:
    import psycopg

_KEY = "hashtextextended('quizlog ' || %(name)s, 0)"
_HOLD = f"SELECT pg_advisory_lock({_KEY})"
_TRY = f"SELECT pg_try_advisory_lock({_KEY})"
_LEAVE = f"SELECT pg_advisory_unlock({_KEY})"
_GONE = f"{_TRY} AND pg_advisory_unlock({_KEY})"
_TABLES = {"name": "tables"}
"""The lock of the process that makes tables."""
_PATIENCE, _POLL = 300.0, 0.1
"""Seconds to wait while another process makes tables, and between two looks."""
_LOCK_SECONDS = 1.0
"""Seconds to wait for a database file that another process works."""
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
    alone: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
    """For a block that no two processes may be in. Blocks while another one is."""


@contextmanager
def present(url: str) -> Iterator[Presence]:
    """Hold this process's lock until the end of the block or of the process.

    Raises:
        ConfigError: The database cannot be reached, or is of another kind.
        LockedError: The database is a file, and another process works its tasks.
    """
    path = file_of(url)
    if path is not None:
        with _alone(path):
            yield Presence("this machine", lambda name: False)
        return
    roll = _Roll(url)
    try:
        yield Presence(roll.name, roll.is_gone, roll.alone)
    finally:
        roll.close()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    if not os.path.lexists(path.parent):
        own_folder(path.parent)
    own_file(path)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(path, _LOCK_SECONDS))
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

    def __init__(self, url: str) -> None:
        self.name = uuid.uuid4().hex
        self._url = url
        self._connection = self._connect()

    def _connect(self) -> psycopg.Connection:
        import psycopg

        arguments = _DEFAULTS | server_arguments(self._url)
        try:
            connection = psycopg.connect(**arguments, autocommit=True)
        except psycopg.Error as error:
            raise refused(error, self._url, "cannot reach the database") from None
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

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock on making tables until the end of the block.

        DBOS has a lock of its own, but goes on without it after 30 seconds. This one is asked for
        again and again: who waits inside a statement holds up `CREATE INDEX CONCURRENTLY`.
        """
        import psycopg

        end = time.monotonic() + _PATIENCE
        while not self._holds(_TRY):
            if time.monotonic() > end:
                message = f"another server has been making tables for {_PATIENCE:g} seconds"
                hint = "start this one again when that one is up or has ended"
                raise LockedError(message, where="TASK_DATABASE_URL", hint=hint)
            time.sleep(_POLL)
        try:
            yield
        finally:
            with contextlib.suppress(psycopg.Error):  # a lost connection has released it
                self._holds(_LEAVE)

    def _holds(self, query: str) -> bool:
        row = self._connection.execute(query, _TABLES).fetchone()
        return bool(row and row[0])

    def close(self) -> None:
        """Release the lock."""
        self._connection.close()

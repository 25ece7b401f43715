"""What all users of the queue share: its name and format, its database's address, and refusals.

Values are stored as JSON without secrets, and nothing else. DBOS would also read values that say of
themselves that they are pickled, whatever form is configured, and reading those runs what they say.
So a database with such rows is refused, and a row that comes later, perhaps from another host,
raises. Nothing here knows what the tasks do.
"""

from __future__ import annotations

import json
import sqlite3
import time
from pathlib import Path
from typing import Any, NoReturn

from dbos import Serializer
from dbos._serialization import DefaultSerializer
from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from ..errors import ConfigError
from ..solver.redaction import Redaction

APPLICATION = "quizlog"
QUEUE = "quizlog-tasks"
FORMAT = "quizlog-work-1"
"""Version of the stored steps and their order: tasks of another version are not continued."""
OPEN = ["ENQUEUED", "PENDING"]
"""The states of tasks that have not ended."""
_SCHEMA = "dbos"
"""The schema of DBOS's tables in PostgreSQL; SQLite has none."""
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


def refused(error: Exception, url: str, doing: str, hint: str | None = None) -> ConfigError:
    """The error for a database that did not do it; `hint` is given if nothing better is known."""
    cause = getattr(error, "orig", None) or error
    reason, better = (str(cause).strip() or "no answer").splitlines()[0], None
    state = getattr(cause, "sqlstate", None)
    if state in _NO_RIGHTS:
        reason, better = _missing_rights(url, reason)
    elif state == _READ_ONLY:
        better = "name the server that this one is a copy of, or allow changes in this database"
    elif state is None and type(cause).__name__ == "OperationalError" and not file_of(url):
        better = _way_in(url, reason)
    return ConfigError(f"{doing}: {reason}", where="TASK_DATABASE_URL", hint=better or hint)


def _way_in(url: str, reason: str) -> str:
    """What to do about a server that does not let us in, which it says in words only."""
    database = _parse(url).database
    if "password" in reason:
        return "check the user and the password in the address"
    if database and f'database "{database}" does not exist' in reason:
        return f"make it: createdb {database}"
    return "check the address, and that the server runs and lets this user in"


_NO_RIGHTS = ("42501", "42P06")
"""SQLSTATE of a missing right, and of a schema that exists: DBOS sees only those it may use."""
_READ_ONLY = "25006"
_RIGHTS = """
    SELECT current_user, current_database(), pg_get_userbyid(n.nspowner), (
        SELECT min(pg_get_userbyid(c.relowner)::text) FROM pg_class c
        WHERE c.relnamespace = n.oid AND c.relkind = 'r'
        AND pg_get_userbyid(c.relowner) <> current_user)
    FROM (SELECT 1) one LEFT JOIN pg_namespace n ON n.nspname = :schema
"""
"""The role, the database, who owns the schema, and who else owns a table in it."""


def _missing_rights(url: str, reason: str) -> tuple[str, str | None]:
    """Whose the tables are, and what to grant; the server's own reason if that is not why."""
    engine = create_engine(system_url(url))
    try:
        with engine.connect() as connection:
            return _judge_rights(connection, reason)
    except SQLAlchemyError:
        return reason, None
    finally:
        engine.dispose()


def _judge_rights(connection: Connection, reason: str) -> tuple[str, str | None]:
    row = connection.execute(text(_RIGHTS), {"schema": _SCHEMA}).one()
    role, database, owner, of_tables = row
    quote = connection.dialect.identifier_preparer.quote
    if owner is None:
        grant = f"GRANT CREATE ON DATABASE {quote(database)} TO {quote(role)}"
        return f"role {role} may not make tables in {database}", f"run as its owner: {grant}"
    other = of_tables or owner
    if other == role:
        return reason, None
    said = f"the tables in schema {_SCHEMA} of {database} belong to role {other}, not to {role}"
    if "must be owner" in reason:
        hint = f"start `quizlog serve` as {other} once: only it can bring them to this version"
        return f"{said}, and are of an older version", hint
    kinds = (f"SCHEMA {_SCHEMA}", *(f"ALL {kind} IN SCHEMA {_SCHEMA}" for kind in _IN_SCHEMA))
    grants = "; ".join(f"GRANT ALL ON {kind} TO {quote(role)}" for kind in kinds)
    return said, f"use another database, or run as {other}: {grants}"


_IN_SCHEMA = ("TABLES", "SEQUENCES", "FUNCTIONS")


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


_COLUMN = "serialization"
"""The column of DBOS's tables that names the form of a row's values."""


def _never(self: object, serialized_data: str) -> NoReturn:
    raise ValueError("a value of the task is stored in a form that is not read here")


# Only here can the form be refused for all readers: DBOS chooses it row by row, and has 30 places
# that do so. A serializer of our own is asked for the rows that name it only.
DefaultSerializer.deserialize = _never  # type: ignore[assignment, method-assign]


def refuse_other_forms(url: str) -> None:
    """Refuse a database with values in another form than ours. Does nothing if it has no tables.

    Raises:
        ConfigError: It has some.
        SQLAlchemyError: It cannot be read.
    """
    schema = _SCHEMA if file_of(url) is None else None
    engine = create_engine(system_url(url))
    try:
        with engine.connect() as connection:
            table = _table_in_other_form(connection, schema)
    finally:
        engine.dispose()
    if table:
        message = f"its table {table} has values that quizlog did not store"
        hint = "name another database, and do not open this one with DBOS: it may run code"
        raise ConfigError(message, where="TASK_DATABASE_URL", hint=hint)


def _table_in_other_form(connection: Connection, schema: str | None) -> str | None:
    found = inspect(connection)
    quoted = connection.dialect.identifier_preparer.quote
    for table in found.get_table_names(schema=schema):
        columns = {column["name"] for column in found.get_columns(table, schema=schema)}
        name = f"{quoted(schema)}.{quoted(table)}" if schema else quoted(table)
        query = f"SELECT 1 FROM {name} WHERE {_COLUMN} <> :form LIMIT 1"
        if _COLUMN in columns and connection.execute(text(query), {"form": FORMAT}).first():
            return table
    return None


class Clean(Serializer):
    """Serialises values to JSON without keys or secrets; exceptions become their text."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction

    def name(self) -> str:
        """The name of this format."""
        return FORMAT

    def serialize(self, data: Any) -> str:
        """The text to store for a value."""
        plain = json.loads(json.dumps(data, default=_failed))
        return json.dumps(self._redaction.clean_value(plain))

    def deserialize(self, text: str) -> Any:
        """The value of a stored text."""
        return json.loads(text, object_hook=_raised)


def _failed(value: Any) -> dict[str, str]:
    return {"quizlog failed": f"{type(value).__name__}: {value}"}


def _raised(data: dict[str, Any]) -> Any:
    return RuntimeError(data["quizlog failed"]) if data.keys() == {"quizlog failed"} else data

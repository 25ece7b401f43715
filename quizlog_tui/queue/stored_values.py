"""The form in which values are stored in the database: JSON without secrets, and nothing else.

DBOS would also read values that say of themselves that they are pickled, whatever form is
configured, and reading those runs what they say. So a database with such rows is refused, and a
row that comes later, perhaps from another host, raises.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from dbos import Serializer
from dbos._serialization import DefaultSerializer
from sqlalchemy import Connection, create_engine, inspect, text

from ..errors import ConfigError
from ..solver.redaction import Redaction
from .database import FORMAT, SCHEMA, file_of, system_url

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
    schema = SCHEMA if file_of(url) is None else None
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

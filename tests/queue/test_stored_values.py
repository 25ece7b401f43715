"""What is not stored in our form is never read: rows that come with a database, and later ones."""

from __future__ import annotations

import base64
import pickle
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from dbos._serialization import deserialize_args, deserialize_exception, deserialize_value

from quizlog_tui.errors import ConfigError
from quizlog_tui.queue.client import connected
from quizlog_tui.queue.database import FORMAT, OPEN, QUEUE, Clean
from quizlog_tui.queue.engine import Engine, Row, running
from quizlog_tui.solver.redaction import Redaction

KIND = "test-kind"
CLEAN = Redaction(())


class Opens:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def pickled(mark: Path) -> str:
    data = pickle.dumps({"args": (Opens(mark),), "kwargs": {}})
    return base64.b64encode(data).decode()


async def echo(task: str, *arguments: Any) -> dict[str, Any]:
    return {"heard": list(arguments)}


def plant(database: Path, task: str, mark: Path, form: str) -> None:
    """Put a waiting task into the database whose arguments are pickled."""
    now = int(time.time() * 1000)
    row = {
        "workflow_uuid": task,
        "status": "ENQUEUED",
        "name": KIND,
        "created_at": now,
        "updated_at": now,
        "inputs": pickled(mark),
        "serialization": form,
        "queue_name": QUEUE,
        "application_version": FORMAT,
        "executor_id": "",
        "recovery_attempts": 0,
        "priority": 0,
    }
    names, marks = ",".join(row), ",".join("?" * len(row))
    with closing(sqlite3.connect(database)) as connection, connection:
        statement = f"insert into workflow_status ({names}) values ({marks})"
        connection.execute(statement, list(row.values()))


async def made(database: Path) -> str:
    """A database with the tables of the queue; its address."""
    url = f"sqlite:///{database}"
    async with running(url, 1, {KIND: echo}, CLEAN) as engine:
        await engine.enqueue(KIND, "a0000000", 1)
    return url


def test_nothing_is_unpickled_by_any_of_the_readers(tmp_path: Path) -> None:
    mark, clean = tmp_path / "ran", Clean(CLEAN)
    for read in (deserialize_value, deserialize_args, deserialize_exception):
        with pytest.raises(ValueError, match="not read here"):
            read(pickled(mark), "py_pickle", clean)
    assert not mark.exists()


@pytest.mark.parametrize("form", ["py_pickle", "portable_json", ""])
async def test_a_database_with_values_in_another_form_is_refused(tmp_path: Path, form: str) -> None:
    mark, database = tmp_path / "ran", tmp_path / "t.sqlite"
    url = await made(database)
    plant(database, "b0000000", mark, form)
    with pytest.raises(ConfigError, match="workflow_status has values that quizlog did not store"):
        await running(url, 1, {KIND: echo}, CLEAN).__aenter__()
    with pytest.raises(ConfigError, match="did not store"):
        await connected(url, CLEAN, lambda: None).__aenter__()
    assert not mark.exists()


async def test_every_table_counts(tmp_path: Path) -> None:
    database = tmp_path / "t.sqlite"
    await made(database)
    with closing(sqlite3.connect(database)) as connection:
        tables = [row[0] for row in connection.execute("select name from sqlite_master")]
        with_forms = [
            table
            for table in tables
            if any(
                row[1] == "serialization"
                for row in connection.execute(f"pragma table_info({table})")
            )
        ]
    assert len(with_forms) >= 6
    for table in with_forms:
        copy = tmp_path / f"{table}.sqlite"
        copy.write_bytes(database.read_bytes())
        copy.chmod(0o600)
        fill(copy, table)
        with pytest.raises(ConfigError, match=f"its table {table} has values"):
            await running(f"sqlite:///{copy}", 1, {KIND: echo}, CLEAN).__aenter__()


def fill(database: Path, table: str) -> None:
    """Put a row into a table with something in every column that needs it."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("pragma foreign_keys = off")
        columns = [row[1] for row in connection.execute(f"pragma table_info({table})")]
        values = ["py_pickle" if name == "serialization" else "1" for name in columns]
        marks = ",".join("?" * len(columns))
        connection.execute(f"insert into {table} ({','.join(columns)}) values ({marks})", values)


async def ended(engine: Engine, task: str) -> Row:
    """The row of a task once it has ended."""
    while True:
        row = await engine.one(KIND, task)
        if row is not None and row.status not in OPEN:
            return row


async def test_a_row_that_comes_later_runs_nothing_and_stops_no_other(tmp_path: Path) -> None:
    mark, database = tmp_path / "ran", tmp_path / "t.sqlite"
    url = f"sqlite:///{database}"
    async with running(url, 2, {KIND: echo}, CLEAN) as engine:
        plant(database, "b0000000", mark, "py_pickle")
        await engine.enqueue(KIND, "c0000000", 7)
        rows = [await ended(engine, task) for task in ("b0000000", "c0000000")]
    assert [row.status for row in rows] == ["ERROR", "SUCCESS"]
    assert rows[1].output == {"heard": [7]}
    assert not mark.exists()

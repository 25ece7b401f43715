"""Servers on one PostgreSQL: they start together, and are told what a database lacks for them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from quizlog_tui.episodes.runs.model_runs import KIND, answering, by_queue
from quizlog_tui.errors import ConfigError
from quizlog_tui.queue.client import Client, connected
from quizlog_tui.queue.database import OPEN
from quizlog_tui.queue.engine import Work, running
from quizlog_tui.queue.presence import present
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.solver.redaction import Redaction
from tests.support.build import Build
from tests.support.episode_making import QUIZ, Scripted, ignored, panel_of, want_of
from tests.support.postgres import needs_postgres, postgres
from tests.support.processes import wait_for

pytestmark = needs_postgres()
CLEAN = Redaction([])
SERVERS = """
import asyncio, itertools, os, sys, time
from types import SimpleNamespace
from dbos import _sys_db_postgres as theirs
from quizlog_tui.queue.engine import running
from quizlog_tui.solver.redaction import Redaction

# DBOS waits 30 seconds for its own lock and then goes on without it; here they are over at once.
theirs.time = SimpleNamespace(monotonic=itertools.count(0, 60).__next__, sleep=time.sleep)

async def main():
    async with running(sys.argv[1], 1, {}, Redaction([])):
        os.write(1, b"up\\n")
        await asyncio.to_thread(sys.stdin.read)

def server():
    os.read(start, 1)
    try:
        asyncio.run(main())
    except Exception as error:
        os.write(1, f"{error}\\n".encode())
    os._exit(0)

start, begin = os.pipe()
servers = [os.fork() or server() for _ in range(3)]
os.write(begin, b"...")
for pid in servers:
    os.waitpid(pid, 0)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as url:
        sql(url, "CREATE ROLE first LOGIN", "CREATE ROLE other LOGIN")
        sql(url, "CREATE ROLE postgres SUPERUSER LOGIN")
        yield url


def sql(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def database(server: str, name: str) -> str:
    """The address of a new, empty database."""
    sql(server, f"CREATE DATABASE {name}")
    return server.rpartition("/")[0] + f"/{name}"


def as_role(url: str, role: str) -> str:
    return url.replace("//quizlog@", f"//{role}@")


async def refusal(url: str) -> str:
    """What a server says to a database."""
    with pytest.raises(ConfigError) as caught:
        async with running(url, 1, {}, CLEAN):
            pass
    return str(caught.value)


async def starts(url: str) -> bool:
    async with running(url, 1, {}, CLEAN):
        return True


def test_servers_that_start_at_one_moment_on_an_empty_database_all_come_up(server: str) -> None:
    command, pipe = [sys.executable, "-c", SERVERS, database(server, "together")], subprocess.PIPE
    with subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
    ) as process:
        try:
            assert process.stdout
            assert [process.stdout.readline() for _ in range(3)] == ["up\n"] * 3
            assert process.communicate(timeout=120)[0] == ""
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("made_by_quizlog", [False, True])
async def test_whose_the_tables_are_and_what_to_grant_is_said_and_suffices(
    server: str, made_by_quizlog: bool
) -> None:
    url = database(server, f"theirs_{made_by_quizlog}".lower())
    name = url.rpartition("/")[2]
    sql(url, f"GRANT CREATE ON DATABASE {name} TO first, other")
    if made_by_quizlog:
        assert await starts(as_role(url, "first"))
    else:
        sql(url, "CREATE SCHEMA dbos AUTHORIZATION first")
    said = await refusal(as_role(url, "other"))
    assert f"schema dbos of {name} belong to role first, not to other" in said
    assert "psycopg" not in said and "\n" not in said
    if made_by_quizlog:
        with pytest.raises(ConfigError, match="belong to role first, not to other"):
            async with connected(as_role(url, "other"), CLEAN, lambda: None):
                pass
    _, _, grants = said.removesuffix(")").partition("run as first: ")
    sql(as_role(url, "first"), *grants.split("; "))
    assert await starts(as_role(url, "other"))


async def test_tables_of_an_older_version_are_changed_by_their_owner_only(server: str) -> None:
    url = database(server, "older")
    assert await starts(url)
    grants = (await refusal(as_role(url, "other"))).partition("run as quizlog: ")[2]
    sql(url, *grants.removesuffix(")").split("; "))
    sql(url, "UPDATE dbos.dbos_migrations SET version = 110")
    said = await refusal(as_role(url, "other"))
    assert "of an older version (start `quizlog serve` as quizlog once" in said
    assert await starts(url) and await starts(as_role(url, "other"))
    sql(url, "UPDATE dbos.dbos_migrations SET version = version + 5")
    assert await starts(url)


async def test_who_may_not_make_tables_is_told_what_to_grant(server: str) -> None:
    url = database(server, "closed")
    said = await refusal(as_role(url, "other"))
    assert "role other may not make tables in closed" in said
    sql(url, said.removesuffix(")").partition("run as its owner: ")[2])
    assert await starts(as_role(url, "other"))


async def test_a_database_that_cannot_be_reached_or_written_is_told_with_what_to_do(
    server: str,
) -> None:
    url = database(server, "readonly")
    sql(url, "ALTER DATABASE readonly SET default_transaction_read_only = on")
    assert "read-only transaction (name the server that this one is a copy of" in await refusal(url)
    missing = server.rpartition("/")[0] + "/missing"
    assert 'database "missing" does not exist (make it: createdb missing)' in await refusal(missing)
    said = await refusal(as_role(url, "nobody"))
    assert 'role "nobody" does not exist (check the address' in said
    said = await refusal("postgresql://a@127.0.0.1:9/t")
    assert "port 9 failed: Connection refused (check the address" in said


def test_a_wrong_password_is_told_without_it() -> None:
    from quizlog_tui.queue.database import refused

    words = 'connection failed: FATAL:  password authentication failed for user "a"\nmore'
    url = "postgresql://a:geheim@h/t"
    said = str(refused(psycopg.OperationalError(words), url, "cannot reach the database"))
    assert said.endswith('for user "a" (check the user and the password in the address)')


async def test_a_server_whose_user_is_named_postgres_keeps_tasks(server: str) -> None:
    async def work(task: str) -> dict[str, Any]:
        return {"said": "done"}

    url = as_role(database(server, "of_postgres"), "postgres:any")
    async with running(url, 2, {"work": work}, CLEAN) as engine:
        await engine.enqueue("work", "cc")
        async with asyncio.timeout(60):
            while (row := await engine.one("work", "cc")) is None or row.status in OPEN:
                await asyncio.sleep(0.05)
        assert row.output == {"said": "done"}


def test_a_server_knows_who_is_gone(server: str) -> None:
    with present(server) as one:
        with present(server.replace("postgresql", "postgres")) as other:
            assert one.name != other.name
            assert not one.is_gone(other.name)
            assert not other.is_gone(one.name)
            assert one.is_gone("nobody")
        wait_for(lambda: one.is_gone(other.name))


async def test_runs_are_asked_for_and_a_database_that_goes_away_is_said(
    server: str, build: Build, tmp_path: Path
) -> None:
    work, url = answering(panel_of(x=Scripted())), database(server, "asked")
    script = build.script(QUIZ)
    with Replayer() as replayer:
        with pytest.raises(ConfigError, match="workflow_status") as unmade:
            await connected(url, CLEAN, lambda: None).__aenter__()
        assert "start `quizlog serve`" in str(unmade.value)
        async with connected_to_host(url, {KIND: work}) as client:
            asked = by_queue(client, tmp_path / "e.runs", replayer)
            run = await asked(want_of(script), begun=None, keep=ignored)
        assert run.inputs == ("4", "ada")
        async with connected(url, CLEAN, lambda: None) as client:
            sql(server, "DROP DATABASE asked WITH (FORCE)")
            asked = by_queue(client, tmp_path / "f.runs", replayer)
            with pytest.raises(ConfigError, match="cannot queue tasks"):
                await asked(want_of(script), begun=None, keep=ignored)


@asynccontextmanager
async def connected_to_host(url: str, works: Mapping[str, Work]) -> AsyncIterator[Client]:
    async with running(url, 4, works, CLEAN), connected(url, CLEAN, lambda: None) as client:
        yield client

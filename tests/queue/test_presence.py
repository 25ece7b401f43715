from __future__ import annotations

import stat
import time
from pathlib import Path

import pytest

from quizlog_tui.errors import ConfigError, LockedError
from quizlog_tui.queue.database import server_arguments, system_url
from quizlog_tui.queue.presence import present
from tests.support.postgres import needs_postgres, postgres


def test_a_file_has_one_process_at_a_time_and_is_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "new" / "tasks.sqlite"
    with present(f"sqlite:///{path}"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with pytest.raises(LockedError, match="another process works its tasks"):
            present(f"sqlite:///{path}").__enter__()
    with present(f"sqlite:///{path}"):
        pass


@needs_postgres()
def test_a_server_knows_who_is_gone() -> None:
    with postgres() as url, present(url) as one:
        with present(url.replace("postgresql", "postgres")) as other:
            assert one.name != other.name
            assert not one.is_gone(other.name)
            assert not other.is_gone(one.name)
            assert one.is_gone("nobody")
        end = time.monotonic() + 60
        while not one.is_gone(other.name):
            assert time.monotonic() < end


@pytest.mark.parametrize(
    "url", ["postgresql:///t", "postgres:///t", "postgresql+psycopg:///t?application_name=a%20b"]
)
def test_every_part_of_a_servers_address_reaches_it_unchanged(url: str) -> None:
    filled = url.replace(":///t", "://postgres:a%40postgres:b@db.test:5433/postgres:x")
    wanted = {"user": "postgres", "password": "a@postgres:b", "host": "db.test", "port": 5433}
    found = server_arguments(filled)
    assert wanted.items() <= found.items() and found["dbname"] == "postgres:x"
    assert server_arguments(system_url(filled)) == found


@pytest.mark.parametrize("url", ["mysql://h/t", "tasks", "sqlite://", "postgresql://h:x/t"])
def test_other_databases_are_none_for_tasks(url: str) -> None:
    with pytest.raises(ConfigError, match="is not the address of a database for tasks"):
        present(url).__enter__()


def test_a_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="is not a folder"):
        present(f"sqlite:///{tmp_path / 'file' / 'tasks.sqlite'}").__enter__()

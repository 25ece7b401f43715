"""A PostgreSQL server of a test's own, from the system's package, or the reason why there is none."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _programs() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    return found[-1].parent if found else (named and Path(named).parent) or None


def _as_other() -> list[str]:
    """PostgreSQL refuses to run as root."""
    return ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []


def missing_postgres() -> str | None:
    """Why there can be no server on this machine; None if there can."""
    if _programs() is None:
        return "no PostgreSQL on this machine (apt install postgresql)"
    words = [*_as_other(), "true"]
    if not shutil.which(words[0]) or subprocess.call(words, stderr=subprocess.DEVNULL) != 0:
        return "no runuser, or no user `postgres`, to run PostgreSQL as"
    return None


def needs_postgres() -> pytest.MarkDecorator:
    why = missing_postgres()
    return pytest.mark.skipif(why is not None, reason=why or "")


@contextmanager
def postgres(user: str = "quizlog") -> Iterator[str]:
    """A server with one database of a user; its URL."""
    programs = _programs()
    assert programs
    home = Path(tempfile.mkdtemp(prefix="quizlog-postgres-"))
    if _as_other():
        shutil.chown(home, "postgres")
    data, port = home / "data", _free_port()
    own = f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories='' -c fsync=off"

    def run(*words: str) -> None:
        with open(home.with_suffix(".log"), "ab") as log:
            command = [*_as_other(), str(programs / words[0]), *words[1:]]
            subprocess.run(command, stdout=log, stderr=log, check=True, cwd="/", timeout=120)

    try:
        run("initdb", "-D", str(data), "-U", user, "-A", "trust", "--no-sync", "-E", "UTF8")
        run("pg_ctl", "-D", str(data), "-w", "-o", own, "start")
        try:
            yield f"postgresql://{user}@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)
        home.with_suffix(".log").unlink(missing_ok=True)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port: int = sock.getsockname()[1]
        return port

"""The main paths over real sockets, by a server started as users start it, to its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any

import httpx
import pytest

from quizlog_tui.cli import main
from quizlog_tui.server.admission import MAX_BODY, AccessRules
from quizlog_tui.server.app import ServerSettings, open_app
from quizlog_tui.server.run import listening, serve
from quizlog_tui.session.served_folders import served
from quizlog_tui.solver.models.choice import Choice
from tests.support.build import Build
from tests.support.sittings import SUMS
from tests.support.voters import voters

TOKEN = "a secret"


def start(folder: Path, *options: str, **environment: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "quizlog_tui", "serve", "--port", "0", "--folder", str(folder)]
    return subprocess.Popen(
        [*words, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of two records, `one` and `other`."""
    folder = tmp_path_factory.mktemp("served")
    for name in ("one.yaml", "other.yaml"):
        Build(folder, dedent).record(SUMS, name=name)
    models = voters(folder / "models.yaml", a=4, b=4)
    server = start(folder, "--models", str(models), "--json", QUIZLOG_TOKEN=TOKEN)
    assert server.stdout
    try:
        told = json.loads(server.stdout.readline())
        assert (told["schema_version"], told["folders"]) == (1, [str(folder.resolve())])
        yield told["url"]
    finally:
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=30)
    assert (server.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_steps_refusals_and_the_end(url: str) -> None:
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}) as http:
        for pointer, answer in enumerate(["4", "6"]):
            body = {"sheet_id": "one", "input": answer, "pointer": pointer}
            assert http.post("/quizlog/next", json=body).json()["pointer"] == pointer + 1
        shown = http.post("/quizlog/next", json={"sheet_id": "one", "input": None}).json()
        assert shown["status"] == "success"
        stateless = {"script_id": "quiz", "seed": 7, "inputs": ["4"]}
        assert http.post("/quizlog/next", json=stateless).json()["next_prompt"] == "3 + 3 = "
        rebound = http.get("/health", headers={"Host": "evil.example"})
        assert rebound.status_code == 403
        foreign = http.post(
            "/quizlog/next", json=stateless, headers={"Origin": "http://evil.example"}
        )
        assert foreign.status_code == 403
        big = http.post(
            "/quizlog/next", content=b"x" * 9_000_000, headers={"Content-Type": "application/json"}
        )
        assert big.status_code == 413
    assert httpx.post(f"{url}/quizlog/next", json=stateless).status_code == 401
    assert httpx.get(f"{url}/health").json()["status"] == "ok"


def solve(capsys: pytest.CaptureFixture[str], url: str, *words: str) -> tuple[int, str, str]:
    code = main(["solve", "other", "--url", url, *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_shell_solves_through_it(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = solve(capsys, url)
    assert code == 2
    assert "the token is missing or wrong" in err
    monkeypatch.setenv("QUIZLOG_TOKEN", TOKEN)
    code, out, err = solve(capsys, url)
    assert code == 0
    assert "unanimous" in out
    assert "a: 4" in err
    code, _, err = solve(capsys, url, "--models", "x.yaml")
    assert code == 2
    assert "--models does not go with --url" in err
    code, out, err = solve(capsys, url, "--until-end", "--json")
    data: dict[str, Any] = json.loads(out)
    assert code == 1
    assert [one["reply"]["pointer"] for one in data["decisions"]] == [1, 2]
    assert "answered: error, score 0.6 (step 2, branch main): no" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "0.0.0.0"], "can be reached by other machines"),
        (["--folder", "/nowhere"], "is not a folder"),
        (["--port", "70000"], "70000"),
        (["--host", "192.0.2.1"], "can be reached by other machines"),
    ],
)
def test_wrong_calls(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with listening("127.0.0.1", 0) as sock:
        assert main(["serve", "--port", str(sock.getsockname()[1])]) == 2
    assert "cannot listen: Address already in use" in capsys.readouterr().err


def test_the_loop_runs_from_the_first_task_on(tmp_path: Path) -> None:
    """A task found while it stands still would be worked where nothing it needs answers."""
    loops = []

    def started() -> None:
        loops.append(asyncio.get_running_loop())
        raise SystemExit(3)

    settings = ServerSettings(served([tmp_path]), AccessRules(), Choice())
    before = signal.getsignal(signal.SIGTERM)
    try:
        with listening("127.0.0.1", 0) as sock, pytest.raises(SystemExit, match="3"):
            serve(partial(open_app, settings), 8, sock, started)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert len(loops) == 1


def test_a_body_that_is_too_large_is_read_on_so_that_the_refusal_arrives(url: str) -> None:
    place = httpx.URL(url)
    size = 5 * MAX_BODY
    head = (
        f"POST /quizlog/next HTTP/1.1\r\nHost: {place.netloc.decode()}\r\n"
        f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {size}\r\n\r\n"
    )
    with socket.create_connection((place.host, place.port or 0)) as client:
        client.sendall(head.encode() + b"x" * size)  # a reset would end this
        said = client.makefile("rb").read()
    assert said.startswith(b"HTTP/1.1 413 ")
    assert b"the body is larger than 8 MB" in said

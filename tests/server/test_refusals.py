"""What the machine refuses the server, as its clients meet it: one JSON error, the record as it was."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from quizlog_tui.server import model_questions
from quizlog_tui.session import open_sessions as sessions
from tests.server.conftest import Server
from tests.support.build import Build
from tests.support.sittings import SUMS
from tests.support.voters import voters


def refusing(code: int) -> Any:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return refuse


@pytest.mark.parametrize(
    ("code", "status"),
    [(errno.ENOSPC, 507), (errno.EDQUOT, 507), (errno.EMFILE, 503), (errno.EPERM, 503)],
)
async def test_whatever_the_system_refuses_is_one_error(
    code: int, status: int, server: Server, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    build.record(SUMS)
    monkeypatch.setattr(sessions, "Session", refusing(code))
    said = await server.next(status, sheet_id="record")
    assert said["error"]["message"] == f"the system refuses: {os.strerror(code)}"


async def test_no_memory_is_told_and_a_defect_is_none_of_it(
    server: Server, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(error: Exception) -> Any:
        def raised(*_: Any, **__: Any) -> Any:
            raise error

        return raised

    build.record(SUMS)
    monkeypatch.setattr(sessions, "Session", fail(MemoryError()))
    assert "no more memory" in (await server.next(503, sheet_id="record"))["error"]["message"]
    monkeypatch.setattr(sessions, "Session", fail(RuntimeError("a defect")))
    with pytest.raises(RuntimeError, match="a defect"):
        await server.next(500, sheet_id="record")


async def test_progress_ends_with_what_the_system_refuses(
    serving: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_questions, "chosen_panel", refusing(errno.ENOSPC))
    transport = httpx.ASGITransport(serving(voters(tmp_path / "models.yaml", a=4)))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        body = {"question": {"text": "2 + 2 = "}}
        told = await http.post("/solve", json=body, headers={"Accept": "text/event-stream"})
    assert told.text.startswith("event: error\ndata: ")
    assert "the system refuses: No space left on device" in told.text


async def test_a_full_disk_is_told_alike_by_every_address_and_the_server_goes_on(
    serving: Any, tmp_path: Path, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build.record(SUMS)
    before = path.read_bytes()
    app = serving(voters(build.outside / "models.yaml", a=4), folder=build.folder)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", refusing(errno.ENOSPC))
            for address, body in (
                ("/quizlog/next", {"sheet_id": "record", "input": "4"}),
                ("/quizlog/next", {"sheet_id": "record", "input": "4"}),
                ("/solve", {"sheet_id": "record"}),
                ("/solve", {"sheet_id": "record", "accept": "always"}),
            ):
                told = await http.post(address, json=body)
                error = told.json()["error"]
                assert (told.status_code, error["message"]) == (
                    507,
                    "cannot write: No space left on device",
                )
                assert error["hint"] == "make room on the disk, then repeat; nothing was changed"
            assert path.read_bytes() == before
            names = sorted(item.name for item in build.folder.iterdir())
            assert names == ["quiz.py", "record.yaml"]
        answered = await http.post("/quizlog/next", json={"sheet_id": "record", "input": "4"})
        assert answered.json()["pointer"] == 1, "the server goes on"
    app.state.sessions.close()

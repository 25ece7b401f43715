"""`POST /solve` and `GET /decisions`: the models' decision, kept, told and given as an answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from quizlog_tui.errors import UsageError
from quizlog_tui.server import model_questions
from quizlog_tui.server.model_questions import events
from quizlog_tui.session.session import Session
from quizlog_tui.solver.backend import Backend, BackendError
from quizlog_tui.solver.solve import Progress
from tests.support.build import Build
from tests.support.sittings import SUMS
from tests.support.voters import voters

Serving = Callable[..., FastAPI]


def backend(app: Any, token: str | None = None) -> Backend:
    return Backend("http://localhost", token, httpx.ASGITransport(app))


def over(app: FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


async def test_a_records_question(serving: Serving, build: Build, tmp_path: Path) -> None:
    path = build.record(SUMS)
    app = serving(voters(tmp_path / "models.yaml", a=4, b="4", c=5))
    before = path.read_bytes()
    async with over(app) as http:
        said = (await http.post("/solve", json={"sheet_id": "record"})).json()
        assert (said["schema_version"], said["agreed"], said["reply"]) == (1, True, None)
        assert said["decision"]["verdict"]["why"] == "majority"
        assert path.read_bytes() == before
        kept = (await http.get("/decisions", params={"sheet_id": "record"})).json()
        assert kept["decisions"] == [said["decision"]]
        name = said["decision"]["id"]
        assert (await http.get(f"/decisions/{name}")).json()["decision"] == said["decision"]
        again = await http.get("/decisions", params={"sheet_id": "record", "rule": "unanimous"})
        assert again.json()["decisions"][0]["verdict"]["rule"] == "unanimous"
        assert (await http.get("/decisions/d-none")).status_code == 404
        wrong = await http.get("/decisions", params={"sheet_id": "record", "rule": "x"})
        assert wrong.status_code == 400
    app.state.sessions.close()


async def test_a_question_of_no_record(serving: Serving, tmp_path: Path) -> None:
    app = serving(voters(tmp_path / "models.yaml", a=4, b=4))
    async with over(app) as http:
        body = {"question": {"text": "2 + 2 = ", "input_type": "integer"}, "budget": 30}
        said = (await http.post("/solve", json=body)).json()
        assert (said["decision"]["verdict"]["answer"], said["reply"]) == (4, None)
        for wrong in ({"question": "2 + 2"}, body | {"accept": "always"}, body | {"budget": 0}):
            assert (await http.post("/solve", json=wrong)).status_code == 422


async def test_without_models(serving: Serving, build: Build) -> None:
    build.record(SUMS)
    async with over(serving()) as http:
        reply = await http.post("/solve", json={"sheet_id": "record"})
    assert reply.status_code == 503
    assert reply.json()["error"]["message"] == "no models are configured"


async def test_a_client_hears_the_progress_and_answers(
    serving: Serving, build: Build, tmp_path: Path
) -> None:
    path = build.record(SUMS)
    app = serving(voters(tmp_path / "models.yaml", a=4, b=4))
    heard: list[Progress] = []
    async with backend(app) as client:
        first = await client.solve("record", accept="agreed", tell=heard.append)
        assert first.agreed
        assert first.reply is not None
        assert (first.reply["pointer"], first.reply["record"]) == (1, "record")
        second = await client.solve("record", accept="agreed")
        assert second.reply is not None
        assert second.reply["status"] == "error"
        shown = await client.next(sheet_id="record")
        assert shown["score"] == 0.6
    whats = [progress.what for progress in heard]
    assert whats[:2] == ["asked", "asked"]
    assert whats[-1] == "decided"
    assert [len(progress.decision.models) for progress in heard if progress.what == "replied"] == [
        1,
        2,
    ]
    with Session(path) as session:
        assert list(session.record.inputs) == ["4", "4"]
    app.state.sessions.close()


async def test_models_that_differ_are_not_agreed(
    serving: Serving, build: Build, tmp_path: Path
) -> None:
    build.record(SUMS)
    app = serving(voters(tmp_path / "models.yaml", a=4, b=5))
    async with backend(app) as client:
        solved = await client.solve("record", accept="agreed")
        assert (solved.agreed, solved.reply) == (False, None)
        taken = await client.solve("record", accept="always")
        assert taken.reply is not None
    app.state.sessions.close()


async def test_the_servers_errors_are_ours(serving: Serving, build: Build, tmp_path: Path) -> None:
    build.record(SUMS, "4", "6")
    app = serving(voters(tmp_path / "models.yaml", a=4))
    async with backend(app) as client:
        with pytest.raises(BackendError, match="no such record is served"):
            await client.solve("missing")
        with pytest.raises(BackendError, match="asks nothing") as caught:
            await client.solve("record")
        assert caught.value.exit_code == 2
        with pytest.raises(BackendError, match="finished"):
            await client.next(sheet_id="record", input="1")
    app.state.sessions.close()


async def test_a_server_that_is_none_of_ours() -> None:
    async def page(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"<html>"})

    async with backend(page) as client:
        with pytest.raises(BackendError, match="not from quizlog"):
            await client.next(sheet_id="x")
        with pytest.raises(BackendError, match="ended the reply early"):
            await client.solve("x")
    async with Backend("http://127.0.0.1:1") as client:
        with pytest.raises(BackendError, match="cannot be reached"):
            await client.solve("x")
    with pytest.raises(UsageError, match="is not a URL"):
        Backend("localhost:80")


async def test_the_budget_runs_while_a_question_waits_for_others(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_questions, "AT_ONCE", 1)
    models = tmp_path / "models.yaml"
    models.write_text("models: [{name: slow, command: [sleep, '1000']}]")
    body = {"question": {"text": "2 + 2 = "}, "budget": 0.4}
    async with over(serving(models)) as http:
        started = time.monotonic()
        said = await asyncio.gather(*(http.post("/solve", json=body) for _ in range(20)))
    assert (
        time.monotonic() - started < 20 * body["budget"]
    )  # what they would take one after the other
    assert {one.json()["decision"]["models"][0]["status"] for one in said} == {"timeout"}


async def test_a_reader_who_leaves_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_questions, "_ALIVE_SECONDS", 0.001)
    ended = asyncio.Event()

    async def work(tell: Any) -> dict[str, Any]:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return {}

    stream = events(work)
    assert await anext(stream) == b": still at work\n\n"
    await stream.aclose()  # type: ignore[attr-defined]
    assert ended.is_set()


async def test_events_end_with_the_outcome() -> None:
    async def works(tell: Any) -> dict[str, Any]:
        return {"text": "a\nb\u2028"}

    async def fails(tell: Any) -> dict[str, Any]:
        raise UsageError("nothing is asked")

    assert [e async for e in events(works)] == [b'event: done\ndata: {"text": "a\\nb\\u2028"}\n\n']
    (failed,) = [e async for e in events(fails)]
    assert failed.startswith(b"event: error\ndata: ")
    assert b"nothing is asked" in failed

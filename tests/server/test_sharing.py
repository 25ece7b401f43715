"""A record that others change while the server works on it: nobody waits for its script."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import pytest

from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.server import steps
from quizlog_tui.session import open_sessions as sessions
from quizlog_tui.session.session import Session
from tests.server.conftest import Server
from tests.support.build import Build

QUIZ = "input('first? ')\ninput('second? ')\n"
reached, go_on = threading.Event(), threading.Event()


class Held(Session):
    """A session that stops between the run of its script and the write."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        write = self._live.write

        def held(record: Record, run: Transcript) -> list[str]:
            reached.set()
            assert go_on.wait(60)
            return write(record, run)

        setattr(self._live, "write", held)  # noqa: B010


@pytest.fixture(autouse=True)
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    reached.clear()
    go_on.clear()
    monkeypatch.setattr(sessions, "Session", Held)


@asynccontextmanager
async def answering(server: Server, **body: Any) -> AsyncIterator[asyncio.Task[Any]]:
    """A request whose script has run, and which has not been written."""
    request = asyncio.create_task(server.next(sheet_id="record", input="here", **body))
    assert await asyncio.to_thread(reached.wait, 60)
    try:
        yield request
    finally:
        go_on.set()
        await asyncio.wait([request])


async def test_a_record_is_not_held_while_its_script_runs(server: Server, build: Build) -> None:
    path = build.record(QUIZ)
    async with answering(server) as request:
        with RecordFile(path, 0.0).locked():
            assert not request.done()
    assert request.result()["pointer"] == 1


async def test_what_others_write_meanwhile_stays_and_the_answer_is_given(
    server: Server, build: Build
) -> None:
    path = build.record(QUIZ)
    async with answering(server) as request:
        with Session(path) as other:
            other.note("main", "seen")
    assert request.result()["pointer"] == 1
    with Session(path) as other:
        assert (list(other.record.inputs), other.branches[0].note) == (["here"], "seen")


async def test_an_answer_to_a_question_that_others_answered_meanwhile_is_refused(
    server: Server, build: Build
) -> None:
    path = build.record(QUIZ)
    async with answering(server, pointer=0, expect=409) as request:
        with Session(path) as other:
            other.answer("there")
    said = request.result()["error"]["message"]
    assert said == 'the record is at step 1, not 0; answered since: "there" by api'
    with Session(path) as other:
        assert list(other.record.inputs) == ["there"]


async def test_a_request_given_up_meanwhile_ends_once_its_whole_step_is_written(
    server: Server, build: Build
) -> None:
    path = build.record(QUIZ)
    async with answering(server) as request:
        request.cancel()
        await asyncio.sleep(0.05)
        assert not request.done()
        following = asyncio.create_task(server.next(sheet_id="record", input="there"))
    assert request.cancelled()
    assert (await following)["pointer"] == 2
    with Session(path) as other:
        assert list(other.record.inputs) == ["here", "there"]


async def test_a_long_reply_of_a_script_is_written_off_the_loop(
    server: Server, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode, threads = steps.encode, set[threading.Thread]()

    def noted(reply: dict[str, Any]) -> bytes:
        threads.add(threading.current_thread())
        return encode(reply)

    monkeypatch.setattr(steps, "encode", noted)
    build.script(QUIZ)
    assert (await server.next(script_id="quiz", inputs=["here"]))["pointer"] == 1
    assert threads.isdisjoint({threading.main_thread()})


@pytest.fixture
def one_thread(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with ThreadPoolExecutor(1) as threads:
        monkeypatch.setattr(server.app.state.sessions, "_threads", threads)
        yield
        go_on.set()


async def test_work_given_up_before_it_began_is_not_done(server: Server, one_thread: None) -> None:
    work: list[str] = []
    off_loop = server.app.state.sessions.off_loop
    first = asyncio.create_task(off_loop(go_on.wait))
    second = asyncio.create_task(off_loop(lambda: work.append("second")))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    go_on.set()
    assert await first
    assert (second.cancelled(), work) == (True, [])


async def test_what_waits_for_a_thread_when_the_server_ends_is_refused(
    server: Server, build: Build, one_thread: None
) -> None:
    build.script(QUIZ)
    all_sessions = server.app.state.sessions
    first = asyncio.create_task(all_sessions.off_loop(go_on.wait))
    await asyncio.sleep(0)
    second = asyncio.create_task(server.next(503, script_id="quiz"))
    await asyncio.sleep(0.05)
    ending = asyncio.create_task(asyncio.to_thread(all_sessions.close))
    while not all_sessions.replayers._ending:
        await asyncio.sleep(0)
    go_on.set()
    assert (await second)["error"]["message"] == "the server is ending"
    assert await first
    await ending

"""The gateway over real sockets: who may start a task, how quickly, and what it tells."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.errors import LimitError
from quizlog_tui.server import tasks as gateway_of_tasks
from quizlog_tui.server.tasks import (
    _GUESS_SECONDS,
    _MAX_TRIGGER,
    _MOST_GUESSES,
    is_secret,
    tasks_router,
)
from quizlog_tui.webquiz.demo_server.grader import Options
from quizlog_tui.webquiz.demo_server.web import quiz_server
from quizlog_tui.webquiz.task.settings import TaskSettings
from quizlog_tui.webquiz.task.task import TaskRequest
from quizlog_tui.webquiz.task.tasks import Tasks, open_tasks
from tests.server.conftest import listening
from tests.webquiz.conftest import JON, SECRET, Lab, lab, open_contexts, shares_browser
from tests.webquiz.stand_in import StandIn


def right(data: dict[str, Any], nth: int) -> dict[str, Any]:
    return {"answer": "Brown"}


@asynccontextmanager
async def gateway(running: Lab, **settings: Any) -> AsyncIterator[tuple[str, Tasks]]:
    running.runner.settings = replace(running.runner.settings, **{"user_secret": SECRET} | settings)
    async with open_tasks(running.runner) as tasks, answering(tasks) as url:
        yield url, tasks


@asynccontextmanager
async def refusing(user_secret: str = SECRET) -> AsyncIterator[str]:
    """A gateway that starts no task: it has no database, so that one it let in would be a defect."""
    runner = SimpleNamespace(settings=TaskSettings(user_secret=user_secret))
    async with answering(Tasks(cast(Any, runner))) as url:
        yield url


@asynccontextmanager
async def answering(tasks: Tasks) -> AsyncIterator[str]:
    app = FastAPI()
    app.include_router(tasks_router(tasks))
    async with listening(app) as port:
        yield f"http://127.0.0.1:{port}"


def trigger(url: str, **more: Any) -> bytes:
    return json.dumps({"email": JON, "secret": SECRET, "url": url} | more).encode()


BAD = [
    (b"{", 400),
    (b"[" * 50_000, 400),
    (b"[]", 400),
    (b'{"email": ', 400),
    (b'{"email": "a@b.c"}', 400),
    (trigger("https://quiz.site/x", secret=None), 400),
    (trigger("https://quiz.site/x", secret="not the secret"), 403),
    (trigger("https://quiz.site/x", secret="not the sécret"), 403),
    (trigger("https://quiz.site/x", secret="\ud800"), 403),
    (trigger("https://quiz.site/x", secret=SECRET + "\udfff"), 403),
    (trigger("https://quiz.site/x", email="\ud800@quiz.test"), 400),
    (trigger("https://quiz.site/\udc00"), 400),
    (trigger("ftp://quiz.site/x"), 400),
    (trigger("http://10.0.0.1/x"), 400),
    (b"x" * (_MAX_TRIGGER + 1), 413),
]


async def test_bad_triggers() -> None:
    async with refusing() as url, httpx.AsyncClient() as http:
        for path in ("/run", "/"):
            for body, status in BAD:
                reply = await http.post(f"{url}{path}", content=body)
                assert (reply.status_code, body[:40]) == (status, body[:40])
                assert set(reply.json()["error"]) == {"message", "where", "hint", "exit_code"}
                assert all(reply.json()["error"].values())


async def test_after_many_wrong_secrets_only_the_right_one_is_listened_to() -> None:
    async with refusing() as url, httpx.AsyncClient() as http:
        wrong = [
            trigger("https://quiz.site/x", secret=f"guess {n}") for n in range(_MOST_GUESSES + 5)
        ]
        replies = [await http.post(url, content=body) for body in wrong]
        assert [reply.status_code for reply in replies] == [403] * _MOST_GUESSES + [429] * 5
        assert 0 < int(replies[-1].headers["Retry-After"]) <= _GUESS_SECONDS
        error = replies[-1].json()["error"]
        assert (error["where"], error["exit_code"]) == ("secret", LimitError.exit_code)
        refused = await http.post(url, content=trigger("ftp://quiz.site/x"))
        assert refused.status_code == 400  # the secret was right


async def test_half_a_body_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_of_tasks, "READ_SECONDS", 0.1)
    async with refusing() as url:
        host, port = url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        said = await reader.read()  # until the server closes the line
        assert said.startswith(b"HTTP/1.1 408")
        writer.close()


@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_only_the_secret_itself_is_it(given: str, secret: str) -> None:
    assert is_secret(given, secret) is (given == secret != "")
    assert is_secret(secret, secret) is (secret != "")


async def test_a_task_that_cannot_be_told_in_utf_8_keeps_no_other_from_being_told(
    tmp_path: Path,
) -> None:
    with quiz_server() as server:
        async with (
            lab(server, tmp_path, {"ada": right}, browser=StandIn()) as running,
            gateway(running) as (url, tasks),
            httpx.AsyncClient(timeout=60) as http,
        ):
            half = "\ud800@quiz.test"  # a trigger with it is refused; an older one may be kept
            gone = f"{server.url}/nowhere"  # it is not tried again
            await tasks.start(TaskRequest(half, SECRET, gone, "ab" * 16))
            said = (await http.get(f"{url}/tasks/{'ab' * 16}/events")).text
            assert json.loads(said.splitlines()[-2][6:])["email"] == half
            assert (await http.get(f"{url}/tasks")).json()["tasks"][0]["email"] == half


def test_the_description_tells_what_a_trigger_holds_and_how_it_is_answered() -> None:
    app = FastAPI()
    app.include_router(tasks_router(cast(Any, None)))
    for path in ("/run", "/"):
        told = app.openapi()["paths"][path]["post"]
        body = told["requestBody"]["content"]["application/json"]["schema"]
        assert body["required"] == ["email", "secret", "url"]
        assert {str(status) for _, status in BAD} | {"200", "429"} <= set(told["responses"])


async def test_without_a_secret_in_the_settings_nobody_is_let_in() -> None:
    async with refusing(user_secret="") as url, httpx.AsyncClient() as http:
        for secret in (SECRET, "x"):
            reply = await http.post(url, content=trigger("https://quiz.site/x", secret=secret))
            assert reply.status_code == 403


async def test_a_task_is_told_of_until_its_end_and_afterwards(tmp_path: Path) -> None:
    with quiz_server(Options(chain=("q20-case",))) as server:
        async with lab(server, tmp_path, {"ada": right}, browser=StandIn()) as running:
            async with gateway(running) as (url, _), httpx.AsyncClient(timeout=60) as http:
                reply = await http.post(f"{url}/run", content=trigger(server.first()), timeout=2)
                task = reply.json()["task_id"]
                said = (await http.get(f"{url}/tasks/{task}/events")).text
                states = [
                    json.loads(line[6:])["state"]
                    for line in said.splitlines()
                    if line.startswith("data: ")
                ]
                assert states[-1] == "finished"
                one = (await http.get(f"{url}/tasks/{task}")).json()
                assert (one["state"], one["right"]) == ("finished", 1)
                listed = (await http.get(f"{url}/tasks")).json()["tasks"]
                assert [(item["id"], item["right"]) for item in listed] == [(task, 1)]
                assert SECRET not in said + json.dumps(one) + json.dumps(listed)
                assert (await http.get(f"{url}/tasks/{'0' * 32}")).status_code == 404
                assert (await http.get(f"{url}/tasks/..%2f..%2fetc/events")).status_code == 404
                assert (await http.get(f"{url}/tasks/%00")).status_code == 404
            async with open_tasks(running.runner) as later:
                assert (await later.get(task))["state"] == "finished"


@shares_browser
@pytest.mark.parametrize("count", [4, pytest.param(20, marks=pytest.mark.long)])
async def test_many_tasks_at_once_for_two_people(tmp_path: Path, count: int) -> None:
    people = ["jon@quiz.test", "dora@quiz.test"]

    def key(data: dict[str, Any], nth: int) -> dict[str, Any]:
        return {
            "answer": {"jon": "02699814", "dora": "08543264"}[
                "jon" if people[0] in data["context"] else "dora"
            ]
        }

    with quiz_server(Options(chain=("q15-canvas",))) as server:
        async with lab(server, tmp_path, {"ada": key}) as running, gateway(running) as (url, tasks):
            async with httpx.AsyncClient(timeout=60) as http:
                bodies = [
                    trigger(f"{server.first(people[i % 2])}&n={i}", email=people[i % 2])
                    for i in range(count)
                ]
                replies = await asyncio.gather(*(http.post(url, content=body) for body in bodies))
                assert [reply.status_code for reply in replies] == [200] * count
                assert {task["state"] for task in (await tasks.list())} <= {"queued", "running"}
                ids = [reply.json()["task_id"] for reply in replies]
                for task in ids:
                    await http.get(f"{url}/tasks/{task}/events")
            assert {(await tasks.get(task))["state"] for task in ids} == {"finished"}
            assert open_contexts(running.runner.browser) == 0
        for number, task in enumerate(ids):
            own, other = people[number % 2], people[1 - number % 2]
            text = (tmp_path / task / "task.log").read_text()
            assert own in text
            assert other not in text
        assert len(server.grader.rows) == count
        assert all(row.correct for row in server.grader.rows)


async def test_too_many_are_sent_away_and_closing_leaves_the_others_for_later(
    tmp_path: Path,
) -> None:
    with quiz_server(Options(chain=("q20-case",))) as server:
        async with lab(server, tmp_path, {"ada": right}, browser=StandIn()) as running:
            async with (
                gateway(running, max_concurrent_tasks=1, max_queued_tasks=1) as (url, _),
                httpx.AsyncClient() as http,
            ):
                bodies = [trigger(f"{server.first()}?n={n}") for n in range(12)]
                replies = await asyncio.gather(*(http.post(url, content=one) for one in bodies))
                statuses = [reply.status_code for reply in replies]
                assert sorted(statuses) == [200] * 2 + [429] * 10
                assert replies[statuses.index(429)].headers["Retry-After"]
                again = await http.post(url, content=bodies[statuses.index(200)])
                assert again.json() == replies[statuses.index(200)].json()
            async with open_tasks(running.runner) as tasks:
                for reply in (one for one in replies if one.status_code == 200):
                    states = [one async for one in tasks.events(reply.json()["task_id"])]
                    assert states[-1]["state"] == "finished"
        assert [row.answer for row in server.grader.rows] == ["Brown", "Brown"]


async def test_the_same_trigger_starts_nothing_twice_while_its_task_is_open(tmp_path: Path) -> None:
    with quiz_server(Options(chain=("q20-case",))) as server:
        async with (
            lab(server, tmp_path, {"ada": right}, browser=StandIn()) as running,
            gateway(running) as (url, _),
            httpx.AsyncClient(timeout=60) as http,
        ):
            body, other = trigger(server.first()), trigger(server.first(), email="d@quiz.test")
            replies = await asyncio.gather(
                *(http.post(url, content=one) for one in [body] * 5 + [other])
            )
            ids = [reply.json()["task_id"] for reply in replies]
            assert len(set(ids)) == 2
            assert ids[5] not in ids[:5]
            for task in set(ids):
                await http.get(f"{url}/tasks/{task}/events")
            assert len(server.grader.rows) == 2
            later = (await http.post(url, content=body)).json()["task_id"]
            assert later not in ids
            await http.get(f"{url}/tasks/{later}/events")

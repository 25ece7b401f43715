"""`quizlog serve`, killed while it works tasks in a real browser, and started again."""

from __future__ import annotations

import asyncio
import json
import signal
import tempfile
from pathlib import Path

import httpx
import pytest

from quizlog_tui.cli import main
from quizlog_tui.files.paths import decisions_path
from quizlog_tui.files.scratch import sweep
from quizlog_tui.proof.verify import verify
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.summary import find_records
from quizlog_tui.solver.decision_text import read_decisions
from quizlog_tui.webquiz.demo_server.grader import Options
from quizlog_tui.webquiz.demo_server.web import quiz_server
from quizlog_tui.webquiz.page.browser import Browser
from tests.support.fake_models import BEHAVIOURS, Exchange, fake_models
from tests.support.serving import serving, until
from tests.webquiz.conftest import SECRET, needs_browser

PAGES = ("q01-start", "q20-case")


@needs_browser()
async def test_tasks_go_on_where_they_were_when_the_server_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, go_on = [], asyncio.Event()

    async def ada(x: Exchange) -> None:
        if "Title Case" in json.dumps(x.body) and not go_on.is_set():
            held.append(x.nth)
            await go_on.wait()
        await x.say(json.dumps({"answer": "Brown"}))

    monkeypatch.setitem(BEHAVIOURS, "ada", ada)
    people = ["held@quiz.test", "waits@quiz.test"]
    one_at_once = {"MAX_CONCURRENT_TASKS": "1"}
    with quiz_server(Options(chain=PAGES)) as server:
        async with fake_models() as fake:
            async with serving(tmp_path, fake.url, **one_at_once) as (first, url):
                async with httpx.AsyncClient(base_url=url) as http:
                    for email in people:
                        body = {"email": email, "secret": SECRET, "url": server.first(email)}
                        reply = await http.post("/run", json=body)
                        assert reply.status_code == 200
                    assert (await http.get("/tasks")).status_code == 401
                    assert (await http.post("/", json=body | {"secret": "x"})).status_code == 403

                async def one_is_held() -> bool:
                    return len(held) == 1

                await until(one_is_held)
                first.kill()
                await first.wait()
            sweep(tempfile.gettempdir())  # it may have been killed while it tested its sandbox
            go_on.set()
            async with (
                serving(tmp_path, fake.url, **one_at_once) as (second, url),
                httpx.AsyncClient(
                    base_url=url, headers={"Authorization": "Bearer a token"}
                ) as http,
            ):

                async def all_ended() -> bool:
                    tasks = (await http.get("/tasks")).json()["tasks"]
                    return [task["state"] for task in tasks] == ["finished"] * 2

                await until(all_ended)
                second.send_signal(signal.SIGINT)
                _, err = await second.communicate()
                assert second.returncode == 130
                assert b"Traceback" not in err
    rows = [(row.email, row.page, row.correct) for row in server.grader.rows]
    assert sorted(rows) == sorted((email, page, True) for email in people for page in PAGES)
    kept = (tmp_path / "tasks").glob("tasks.sqlite*")
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in kept)
    records = list(find_records(tmp_path / "tasks"))
    assert len(records) == 2
    for path in records:
        record = RecordFile(path).read()
        assert (list(record.inputs), record.status) == (["Brown", "Brown"], "success")
        assert verify(path).verdict == "reproducible"
        decisions = read_decisions(decisions_path(path)).decisions
        assert sorted(one.question.pointer for one in decisions) == [0, 1]


def wrong(folder: Path, capsys: pytest.CaptureFixture[str], **settings: str) -> str:
    own = {"USER_SECRET": SECRET, "TASK_BASEDIR": str(folder / "tasks")} | settings
    (folder / "env").write_text("".join(f"{name}={value}\n" for name, value in own.items()))
    (folder / "models.yaml").write_text("models: [{name: a, primary: true, command: [echo]}]")
    words = ["--models", str(folder / "models.yaml"), "--folder", str(folder), "--port", "0"]
    assert main(["serve", "--env", str(folder / "env"), *words]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_what_keeps_a_server_from_taking_tasks_is_said_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def start(browser: Browser) -> None:
        """Start none: it is begun beside the database, and no page is visited."""

    monkeypatch.setattr(Browser, "start", start)
    said = wrong(tmp_path, capsys, USER_SECRET="")
    assert "USER_SECRET is not set" in said
    said = wrong(tmp_path, capsys, TASK_DATABASE_URL="postgresql://a:geheim@127.0.0.1:9/tasks")
    assert "cannot reach the database" in said
    assert "geheim" not in said
    said = wrong(tmp_path, capsys, TASK_DATABASE_URL="mysql://127.0.0.1/tasks")
    assert "is not the address of a database for tasks" in said
    said = wrong(tmp_path, capsys, BROWSER_EXECUTABLE="/nope")
    assert "there is no browser '/nope'" in said
    (tmp_path / "open").mkdir(0o755)
    said = wrong(tmp_path, capsys, TASK_BASEDIR=str(tmp_path / "open"))
    assert "others may use it (chmod 700" in said
    broken = tmp_path / "broken.sqlite"
    broken.touch(0o600)
    broken.write_text("no database at all, but long enough to be read as one" * 20)
    said = wrong(tmp_path, capsys, TASK_DATABASE_URL=f"sqlite:///{broken}")
    assert "cannot store tasks" in said

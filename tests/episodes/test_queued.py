"""Runs through the queue: the real database and engine, models that are scripted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.cli import main
from quizlog_tui.episodes.build.build import BuildSettings
from quizlog_tui.episodes.build.make import make
from quizlog_tui.episodes.runs.asking import Solver, WantedRun, runs_folder
from quizlog_tui.episodes.runs.instance import Instance
from quizlog_tui.episodes.runs.model_runs import KIND, MAX_BYTES, answering, by_models, by_queue
from quizlog_tui.episodes.runs.runs import SolverRun, Turn
from quizlog_tui.errors import ConfigError, EpisodeError
from quizlog_tui.queue import client as queue_client
from quizlog_tui.queue.client import Client, connected
from quizlog_tui.queue.engine import Engine, running
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.solver.redaction import Redaction
from tests.queue.conftest import frequent_checks as frequent_checks
from tests.support.build import Build
from tests.support.episode_making import QUIZ, Scripted, ignored, panel_of, record, told, want_of
from tests.support.fake_models import BEHAVIOURS, Exchange, fake_models
from tests.support.serving import serving, until

pytest.importorskip("dbos")
CLEAN = Redaction()


def nothing() -> None:
    pass


@asynccontextmanager
async def host(folder: Path, slots: int = 4, **voices: Scripted) -> AsyncIterator[Engine]:
    """A process that works the queue."""
    work = answering(panel_of(**voices))
    async with running(address(folder), slots, {KIND: work}, CLEAN) as engine:
        yield engine


def address(folder: Path) -> str:
    return f"sqlite:///{folder / 'tasks.sqlite'}"


@asynccontextmanager
async def asker(folder: Path) -> AsyncIterator[Any]:
    """What asks for runs through the queue."""
    async with connected(address(folder), CLEAN, nothing) as client:
        with Replayer() as replayer:
            yield by_queue(client, folder / "e.runs", replayer)


async def test_a_run_is_the_same_whoever_asks_the_models(build: Build, tmp_path: Path) -> None:
    script = build.script(QUIZ)
    here, there = {n: Scripted() for n in "xy"}, {n: Scripted() for n in "xy"}
    wants = [want_of(script, sample, hint) for sample, hint in enumerate(["it is even", None])]
    locally = [await by_models(panel_of(**here))(w, begun=None, keep=ignored) for w in wants]
    async with host(tmp_path, **there), asker(tmp_path) as solve_run:
        seen: list[SolverRun] = []
        runs = [await solve_run(want, begun=None, keep=seen.append) for want in wants]
    assert runs == locally
    assert [run.inputs for run in seen] == [("4",), ("4", "ada")] * 2
    assert {n: there[n].prompts for n in "xy"} == {n: here[n].prompts for n in "xy"}


async def test_answers_that_came_while_nobody_waited_are_not_asked_for_again(
    build: Build, tmp_path: Path
) -> None:
    want, voice = want_of(build.script(QUIZ)), Scripted()
    async with host(tmp_path, x=voice):
        async with asker(tmp_path) as solve_run:
            asked = asyncio.create_task(solve_run(want, begun=None, keep=ignored))
            while not voice.prompts:
                await asyncio.sleep(0.01)
            asked.cancel()
        async with asker(tmp_path) as solve_run:
            run = await solve_run(want, begun=None, keep=ignored)
    assert run.inputs == ("4", "ada")
    assert len(voice.prompts) == 2


async def test_a_lost_answer_is_asked_for_again_by_the_next_who_asks(
    build: Build, tmp_path: Path
) -> None:
    want, kept = want_of(build.script(QUIZ)), []
    async with host(tmp_path, x=Scripted(lost_at=2)), asker(tmp_path) as solve_run:
        lost = await solve_run(want, begun=None, keep=kept.append)
        assert (lost.broken, lost.inputs) == ("no network", ("4",))
        run = await solve_run(want, begun=kept[-1], keep=ignored)
        assert (run.broken, run.inputs) == (None, ("4", "ada"))


async def test_what_a_host_cannot_answer_is_said(build: Build, tmp_path: Path) -> None:
    script = build.script("import os\nname = 'da' + 'ta.txt'\ninput(f'{os.path.exists(name)}? ')")
    (build.folder / "data.txt").touch()
    begun = SolverRun("gone", (Turn("4"),), sample=1)
    async with host(tmp_path, x=Scripted()), asker(tmp_path) as solve_run:
        run = await solve_run(want_of(script), begun=None, keep=ignored)
        assert "asks another question" in (run.broken or "")
        build.script(QUIZ)
        run = await solve_run(want_of(script), begun=begun, keep=ignored)
        assert run == replace(begun, broken="the host has no model 'gone'")


async def test_files_that_the_script_mentions_travel_along(build: Build, tmp_path: Path) -> None:
    script = build.script("print(open('data/two.txt').read())\ninput('2+2? ')")
    (build.folder / "data").mkdir()
    (build.folder / "data" / "two.txt").write_text("two")
    async with host(tmp_path, x=Scripted()), asker(tmp_path) as solve_run:
        run = await solve_run(want_of(script), begun=None, keep=ignored)
        assert (run.inputs, run.broken) == (("4",), None)
        (build.folder / "data" / "two.txt").write_bytes(bytes(MAX_BYTES))
        other = WantedRun(Instance(read_source(script), 8, ()), 1, None)
        with pytest.raises(EpisodeError, match="more than 1 MB"):
            await solve_run(other, begun=None, keep=ignored)


async def test_tasks_with_a_deadline_go_first(tmp_path: Path) -> None:
    order: list[str] = []
    begin = asyncio.Event()

    async def work(task: str) -> dict[str, Any]:
        order.append(task)
        if task == "first":
            await begin.wait()
        return {}

    works = {"runs": work, "tasks": work}
    async with (
        running(address(tmp_path), 1, works, CLEAN) as engine,
        connected(address(tmp_path), CLEAN, nothing) as client,
    ):
        await engine.enqueue("tasks", "first")
        while not order:
            await asyncio.sleep(0.01)
        runs = [asyncio.create_task(client.work("runs", f"run{n}")) for n in range(3)]
        while len(await queued(client)) < 3:
            await asyncio.sleep(0.01)
        await engine.enqueue("tasks", "urgent")
        assert [len(await engine.unfinished_tasks(kind, 9)) for kind in ("tasks", "runs")] == [2, 3]
        begin.set()
        assert [(await run).result for run in runs] == [{}, {}, {}]
    assert order[:2] == ["first", "urgent"]


async def queued(client: Client) -> list[Any]:
    return await client._client.list_workflows_async(name="runs", status="ENQUEUED")


async def test_it_is_said_once_that_nobody_works_the_queue(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_client, "_IDLE_SECONDS", 0.0)
    with pytest.raises(ConfigError, match="does not exist"):
        await connected(address(tmp_path), CLEAN, nothing).__aenter__()
    async with host(tmp_path, x=Scripted()):
        pass
    said = asyncio.Event()
    times: list[None] = []

    def idle() -> None:
        times.append(None)
        said.set()

    async with connected(address(tmp_path), CLEAN, idle) as client:
        waiting = asyncio.create_task(client.work(KIND, "run-1", {}))
        async with asyncio.timeout(60):
            await said.wait()
            await client._check()
        waiting.cancel()
    assert len(times) == 1


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://a:geheim@127.0.0.1:9/t", "cannot queue tasks: connection failed"),
        ("postgresql://a:geheim@127.0.0.1:9", "cannot queue tasks: .*[Dd]atabase name"),
        ("mysql://a:geheim@127.0.0.1:9/t", "is not the address of a database for tasks"),
    ],
)
async def test_a_database_that_cannot_be_used_is_said(url: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as error:
        await connected(url, CLEAN, nothing).__aenter__()
    assert "geheim" not in str(error.value)


async def test_a_question_that_is_removed_is_not_waited_for(tmp_path: Path) -> None:
    async def never(task: str) -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    async with (
        running(address(tmp_path), 1, {"runs": never}, CLEAN),
        connected(address(tmp_path), CLEAN, nothing) as client,
    ):
        waiting = asyncio.create_task(client.work("runs", "one"))
        while not await client._rows(["one"]):
            await asyncio.sleep(0.01)
        await client._client.delete_workflows_async(["one"])
        async with asyncio.timeout(60):
            assert (await waiting).failed == "it was removed from the queue"


async def test_who_waits_is_told_when_waiting_cannot_go_on(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(client: Client) -> None:
        raise ValueError("broken")

    async with host(tmp_path), asker(tmp_path) as solve_run:
        monkeypatch.setattr(Client, "_check", broken)
        with pytest.raises(ValueError, match="broken"):
            await solve_run(want_of(build.script(QUIZ)), begun=None, keep=ignored)


def test_an_episode_is_built_from_the_answers_of_hosts(build: Build, tmp_path: Path) -> None:
    path, output = record(build, "a.yaml"), build.folder / "e.jsonl"

    @asynccontextmanager
    async def opened() -> AsyncIterator[Any]:
        async with host(tmp_path, x=Scripted(), y=Scripted()), asker(tmp_path) as solve_run:
            yield solve_run

    assert (
        make([path], output, BuildSettings(), told, solver=Solver(opened, 64), runs=4).verified == 1
    )
    assert len(list(runs_folder(output).rglob("run-*.json"))) == 4


async def test_runs_go_on_when_the_server_that_answers_them_is_killed(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    go_on, held = asyncio.Event(), []

    async def ada(x: Exchange) -> None:
        asked = json.dumps(x.body).rpartition("question")[2]
        if "name?" in asked and not go_on.is_set():
            held.append(x.nth)
            await go_on.wait()
        await x.say(json.dumps({"answer": "ada" if "name?" in asked else 4}))

    monkeypatch.setitem(BEHAVIOURS, "ada", ada)
    path, output = record(build, "a.yaml"), build.folder / "e.jsonl"
    words = ["episodes", "build", str(path), "-o", str(output), "--json"]
    words += ["--runs", "3", "--queue", "--env", str(tmp_path / "env")]
    async with fake_models() as fake:
        async with serving(tmp_path, fake.url) as (first, _):
            asker = asyncio.create_task(asyncio.to_thread(main, words))

            async def two_are_held() -> bool:
                return len(held) == 2

            await until(two_are_held)
            first.kill()
            await first.wait()
        go_on.set()
        async with serving(tmp_path, fake.url):
            async with asyncio.timeout(120):
                status = await asker
    out, err = capfd.readouterr()
    assert (status, json.loads(out)["verified"]) == (0, 1), err
    runs = [json.loads(file.read_bytes()) for file in runs_folder(output).rglob("*.json")]
    assert [[turn["answer"] for turn in run["turns"]] for run in runs] == [["4", "ada"]] * 4


def test_words_that_contradict_the_queue_are_refused(build: Build, capfd: Any) -> None:
    path = str(record(build, "a.yaml"))
    (build.folder / "env").write_text(f"TASK_BASEDIR={build.folder / 'tasks'}\n")
    words = ["episodes", "build", path, "-o", str(build.folder / "e.jsonl")]
    words += ["--queue", "--env", str(build.folder / "env")]
    for more, said in (
        ([], "--queue without --runs"),
        (["--runs", "2", "--models", "m.yaml"], "--queue and --models cannot be combined"),
        (["--runs", "2", "--unsafe-local"], "leave --unsafe-local out"),
        (["--runs", "2"], "does not exist (start `quizlog serve`"),
    ):
        assert main([*words, *more]) == 2
        err = capfd.readouterr()[1]
        assert said in err and err.count("\n") == 1

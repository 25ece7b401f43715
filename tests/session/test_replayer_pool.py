"""Replayers stay warm within a bound, and cooling changes no answer."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from quizlog_tui.session import replayer_pool as module
from quizlog_tui.session.open_sessions import OpenSessions
from quizlog_tui.session.replayer_pool import ReplayerPool
from quizlog_tui.session.served_folders import served
from tests.support.build import Build
from tests.support.sittings import SUMS


@pytest.fixture
def replayers(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReplayerPool]:
    monkeypatch.setattr(module, "_memory_is_short", lambda: False)  # whatever else runs here
    replayers = ReplayerPool(4)
    yield replayers
    replayers.close()


def test_the_coldest_are_cooled_beyond_the_bound(replayers: ReplayerPool, build: Build) -> None:
    script = build.script(SUMS)
    slots = [replayers.slot(script, seed) for seed in range(7)]
    for _ in range(2):
        for seed, slot in enumerate(slots):
            with replayers.using(slot) as replayer:
                assert replayer.replay(script, seed, ["4"]).next_prompt == "3 + 3 = "
            assert replayers.processes <= 4
            assert replayers.processes == sum(slot.replayer.processes for slot in slots)
    assert slots[-1].held
    assert not slots[0].held


def test_one_that_works_is_not_cooled(replayers: ReplayerPool, build: Build) -> None:
    script = build.script(SUMS)
    busy = replayers.slot(script, 0)
    with replayers.using(busy) as replayer:
        replayer.replay(script, 0, [])
        for seed in range(1, 6):
            with replayers.using(replayers.slot(script, seed)) as other:
                other.replay(script, seed, ["4"])
        assert replayer.processes
    assert replayers.processes <= 4 + busy.held


def test_the_run_of_several_users_is_not_stopped(
    replayers: ReplayerPool, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    slot, stopped = replayers.slot(build.script(SUMS), 0), []
    monkeypatch.setattr(slot.replayer, "cancel", lambda: stopped.append(slot.users))
    with replayers.using(slot):
        with replayers.using(slot):
            replayers.stop(slot)
        replayers.stop(slot)
    replayers.stop(slot)
    assert stopped == [1]


def test_one_script_and_seed_have_one_replayer(replayers: ReplayerPool, build: Build) -> None:
    script = build.script(SUMS)
    assert replayers.slot(script, 1) is replayers.slot(script, 1)
    assert replayers.slot(script, 1) is not replayers.slot(script, 2)
    gc.collect()
    assert not replayers._known


def test_little_memory_cools(
    replayers: ReplayerPool, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = build.script(SUMS)
    monkeypatch.setattr(module, "_memory_is_short", lambda: True)
    with replayers.using(replayers.slot(script, 1)) as replayer:
        replayer.replay(script, 1, [])
    assert replayers.processes == 0


def test_memory_can_be_read() -> None:
    assert module._memory_is_short() in (True, False)


async def test_sessions_beyond_the_bound_are_opened_again(build: Build) -> None:
    build.record(SUMS)
    for name in "abc":
        (build.folder / f"{name}.yaml").write_bytes((build.folder / "record.yaml").read_bytes())
    sessions = OpenSessions(served([build.folder]), ReplayerPool(), most=2)
    for _ in range(2):
        for name in "abc":
            path = build.folder.resolve() / f"{name}.yaml"
            await sessions.move(path, lambda session: session.reply())
            assert len(sessions) <= 2
    sessions.close()

"""A step begun without waiting leads where the same step leads that is waited for."""

from __future__ import annotations

import select
from collections.abc import Iterator, Sequence

import pytest

from quizlog_tui.errors import LimitError
from quizlog_tui.replay.pending_step import PendingStep
from quizlog_tui.replay.process.limits import Limits
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.source import Source, read_source
from quizlog_tui.replay.transcript import Transcript
from tests.support.build import Build
from tests.support.corpus import CORPUS

LOOP = """
    import os, sys
    for i in range(9):
        said = input(f"{i}? ")
        if said == "stop":
            raise Exception("stopped")  #score = 0.5
        while said == "spin":
            pass
        if said == "die":
            os.kill(os.getpid(), 9)
"""


@pytest.fixture
def replayer() -> Iterator[Replayer]:
    with Replayer(Limits(seconds=20)) as replayer:
        yield replayer


def stepped(replayer: Replayer, source: Source, inputs: Sequence[str]) -> Transcript:
    """By `begin` where that is possible."""
    found = replayer.begin(source, 1, inputs)
    if isinstance(found, PendingStep):
        select.select([found], [], [])
        found.asks()
        found = found.finish()
    return found or replayer.replay(source, 1, inputs)


@pytest.mark.parametrize("name", CORPUS)
def test_every_shape_of_script_goes_where_a_plain_replay_goes(
    name: str, build: Build, replayer: Replayer
) -> None:
    text, answers = CORPUS[name]
    source = read_source(build.script(text))
    for count in (*range(len(answers) + 1), *range(len(answers) + 1)):
        inputs = answers[:count]
        assert stepped(replayer, source, inputs) == replay(source, 1, inputs)


@pytest.mark.parametrize("last", ["on", "stop", "die"])
def test_a_live_run_takes_one_more_answer(last: str, build: Build, replayer: Replayer) -> None:
    source = read_source(build.script(LOOP))
    assert replayer.begin(source, 1, ["a"]) is None
    replayer.replay(source, 1, ["a"])
    assert replayer.begin(source, 1, ["a", "b", "c"]) is None
    assert isinstance(replayer.begin(source, 1, []), Transcript)
    begun = replayer.begin(source, 1, ["a", last])
    assert isinstance(begun, PendingStep)
    assert replayer.begin(source, 1, ["a"]) is None  # somebody has the replayer
    select.select([begun], [], [])
    assert begun.asks() == (last == "on")
    assert begun.finish() == replay(source, 1, ["a", last])
    assert isinstance(replayer.begin(source, 1, ["a", last]), Transcript)


def test_a_step_without_end_meets_the_limit_and_gives_the_replayer_back(build: Build) -> None:
    source = read_source(build.script(LOOP))
    with Replayer(Limits(seconds=0.5)) as replayer:
        replayer.replay(source, 1, ["a"])
        begun = replayer.begin(source, 1, ["a", "spin"])
        assert isinstance(begun, PendingStep)
        with pytest.raises(LimitError):
            begun.finish()
        assert replayer.replay(source, 1, ["a", "b"]).next_prompt == "2? "


def test_a_step_that_is_abandoned_is_as_if_never_begun(build: Build, replayer: Replayer) -> None:
    source = read_source(build.script(LOOP))
    replayer.replay(source, 1, ["a"])
    begun = replayer.begin(source, 1, ["a", "spin"])
    assert isinstance(begun, PendingStep)
    begun.abandon()
    assert replayer.replay(source, 1, ["a", "b"]).next_prompt == "2? "

"""A message with a number or text that cannot be true is refused, or makes a bounded text."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from quizlog_tui.cli import steps as steps_command
from quizlog_tui.errors import ProtocolError
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.replay.live_run import LiveRun
from quizlog_tui.replay.process.channel import CapturedOutput, WrittenText
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.process.protocol import (
    MOST_PARTS,
    Violation,
    WorkerReport,
    check_prompts,
    parse,
    read_json,
)
from quizlog_tui.replay.process.spawn import _CONTROL
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.script.source import Source, read_source
from quizlog_tui.session.timeline import timeline
from tests.support.build import Build
from tests.support.hostile_json import others
from tests.support.messages import FINISHED, told

STEP = ["? ", 1, ["a\n", [2, 5]], 7, 0, 0.25, ["? "], "helper.py:1"]
RAISED = ["raised", "ValueError", "x", [[1, 2, ""], [1, 1, "helper.py"]]]
ASKS = ["asking", [STEP], FINISHED, None, ["thread"], ["utf-8", ""]]
ENDS = ["ended", [[None, *STEP[1:]]], RAISED, "it forked", [], None]
NOTICES = [
    ["born", 12],
    ["place", "overlay", "landlock"],
    ["straying"],
    ["unshut", "no"],
    ["refused", "it forked"],
    ["looked", "{}"],
    ["code", 1, "script", ["a"], "a + 1"],
]


@pytest.fixture
def source(build: Build) -> Source:
    build.script("input('? ')  # number\n", name="helper.py")
    return read_source(build.script("input('? ')  # score = 0.5\n"))


@pytest.fixture
def output() -> Iterator[Any]:
    """Makes the streams of a process that has written seven bytes."""
    out, err = os.memfd_create("out"), os.memfd_create("err")
    os.write(out, b"a\nbcd? ")
    yield lambda: CapturedOutput(out, err, 0)
    os.close(out)
    os.close(err)


def told_steps(report: WorkerReport, source: Source, output: CapturedOutput) -> str:
    """What `quizlog steps` shows of a run that sent this report."""
    check_prompts(report)
    output.check(report.steps)
    process = SimpleNamespace(
        alive=report.kind != "ended", exit_code=None, refused=None, written=WrittenText(),
        taint=report.taint, observed=tuple(report.observed), seen=(), unavailable=(), output=output,
        family=SimpleNamespace(has_stranger=lambda: False), reports=lambda: iter([report]),
    )  # fmt: skip
    run = LiveRun(source, Limits(), process).grow([])  # type: ignore[arg-type]
    record = Record("quiz.py", 1, AppendOnlyList(), 0)
    moments = timeline(run, record, "main")
    error = "" if run.last_error is None else str(run.last_error)
    return "\n".join(steps_command._lines(moments, run, {})) + error


@pytest.mark.parametrize("sent", [ASKS, ENDS], ids=["asks", "ends"])
def test_a_report_with_one_thing_changed_is_shown_or_refused(
    sent: list[Any], source: Source, output: Any
) -> None:
    taken = 0
    for text in others(sent):
        try:
            report = parse(text.encode())
            assert isinstance(report, WorkerReport)
            assert len(told_steps(report, source, output())) < 3_000_000
        except Violation as violation:
            assert len(str(violation)) < 200
            continue
        taken += 1
    assert taken > 30
    report = parse(told(sent))
    assert isinstance(report, WorkerReport)
    assert "line 1 (helper.py:1)" in told_steps(report, source, output())


@pytest.mark.parametrize("sent", NOTICES, ids=[one[0] for one in NOTICES])
def test_a_notice_with_one_thing_changed_is_read_or_refused(sent: list[Any]) -> None:
    parse(told(sent))
    for text in others(sent):
        try:
            message = parse(text.encode())
        except Violation as violation:
            assert len(str(violation)) < 200
            continue
        numbers = [one for one in vars_of(message) if isinstance(one, int)]
        assert all(0 <= one < 2**31 and type(one) is int for one in numbers)


def vars_of(message: Any) -> list[Any]:
    return [getattr(message, name) for name in getattr(message, "__slots__", ())]


def test_many_small_values_are_refused_unread_but_not_those_in_a_text() -> None:
    empty = "[" + "[]," * MOST_PARTS + "[]]"
    with pytest.raises(ValueError, match="too many values"):
        read_json(empty)
    assert len(read_json(empty, more_parts=2 * MOST_PARTS)) == MOST_PARTS + 1
    for text in ("[,{" * MOST_PARTS, '\\"[' * MOST_PARTS, "\\\\"):
        assert read_json(json.dumps([text])) == [text]
    with pytest.raises(ValueError, match="too many values"):
        read_json('["\\\\", ' + "[]," * MOST_PARTS + "[]]")


@pytest.mark.parametrize(
    "step",
    [
        '["q", 10000000000000000000, [], 8, 0, 0.1, [], ""]',
        '["q", 2147483648, [], 8, 0, 0.1, [], ""]',
        '["q", 1, [], 8, 0, 1e999, [], ""]',
        '["q", 1, [], 8, 0, NaN, [], ""]',
        '["q", true, [], 8, 0, 0.1, [], ""]',
    ],
)
def test_a_script_that_sends_such_a_number_is_ended(step: str, build: Build) -> None:
    script = build.script(f"""\
        import os
        data = b'["asking", [{step}], ["finished", null, null, []], null, [], null]'
        input("go? ")
        os.write({_CONTROL}, len(data).to_bytes(4, "little") + data)
        input("? ")
        """)
    with Replayer() as replayer, pytest.raises(ProtocolError, match="broke the protocol"):
        replayer.replay(script, 1, ["1"])

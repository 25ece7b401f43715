"""What a script sends in place of a look is shown in a bounded text, or refused in one line."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.cli import inspect as inspect_command
from quizlog_tui.cli import main
from quizlog_tui.debug.inspection import Inspection, ValuePath, inspection_from, trace_from
from quizlog_tui.debug.inspection_text import inspection_lines
from quizlog_tui.errors import ProtocolError
from quizlog_tui.replay.script.source import Source
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.hostile_json import others

_MOST = 1_100_000
"""Maximum characters of a text with one hostile value; an expression may have a million."""
VARIABLE = {"name": "a", "type": "int", "text": "1", "size": 1, "shape": [2, 3], "children": 0}
RAISED = {
    "type": "KeyError", "message": "'k'", "notes": ["a note"], "place": ["", 1],
    "cause": None, "relation": None, "group": [],
}  # fmt: skip
OPENED = [ValuePath(None, "a"), ValuePath(0, "b", (1, 2))]
INSPECTION = {
    "at": "question",
    "frames": [
        {"function": "f", "file": "", "line": 1, "folded": 1, "variables": [VARIABLE]}
        | {"more": 1, "skipped": 1},
    ],
    "globals": [VARIABLE],
    "more_globals": 1,
    "changed": {
        "added": ["b"],
        "new": [{"frame": None, "name": "b"}],
        "changed": [{"frame": 0, "name": "c", "before": "1", "after": "2"}],
        "gone": ["d"],
    },
    "lines": [["", 1]],
    "error": RAISED | {"cause": RAISED, "relation": "cause", "group": [RAISED]},
    "names": ["a"],
    "opened": [
        {
            "children": [VARIABLE],
            "more": 3,
            "table": {"columns": ["x"], "rows": [["1"]], "more_columns": 0},
            "error": None,
        },
        {"children": [], "more": 0, "table": None, "error": "there is no child 2"},
    ],
    "expressions": [
        {"text": "a", "value": VARIABLE, "stdout": "x", "error": None},
        {"text": "b", "value": None, "stdout": "", "error": {"message": "no", "line": 1}},
    ],
}
TRACE = {"events": [["", 1, "f", 2, {"x": "1"}]], "truncated": False}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path / "quiz.py", b"input('? ')\n")


def shown(found: Any) -> str:
    """What the commands show of an inspection or a trace."""
    if hasattr(found, "events"):
        lines = inspect_command._traced_lines(found, Source(Path("quiz.py"), b"input('? ')"))
    else:
        lines = inspection_lines(found)
    return "\n".join(lines)


def read_inspection(text: str, step: int, source: Source) -> Inspection:
    return inspection_from(text, step, source, OPENED)


@pytest.mark.parametrize(("sent", "read"), [(INSPECTION, read_inspection), (TRACE, trace_from)])
def test_a_look_with_one_thing_changed_is_shown_or_refused(
    sent: Any, read: Any, source: Source
) -> None:
    taken = 0
    for text in others(sent):
        try:
            found = read(text, 0, source)
        except ProtocolError as error:
            assert "\n" not in str(error)
            continue
        taken += 1
        assert len(shown(found)) <= _MOST
        assert len(json.dumps(found.to_dict())) <= 2 * _MOST
        shown(found).encode()
    assert taken > 10
    assert shown(read(json.dumps(sent), 0, source))


@pytest.mark.parametrize(
    ("at", "least", "most"),
    [("depth", 0, 1000), ("line", 0, 2**31 - 1)],
)
def test_a_number_has_its_bounds(at: str, least: int, most: int, source: Source) -> None:
    place = {"line": 1, "depth": 3}[at]
    for number in (least - 1, least, most, most + 1, True, float(least)):
        event: list[Any] = ["", 1, "f", 0, {}]
        event[place] = number
        text = json.dumps({"events": [event], "truncated": False})
        if type(number) is int and least <= number <= most:
            assert getattr(trace_from(text, 0, source).events[0], at) == number
        else:
            with pytest.raises(ProtocolError):
                trace_from(text, 0, source)


def test_a_long_line_of_a_script_is_cut(tmp_path: Path) -> None:
    source = Source(tmp_path / "quiz.py", b"    x = '" + b"y" * 1_000_000 + b"'\n")
    frame = {"function": "f", "file": "", "line": 1, "folded": 0, "variables": []}
    frame |= {"more": 0, "skipped": 0}
    text = json.dumps(INSPECTION | {"frames": [frame] * 200})
    assert len(shown(read_inspection(text, 0, source))) < 300_000


FORGES_DEPTH = """\
    import sys, os, stat, json
    def is_socket(fd):
        try:
            return stat.S_ISSOCK(os.fstat(fd).st_mode)
        except OSError:
            return False
    depth = input("depth? ")
    if sys.gettrace() is not None:
        sys.settrace(None)
        look = {"events": [["", 1, "f", int(depth), {"x": "1"}]], "truncated": False}
        data = json.dumps(["looked", json.dumps(look)]).encode()
        channel = next(fd for fd in range(3, 300) if is_socket(fd))
        os.write(channel, len(data).to_bytes(4, "little") + data)
    input("more? ")
    """


@pytest.mark.parametrize("depth", [10**19, 2 * 10**8])
def test_a_forged_depth_ends_the_command_with_one_line(
    depth: int, build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    with Session(build.record(FORGES_DEPTH)) as session:
        session.answer(str(depth))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert main(["trace", str(build.folder / "record.yaml"), "1"]) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.endswith(f"{os.sep}quiz.py: sent no readable trace at step 1\n")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * 1024


ODD = """\
    import sys
    class Array:
        def __init__(self, *shape): self.shape = shape
    Array.__module__ = "numpy"
    Array.__qualname__ = "A" * 100_000
    huge, negative, wide = Array(10**400), Array(-1), Array(*range(100_000))
    plain = Array(2, 3)
    globals()["n" * 100_000] = 1
    def deep(n):
        return deep(n - 1) if n else input("? ")
    sys.setrecursionlimit(5000)
    deep(2000)
    """


def test_an_honest_look_at_odd_values_keeps_to_the_bounds(build: Build) -> None:
    with Session(build.record(ODD)) as session:
        found = session.inspect(0, expressions=["raise SyntaxError('no', ('x', -1, 0, ''))"])
        names = {one.name[:20]: one for one in found.globals}
        assert names["plain"].shape == (2, 3)
        assert {names[one].shape for one in ("huge", "negative", "wide")} == {None}
        assert found.expressions[0].error is not None
        assert found.expressions[0].error.line is None
        events = session.trace(0).events
        assert max(one.depth for one in events) == 1000
        assert len(events) > 2000

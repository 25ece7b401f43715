"""A record as text: the specification's example loads, wrong fields are named, growing is writing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.errors import RecordError
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.branches import BranchEnd, answered, forked, rewound
from quizlog_tui.record.document import Rendering, from_text, to_mapping, to_text
from quizlog_tui.record.model import LastError, Record

EXAMPLE = """\
{
  "script": "example.py",
  "output": "logfile.yaml",
  "seed": 123456,
  "status":"in-progress",
  "code_hash": "abc123def456...",
  "inputs": ["2", "4", "YES", "[[1,0],[0,1]]"],
  "pointer": 4,
  "print": ["message1", "message2"],
  "last_error": {
    "message": "UUᵀ ≠ A",
    "line": 12,
    "score": 0.4
  }
}
"""


def test_the_example_of_the_specification_loads_as_it_is() -> None:
    record = from_text(EXAMPLE, "record.yaml")
    assert record.script == "example.py"
    assert list(record.inputs) == ["2", "4", "YES", "[[1,0],[0,1]]"]
    assert (record.seed, record.pointer, record.status) == (123456, 4, "in_progress")
    assert record.print == ("message1", "message2")
    assert record.last_error is not None
    assert (record.last_error.message, record.last_error.line) == ("UUᵀ ≠ A", 12)
    assert record.last_error.score == 0.4
    assert (record.output, record.code_hash) == ("logfile.yaml", "abc123def456...")


@pytest.mark.parametrize("name", ["record.yaml", "record.json"])
def test_everything_survives_a_rewrite(name: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    text = (
        EXAMPLE.rstrip()[:-1]
        + """,
      "start_time": "2025-01-01T00:00:00Z", "execution_id": "x-1", "mine": {"deep": [1, null, "NO"]},
      "feedback": [{"at": 1, "text": "good"}], "branch": "b",
      "branches": {"main": {"at": 0, "inputs": ["9"], "odd": true}, "b": {"parent": "main", "at": 0, "note": "n"}}
    }"""
    )
    record = from_text(text, name)
    again = from_text(to_text(to_mapping(record), tmp_path / name), name)
    assert again == record
    assert again.extras["mine"] == {"deep": [1, None, "NO"]}
    assert again.branches["main"].extras == {"odd": True}


WRONG = {
    "no mapping": ("- a\n- b\n", "must be a mapping, is a list"),
    "text only": ("hello\n", "must be a mapping, is text"),
    "no script": ("seed: 1\n", "`script` is missing"),
    "no seed": ("script: x\n", "`seed` is missing"),
    "seed text": ("script: x\nseed: '1'\n", "r.yaml:2: seed: must be a whole number, is text"),
    "seed bool": ("script: x\nseed: true\n", "seed: must be a whole number, is true/false"),
    "seed null": ("script: x\nseed:\n", "seed: must be a whole number, is empty"),
    "inputs text": ("script: x\nseed: 1\ninputs: abc\n", "inputs: must be a list, is text"),
    "input number": (
        "script: x\nseed: 1\ninputs:\n- a\n- 1:30\n",
        "r.yaml:5: inputs[1]: must be text, is a whole number",
    ),
    "input bool": ("script: x\nseed: 1\ninputs: [NO]\n", "must be text, is true/false"),
    "input cut off": ("script: x\nseed: 1\ninputs:\n- a\n- ", "inputs[1]: must be text, is empty"),
    "pointer negative": ("script: x\nseed: 1\npointer: -1\n", "pointer: must not be negative"),
    "pointer past": ("script: x\nseed: 1\ninputs: [a]\npointer: 2\n", "is 2, past the 1 inputs"),
    "pointer float": ("script: x\nseed: 1\npointer: 1.5\n", "pointer: must be a whole number"),
    "status": ("script: x\nseed: 1\nstatus: done\n", "unknown status 'done'"),
    "print": ("script: x\nseed: 1\nprint: [1]\n", "print[0]: must be text"),
    "last_error": ("script: x\nseed: 1\nlast_error: oops\n", "last_error: must be a mapping"),
    "score": (
        "script: x\nseed: 1\nlast_error: {score: high}\n",
        "last_error.score: must be a number",
    ),
    "start_time": ("script: x\nseed: 1\nstart_time: 5\n", "r.yaml:3: start_time: must be text"),
    "world": ("script: x\nseed: 1\nworld: {}\n", "world: must be a list, is a mapping"),
    "world entry": ("script: x\nseed: 1\nworld: [1]\n", "world[0]: must be text"),
    "who": ("script: x\nseed: 1\nwho: me\n", "who: must be a list, is text"),
    "branches": ("script: x\nseed: 1\nbranches: [a]\n", "branches: must be a mapping"),
    "branch parent": (
        "script: x\nseed: 1\nbranches: {b: {parent: nobody, at: 0}}\n",
        "branches.b.parent: there is no branch 'nobody'",
    ),
    "branch cycle": (
        "script: x\nseed: 1\nbranches: {a: {parent: b, at: 0}, b: {parent: a, at: 0}}\n",
        "is its own ancestor",
    ),
    "branch at": (
        "script: x\nseed: 1\nbranches: {a: {parent: main, at: 3}}\n",
        "branches.a.at: is 3, past the end",
    ),
    "active branch": (
        "script: x\nseed: 1\nbranch: z\nbranches: {a: {at: 0, inputs: []}}\n",
        "there is no branch 'z'",
    ),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        from_text(text, "r.yaml")
    assert message in str(caught.value)
    assert caught.value.hint
    assert "\n" not in str(caught.value)


def test_a_missing_pointer_means_all_answers_are_used() -> None:
    assert from_text("script: x\nseed: 1\ninputs: [a, b]\n", "r").pointer == 2


MOVES = st.lists(
    st.tuples(
        st.sampled_from(["answer", "rewind", "fork", "print"]),
        st.integers(0, 5),
        st.text(max_size=4),
    ),
    max_size=12,
)


@given(MOVES)
def test_growing_text_reads_back_as_the_record(moves: list[tuple[str, int, str]]) -> None:
    rendering, record = Rendering(), Record("q.py", 1, extras={"mine": [1]})
    for move, number, text in moves:
        at = min(number, len(record.inputs))
        match move:
            case "answer":
                record = answered(record, at, text, BranchEnd())
            case "rewind":
                record = rewound(record, at)
            case "fork":
                record = forked(record, at, text, None, BranchEnd())
            case "print":
                record = replace(
                    record, print=record.print.upto(number).then(text), last_error=LastError(text)
                )
        written = rendering.text(record)
        assert from_text(written, "r") == from_text(
            to_text(to_mapping(record), Path("r.yaml")), "r"
        )
        assert from_text(written, "r") == rendered_anew(record)


def rendered_anew(record: Record) -> Record:
    return from_text(Rendering().text(record), "r")


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 9)), max_size=20))
def test_a_series_is_immutable_to_its_holders(moves: list[tuple[int, int]]) -> None:
    held: list[tuple[AppendOnlyList[int], list[int]]] = [(AppendOnlyList(), [])]
    for pick, value in moves:
        series, items = held[pick % len(held)]
        if value < 7:
            held.append((series.then(value), [*items, value]))
        else:
            cut = value % (len(items) + 1)
            held.append((series.upto(cut), items[:cut]))
        for series, items in held:
            assert list(series) == items
            assert series == AppendOnlyList(items)
            assert [series[i] for i in range(len(series))] == items

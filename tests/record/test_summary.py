"""Summaries and previews: the same from a skim as from a whole reading, and never an exception."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quizlog_tui.record import summary as module
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.document import Rendering
from quizlog_tui.record.feedback import Feedback, added
from quizlog_tui.record.model import LastError, Record, Status
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.summary import Preview, Summary, find_records, preview, summary
from tests.record.moves import RECORDS

TEXT = st.text(max_size=6) | st.sampled_from(
    ["\npointer: 3\n", "\nlast_error:\n  score: 0.9\n", "\nbranches:\n  x:\n", "- ", "\n- ", '"']
)
STATES: list[Status] = ["in_progress", "success", "error"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RECORDS, st.sampled_from(STATES), st.lists(TEXT, max_size=4), TEXT, TEXT)
def test_a_skim_finds_what_reading_finds(
    tmp_path: Path, record: Record, status: Status, printed: list[str], script: str, output: str
) -> None:
    error = LastError("\n  score: 0.7\n", 3, 0.25) if status == "error" else None
    record = replace(
        record,
        script=script,
        output=output,
        status=status,
        print=AppendOnlyList(printed),
        last_error=error,
        code_hash="sha256:00",
        extras={**record.extras, "branch2": {"score": 1}, "other": printed},
    )
    path = tmp_path / "record.yaml"
    path.write_bytes(Rendering().text(record).encode())
    assert module._skimmed(path, 5.0) == module._read(path, 5.0)


def test_a_summary_says_what_a_library_shows(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    inputs = AppendOnlyList(["a", "b", "c"])
    RecordFile(path).create(
        Record("quiz.py", 7, inputs, 2, "error", last_error=LastError("no", 1, 0.4))
    )
    os.utime(path, (100, 100))
    expected = Summary(path, "quiz.py", "error", 0.4, 2, 3, 1, 7, 100.0, error="no")
    assert summary(path) == expected


def test_a_big_record_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.yaml"
    big = Record(
        "q.py", 1, AppendOnlyList(["x" * 10] * 20_000), 5, print=AppendOnlyList(["y" * 100] * 5000)
    )
    RecordFile(path).create(added(big, Feedback(0, text="fine")))

    def fail(*_: object) -> None:
        raise AssertionError("the whole record was parsed")

    monkeypatch.setattr(RecordFile, "read", fail)
    found = summary(path)
    assert (found.used, found.recorded, found.branches, found.problem) == (5, 20_000, 1, None)


def test_a_big_record_of_another_layout_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    RecordFile(path).create(Record("q.py", 1, AppendOnlyList(["x" * 10] * 20_000), 5))
    found = summary(path)
    assert (found.used, found.recorded, found.problem) == (5, 20_000, None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"script: q.py\nseed: [\n", "line 3: not valid YAML"),
        (b"script: q.py\nseed: x\n", "line 2: seed: must be a whole number"),
        (b"\xff\xfescript seed", "line 1: is not UTF-8"),
        (b"script: q.py\nseed: 1\npointer: 4\n", "past the 0 inputs"),
        (b"[" * 5000, "nested deeper"),
        (b'script: "q.py"\nseed: 1\nstatus: "error"\ninputs:\n' + b'- "x"\n' * 20_000, ""),
        (b'script: "q.py"\nseed: 1\nstatus: "error"\ninputs:\n' + b'- "x"\n' * 20_000 + b"pointer: 99999\nprint: []\n", "past the 20000 inputs"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_so_in_one_line(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_bytes(content)
    found = summary(path)
    assert said in (found.problem or "")
    assert "\n" not in (found.problem or "") and (found.problem is None) == (not said)
    assert found.changed > 0


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    assert summary(tmp_path / "pipe.yaml").problem == "is not a file"
    assert summary(tmp_path).problem == "is not a file"
    assert summary(tmp_path / "gone.yaml").problem == "cannot read: No such file or directory"
    assert "cannot read" in (summary(tmp_path / "loop.yaml").problem or "")
    assert list(find_records(tmp_path)) == []


@given(
    st.binary(max_size=300)
    | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace"))
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_content_raises(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.yaml"
    path.write_bytes(content)
    summary(path)
    module._skimmed(path, 0.0)
    list(find_records(tmp_path))


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    RecordFile(path).create(Record("q.py", 1))
    return path


def test_records_are_found_at_any_depth_in_order(tmp_path: Path) -> None:
    deep = put(tmp_path / "b" / "c" / "d" / "e" / "f" / "r.yaml")
    found = [put(tmp_path / "a" / "r.json"), deep, put(tmp_path / "z" / "r.yml")]
    first = put(tmp_path / "z.yaml")
    for name in (".git", ".venv", "node_modules", "__pycache__", "venv"):
        put(tmp_path / name / "r.yaml")
    (tmp_path / "notes.yaml").write_text("title: nothing of ours\n")
    (tmp_path / "folder.yaml").mkdir()
    assert list(find_records(tmp_path)) == [first, *found]
    assert list(find_records(tmp_path / ".git")) == [tmp_path / ".git" / "r.yaml"]


def test_links_are_entered_once(tmp_path: Path) -> None:
    real = put(tmp_path / "a" / "r.yaml")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    elsewhere = put(tmp_path.parent / f"{tmp_path.name}-other" / "r.yaml")
    (tmp_path / "c").symlink_to(elsewhere.parent)
    assert list(find_records(tmp_path)) == [real, tmp_path / "c" / "r.yaml"]


def test_records_are_found_one_by_one(tmp_path: Path) -> None:
    put(tmp_path / "a.yaml")
    found = find_records(tmp_path)
    assert next(found).name == "a.yaml"
    assert list(find_records(tmp_path / "nowhere")) == []


def test_a_result_file_is_no_record(tmp_path: Path) -> None:
    from quizlog_tui.record.document import to_text

    data = {"script": "q.py", "seed": 1, "code_hash": "x", "branch": "main", "status": "success"}
    for name in ("result.yaml", "result.json"):
        (tmp_path / name).write_text(to_text(data, tmp_path / name))
    assert list(find_records(tmp_path)) == []


def test_files_that_cannot_be_read_are_listed_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "utf16.yaml").write_bytes("script: q.py\nseed: 1\n".encode("utf-16"))
    (tmp_path / "latin.yaml").write_bytes(b"script: caf\xe9.py\nseed: 1\n")
    (tmp_path / "other.yaml").write_text("services: é" + "é" * 5000)
    (tmp_path / "folder.yaml").mkdir()
    problems = {one.name: summary(one).problem or "" for one in find_records(tmp_path)}
    assert sorted(problems) == ["latin.yaml", "utf16.yaml"]
    assert all("not UTF-8 text" in problem for problem in problems.values())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_the_right_to_read_it_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "locked.yaml"
    path.write_text("script: q.py\nseed: 1\n")
    path.chmod(0)
    assert [summary(one).problem for one in find_records(tmp_path)] == [
        "cannot read: Permission denied"
    ]


def big(path: Path, count: int, pointer: int) -> Path:
    numbers = [str(number) for number in range(count)]
    record = Record("quiz.py", 7, AppendOnlyList(numbers), pointer)
    trail = AppendOnlyList([f"0123456789ab Question {n}? " for n in range(count + 1)])
    told = record.but(
        print=AppendOnlyList([f"line {n}" for n in range(count)]),
        trail=trail,
        status="in_progress",
        extras={"feedback": [{"at": 1, "verdict": "wrong", "author": "ann", "text": "odd"}]},
    )
    RecordFile(path).create(told)
    return path


def test_only_the_ends_of_long_lists_are_parsed(tmp_path: Path) -> None:
    path = big(tmp_path / "big.yaml", 9000, 8998)
    short, count = module._shortened(path.read_bytes())
    assert count == 9000
    assert path.stat().st_size > 20 * len(short)
    found = preview(summary(path))
    assert found.question == "Question 8998? "
    assert found.printed[-1] == "line 8999" and len(found.printed) == module._ENDS
    assert [(note.author, note.verdict) for note in found.notes] == [("ann", "wrong")]


def test_an_error_and_the_scores_of_branches_are_previewed(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    error = LastError("no", 3, 0.5)
    RecordFile(path).create(
        Record("quiz.py", 7, AppendOnlyList(["x"]), 1, status="error", last_error=error)
    )
    found = preview(summary(path))
    assert (found.error, found.line, found.scores, found.question) == ("no", 3, (0.5,), None)


def test_what_cannot_be_read_has_an_empty_preview(tmp_path: Path) -> None:
    for name, data in (("a.yaml", b"\xff"), ("b.yaml", b"- 1\n"), ("c.yaml", b"a: [")):
        (tmp_path / name).write_bytes(data)
        assert preview(summary(tmp_path / name)) == Preview()
    assert preview(summary(tmp_path / "gone.yaml")) == Preview()

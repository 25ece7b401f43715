"""The index of an episodes file: every line is found, and a head says what the whole line says."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.episodes.format.hashing import to_line
from quizlog_tui.episodes.read import index
from quizlog_tui.episodes.read.index import (
    BROKEN,
    STATES,
    UNVERIFIED,
    VERIFIED,
    EpisodeFile,
    Head,
    episode_files,
)
from quizlog_tui.errors import EpisodeError
from tests.episodes.support import episode

GOOD = to_line(episode(("4", "more", "end"), [("4", "end"), ("4", "end"), ("4", "a")]))
BAD = to_line(episode(("4", "end"), []))
HEAD = Head(VERIFIED, "Welcome\nWhat is 2 + 2?", "EASY", 3, "2/3")


def opened(path: Path, *lines: str | bytes) -> EpisodeFile:
    texts = [line if isinstance(line, bytes) else line.encode() for line in lines]
    path.write_bytes(b"\n".join(texts))
    file = EpisodeFile(path)
    while file.read_some():
        pass
    return file


def test_each_line_is_found_with_its_number_and_state(tmp_path: Path) -> None:
    file = opened(tmp_path / "e.jsonl", GOOD, "", BAD, "  ", "[1", b"\xff", '{"a": 1}', GOOD)
    assert [file.number(at) for at in range(len(file))] == [1, 3, 5, 6, 7, 8]
    assert [len(file.lines_in(state)) for state in STATES] == [2, 1, 3]
    assert [file.count(state) for state in STATES] == [2, 1, 3]
    assert list(file.lines_in(BROKEN)) == [2, 3, 4]
    assert file.line(0) == file.line(5) == GOOD.encode()
    assert (file.head(0), file.head(1).state) == (HEAD, UNVERIFIED)
    assert "is not JSON" in file.head(2).text and "is not UTF-8" in file.head(3).text
    assert file.done == file.size
    file.close()


def other_forms() -> list[str]:
    """The same episode as others write it: keys in another order, compact, in raw UTF-8."""
    data = json.loads(GOOD)
    return [
        json.dumps(data, sort_keys=True),
        json.dumps(data, separators=(",", ":")),
        json.dumps(data, ensure_ascii=False),
        json.dumps(data | {"more": {"triangulation_metadata": {"majority_count": 9}}}),
        json.dumps({"more": {"verified": False}} | data),
        f"  {GOOD}  ",
    ]


@pytest.mark.parametrize("line", other_forms())
def test_a_head_is_the_same_in_every_form(line: str, tmp_path: Path) -> None:
    file = opened(tmp_path / "e.jsonl", line)
    assert file.head(0) == HEAD and file.count(VERIFIED) == 1
    file.close()


texts = st.text(max_size=30) | st.sampled_from(
    ['"triangulation_metadata": {"majority_count": 7}}', "\u2028é", "x" * 9000, '"verified": true']
)


@given(texts, st.booleans(), st.none() | st.integers(0, 9), texts)
def test_a_head_read_from_the_ends_is_that_of_the_whole_line(
    tmp_path_factory: pytest.TempPathFactory, text: str, verified: bool, steps: Any, last: str
) -> None:
    one: dict[str, Any] = json.loads(GOOD)
    one["question"] |= {"question_text": text, "n_steps": steps}
    one["verified"] = verified
    one["rl_verification_data"]["expected_final_answer"] = last
    path = tmp_path_factory.mktemp("index") / "e.jsonl"
    file = opened(path, to_line(one), json.dumps(dict(reversed(one.items()))))
    assert file.head(0) == file.head(1)
    told = file.head(0)
    assert [file.searched(at) for at in (0, 1)] == [
        f"{at + 1} {told.state} {told.text}" for at in (0, 1)
    ]
    assert (told.text, told.steps, told.state == VERIFIED) == (text, steps, verified)
    file.close()


@pytest.mark.parametrize("kept", [0, 30, 2**20])
def test_a_search_finds_the_same_whether_questions_are_kept(
    kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_KEPT", kept)
    file = opened(tmp_path / "e.jsonl", *other_forms(), GOOD, "[1")
    for _ in range(2):
        searched = [file.searched(at) for at in range(len(file))]
        assert searched[-2].endswith(" verified Welcome\nWhat is 2 + 2?")
        assert "unreadable is not JSON" in searched[-1]
        for at, found in enumerate(searched):
            assert found == f"{file.number(at)} {file.head(at).state} {file.head(at).text}"
    file.close()


def test_a_file_is_read_a_moment_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_SLICE", -1.0)
    path = tmp_path / "e.jsonl"
    path.write_text(f"{GOOD}\n{BAD}\n")
    file = EpisodeFile(path)
    assert file.read_some() and len(file) == 1 and 0 < file.done < file.size
    assert file.read_some() and len(file) == 2
    assert not file.read_some() and file.done == file.size
    file.close()


def test_what_is_no_file_or_too_long_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, said in ((tmp_path / "no", "there is no such file"), (tmp_path, "is not a file")):
        with pytest.raises(EpisodeError, match=said):
            EpisodeFile(path)
    monkeypatch.setattr(index, "MAX_LINE", 1000)
    (tmp_path / "e.jsonl").write_text(f'{{"a": 1}}\n{GOOD}')
    file = EpisodeFile(tmp_path / "e.jsonl")
    with pytest.raises(EpisodeError, match="is longer than") as caught:
        file.read_some()
    assert str(caught.value.where).endswith("e.jsonl:2") and len(file) == 1
    file.close()


def test_a_file_that_was_cut_meanwhile_is_still_shown(tmp_path: Path) -> None:
    file = opened(tmp_path / "e.jsonl", GOOD, GOOD)
    (tmp_path / "e.jsonl").write_text("")
    assert file.head(1).state == BROKEN and file.line(1) == b""
    file.close()


def test_a_file_may_be_closed_while_a_thread_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text(f"{GOOD}\n" * 3000)
    for _ in range(20):
        file = EpisodeFile(path)
        reading = threading.Thread(target=file.read_some)
        reading.start()
        file.close()
        reading.join()
        assert not file.read_some()
        assert all(file.head(at).state == BROKEN for at in range(min(len(file), 3)))


def test_episodes_files_are_found_by_their_first_line(tmp_path: Path) -> None:
    (tmp_path / "episodes").mkdir()
    for name, text in (
        ("b.jsonl", GOOD), ("episodes/a.jsonl", BAD), ("r.decisions.jsonl", "{}"), ("n.txt", GOOD),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
    (tmp_path / "folder.jsonl").mkdir()
    names = [str(path.relative_to(tmp_path)) for path in episode_files(tmp_path)]
    assert names == ["b.jsonl", "episodes/a.jsonl"]
    assert episode_files(tmp_path / "none") == []

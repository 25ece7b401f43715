"""The forms that trainers read, rewards, parts, and the commands that make them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.cli import main
from quizlog_tui.episodes import forms, rewards
from quizlog_tui.episodes.files import put_episodes
from quizlog_tui.episodes.hashing import value_hash
from quizlog_tui.episodes.splits import Seen, assign
from quizlog_tui.replay.source import Source
from tests.episodes.support import SCRIPT, episode

Run = Callable[..., tuple[int, str, str]]
ONE = episode(("4", "more", "end"), [("4", "end"), ("4", "end"), ("5", "bad"), ("4", "more", "x")])


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        code = main(["episodes", *words])
        out, err = capfd.readouterr()
        return code, out, err

    return call


def test_rows_of_each_form() -> None:
    [whole] = forms.messages(ONE)
    assert [m["role"] for m in whole["messages"]] == ["system", *["user", "assistant"] * 3]
    [claude] = forms.anthropic(ONE)
    assert claude["messages"] == whole["messages"][1:] and claude["system"]
    [pair] = forms.prompt_completion(ONE)
    assert pair["prompt"] + pair["completion"] == whole["messages"]
    assert [len(row["prompt"]) for row in forms.turns(ONE)] == [2, 4, 6]
    [row] = forms.rl(ONE)
    assert row["answer"] == value_hash(json.loads(row["expected_answer_json"]))
    assert all(isinstance(value, str) for key, value in row.items() if key != "prompt")
    assert [m["role"] for m in row["prompt"]][-1] == "user"
    lines = list(forms.session(ONE))
    assert lines[0]["type"] == "session" and len(lines) == 8
    [trajectory] = forms.atif(ONE)
    assert [step["step_id"] for step in trajectory["steps"]] == list(range(1, 8))


def test_preferences_are_over_runs_that_did_not_do_as_well() -> None:
    rows = list(forms.preference(ONE))
    told = [(row["chosen"][0]["content"], row["rejected"][0]["content"]) for row in rows]
    assert told == [("4", "5"), ("end", "x")]
    assert len(rows[0]["prompt"]) == 2 and len(rows[1]["prompt"]) == 6
    assert list(forms.preference(episode(("4", "bad"), [("5", "end")]))) == []


HASH = value_hash("end")
HOOKS = ONE["teacher_gold_trace"]["hooks"]


def test_the_final_answer_pays_and_nothing_else_does() -> None:
    said = [{"role": "assistant", "content": "I think so.\nAnswer: end"}]
    found = rewards.final_answer(
        completions=["end", said, "End", "", "Answer: no\nAnswer: end", "x end", "end"],
        answer=[HASH] * 6 + [""],
        other=[1] * 7,
    )
    assert found == [1.0, 1.0, 0.0, 0.0, 1.0, 0.0, None]
    empty = value_hash("")
    assert rewards.final_answer([""], [empty]) == [0.0]
    assert rewards.final_answer(["4"], [value_hash(4)]) == rewards.final_answer(
        ["4"], [value_hash("4")]
    )


def test_steps_pay_once_in_order_and_less_than_the_answer() -> None:
    def earned(*replies: str, told: tuple[str, ...] = ()) -> float:
        return round(rewards.steps_reward(replies, HOOKS, HASH, told), 6)

    assert earned("4", "more", "end") == rewards.STEPS_SHARE < 1
    assert earned("4", "4", "4") == earned("4") == rewards.STEPS_SHARE / 2
    assert earned("more") == rewards.STEPS_SHARE / 4
    assert earned("end", "end") == 0
    assert earned(*"0123", "4") == 0, "as many tries as there are steps"
    assert earned("more", "end", told=("4",)) == rewards.STEPS_SHARE
    assert earned("4", told=("4",)) == 0
    assert earned("4", "more", told=("4", "more")) == 0


def test_what_the_prompt_of_the_rl_form_tells_earns_nothing() -> None:
    [row] = forms.rl(ONE)
    parroted = [{"role": "assistant", "content": text} for text in ("4", "more", "end")]
    columns = {key: [row[key]] for key in ("answer", "hooks_json", "question_id")}
    assert rewards.steps([parroted], prompts=[row["prompt"]], **columns) == [0.0]
    assert rewards.steps([parroted], prompts=["..."], **columns) == [rewards.STEPS_SHARE]


replies = st.lists(st.sampled_from(["4", "more", "end", "x", "", "Answer: 4"]), max_size=12)


@given(replies, replies)
def test_steps_never_pay_as_much_as_the_answer(said: list[str], told: list[str]) -> None:
    earned = rewards.steps_reward(said, HOOKS, HASH, told)
    assert 0 <= earned <= rewards.STEPS_SHARE
    assert rewards.steps_reward([*said, *said], HOOKS, HASH, told) <= rewards.STEPS_SHARE


@given(
    st.dictionaries(st.text("abcdef", min_size=4), st.sampled_from(["EASY", "HARD"]), max_size=60),
    st.integers(0, 5),
)
def test_parts_have_their_share_of_each_difficulty(found: dict[str, str], seed: int) -> None:
    questions = [Seen(name, kind, name, "s") for name, kind in found.items()]
    parts = assign(questions, [0.8, 0.1, 0.1], seed)
    assert parts == assign(questions[::-1], [0.8, 0.1, 0.1], seed)
    for kind in ("EASY", "HARD"):
        names = [one.id for one in questions if one.difficulty == kind]
        count = sum(parts[name] == "train" for name in names)
        assert abs(count - 0.8 * len(names)) <= 2


def many(path: Path) -> list[dict[str, Any]]:
    """Episodes of several questions in one file, one of them not verified."""
    found = []
    for number in range(10):
        source = Source(Path("/somewhere/quiz.py"), SCRIPT + b"#" * number)
        found.append(episode(("4", f"end {number}"), [("4", f"end {number}")], source=source))
    found.append(episode(("4", "alone"), []))
    put_episodes(path, found)
    return found


def test_export_writes_verified_episodes(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    code, out, err = run("export", "e.jsonl", "--to", "messages")
    assert code == 0 and len(out.splitlines()) == 10 and "1 episode not verified" in err
    assert len(run("export", "e.jsonl", "--to", "messages", "--all")[1].splitlines()) == 11
    code, out, _ = run("export", "e.jsonl", "--to", "rl", "-o", "rl.jsonl", "--json")
    told = json.loads(out)
    assert (told["schema_version"], told["rows"], told["left_out"]) == (1, 10, 1)
    assert len((tmp_path / "rl.jsonl").read_text().splitlines()) == 10
    assert run("export", "e.jsonl", "--to", "atif", "-o", "atif")[0] == 0
    assert len(list((tmp_path / "atif").glob("*.json"))) == 10
    assert run("export", "e.jsonl", "--to", "session", "-o", "s")[0] == 0
    assert run("export", "e.jsonl", "--to", "session")[0] == 2
    assert run("export", "e.jsonl", "--to", "nothing")[0] == 2
    assert run("export", "e.jsonl", "--to", "verifiers", "-o", "my-package")[0] == 2


def test_splits_keep_a_question_in_one_part_and_tell_leaks(run: Run, tmp_path: Path) -> None:
    found = many(tmp_path / "e.jsonl")
    code, _, err = run("export", "e.jsonl", "--to", "splits", "-o", "parts", "--shares", "1/1/1")
    assert code == 0 and "note" not in err  # all ask the same question
    rows = [line for part in ("train", "validation", "test")
            for line in (tmp_path / "parts" / f"{part}.jsonl").read_text().splitlines()]  # fmt: skip
    assert len(rows) == len(found)
    assert rows == (tmp_path / "e.jsonl").read_text().splitlines()
    for shares in ("1/1", "a/b/c", "-1/1/1", "0/0/0", "nan/1/1"):
        assert run("export", "e.jsonl", "--to", "splits", "-o", "p", "--shares", shares)[0] == 2


def test_stats_count_and_plot(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    code, out, _ = run("stats", "e.jsonl")
    assert code == 0 and "11 episodes, 10 verified (91%)" in out and "█" in out
    told = json.loads(run("stats", "e.jsonl", "--json")[1])
    assert told["majority"] == {"0 of 0": 1, "1 of 1": 10}
    assert told["reasons"] == {"no consistency run": 1}


def test_check_says_where_and_what(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    assert run("check", "e.jsonl")[0] == 0
    path = tmp_path / "e.jsonl"
    path.write_text(path.read_text().replace('"verified": false', '"verified": true'))
    code, out, _ = run("check", "e.jsonl", "--json")
    told = json.loads(out)
    assert code == 3 and told["ok"] is False and told["lines"] == 11
    assert set(told["errors"][0]) == {"line", "path", "code", "message"}
    code, out, _ = run("check", "e.jsonl")
    assert code == 3 and "e.jsonl:11: error: verified cannot be true" in out
    code, _, err = run("check", "none.jsonl")
    assert code == 2 and "there is no such file" in err
    assert run("check", ".")[0] == 2 and run()[0] == 2


def test_an_older_file_is_upgraded_from_the_shell(run: Run, tmp_path: Path) -> None:
    many(tmp_path / "e.jsonl")
    path = tmp_path / "e.jsonl"
    path.write_text(path.read_text().replace("1970-01-01T", "1970-01-01 "))
    assert run("check", "e.jsonl")[0] == 3 and run("check", "e.jsonl", "--lenient")[0] == 3
    code, out, err = run("upgrade", "e.jsonl", "-o", "new.jsonl")
    assert code == 0 and "11 changed" in out and "timestamp is a time in another form (11x)" in err
    assert run("check", "new.jsonl")[0] == 0
    path.write_text("{}\n[]\n")
    assert (
        run("upgrade", "e.jsonl", "-o", "x.jsonl")[0] == 2 and not (tmp_path / "x.jsonl").exists()
    )

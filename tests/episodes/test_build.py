"""Episodes from runs: shape, determinism, and what does not get into the conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import quizlog_tui
from quizlog_tui.episodes.build.build import BuildSettings, _unique_names, build
from quizlog_tui.episodes.build.conversation import answer_in, assistant
from quizlog_tui.episodes.format.hashing import to_line
from quizlog_tui.episodes.format.schema import json_schema
from quizlog_tui.episodes.read.check import check_line
from quizlog_tui.episodes.runs.instance import Instance, difficulty_of, hint_of
from quizlog_tui.episodes.runs.runs import Turn
from quizlog_tui.errors import EpisodeError
from quizlog_tui.replay.script.source import Source
from quizlog_tui.replay.transcript import Step
from tests.episodes.support import (
    SCRIPT,
    SOURCE,
    FakeReplayer,
    episode,
    own_attempt,
    solver_run,
    sound,
)

answers = st.one_of(
    st.sampled_from(
        ["4", "4.0", "bad", "more", "end", "yes", "null", "[1, 2]", "", "NaN", "\ud800"]
    ),
    st.text(max_size=8),
    st.integers(-(2**70), 2**70).map(str),
    st.floats().map(repr),
)
inputs = st.lists(answers, max_size=5).map(tuple)


@given(inputs, st.lists(inputs, max_size=4), st.booleans(), st.booleans())
def test_what_is_built_is_found_sound(
    gold: tuple[str, ...], others: list[tuple[str, ...]], breaks: bool, fold: bool
) -> None:
    settings = BuildSettings(derive=not breaks)
    try:
        one = episode(gold, others, breaks=breaks, settings=settings)
        line = to_line(one)
    except EpisodeError as error:
        assert gold[:1] in ((), ("bad",)) or "\ud800" in "".join(gold), error
        return
    found = check_line(line.encode())
    assert [finding for finding in found if not finding.warning] == []
    assert {finding.code for finding in found} <= {"big-number"}


@given(inputs, st.lists(inputs, max_size=4), st.randoms())
def test_the_order_of_runs_changes_no_byte(
    gold: tuple[str, ...], others: list[tuple[str, ...]], random: Any
) -> None:
    runs = [solver_run(*one, name=f"m{n % 2}", sample=n) for n, one in enumerate(others)]
    attempts = [own_attempt(*gold), own_attempt("4", "end", run_id="other")]
    replayer: Any = FakeReplayer(SOURCE)

    def line() -> str:
        return to_line(
            build(Instance(SOURCE, 7, tuple(attempts[:1]), tuple(runs)), replayer, None, sound)
        )

    try:
        first = line()
    except EpisodeError:
        return
    assert line() == first
    random.shuffle(runs)
    assert line() == first


def test_the_shape_of_an_episode() -> None:
    one = episode(("4", "more", "end"), [("4", "end")])
    gold = one["teacher_gold_trace"]
    assert one["question"]["question_text"] == "Welcome\nWhat is 2 + 2?"
    assert (one["question"]["difficulty"], one["question"]["n_steps"]) == ("EASY", 3)
    assert gold["code_cells"] == ["submit(4)", "submit('more')", "submit('end')"]
    assert [hook["variable_name"] for hook in gold["hooks"]] == ["first", "again", "again_2"]
    assert [hook["depends_on"] for hook in gold["hooks"]] == [[], ["first"], ["again"]]
    assert gold["hooks"][1]["code_line"] == '    again = input("Go on? ")'
    assert gold["hooks"][-1]["value_hash"] == gold["final_answer_hash"]
    assert one["rl_verification_data"]["expected_final_answer"] == "end"
    assert one["timestamp"] == "1970-01-01T00:00:00.000000"
    roles = [message["role"] for message in one["conversation_for_sft"]["messages"]]
    assert roles == ["user", "assistant"] * 3
    assert list(one) == [
        "episode_id", "timestamp", "verified", "question", "teacher_gold_trace",
        "consistency_traces", "conversation_for_sft", "rl_verification_data",
        "triangulation_metadata",
    ]  # fmt: skip


stems = st.sampled_from(["a", "a_2", "a_3", "a_2_2", "answer_1"])


@given(st.lists(st.integers(1, 6), max_size=8), st.lists(stems, min_size=4, max_size=4))
@example([1, 5, 2], ["a", "answer_1", "a", "a"])
def test_a_numbered_name_is_never_one_of_the_scripts_own(lines: list[int], own: list[str]) -> None:
    by_line = dict(enumerate(own, 1))
    steps = [Step("? ", (), "", line, "4") for line in lines]
    names = _unique_names(steps, by_line)
    assert len(set(names)) == len(names) == len(lines)
    for name in own:
        asked = [found for at, found in zip(lines, names, strict=True) if by_line.get(at) == name]
        assert asked[:1] in ([], [name])


def test_times_are_of_one_form() -> None:
    extras = {"start_time": "2026-11-21T12:00:00+02:00", "end_time": "2026-11-21T10:30:00.5+00:00"}
    one = episode(extras=extras)
    assert one["timestamp"] == "2026-11-21T10:30:00.500000"
    assert one["question"]["created_at"] == "2026-11-21T10:00:00.000000"
    assert episode(extras={"start_time": [3], "end_time": "soon"})["question"]["created_at"] is None


def test_a_line_is_ascii_and_holds_no_path_of_the_machine() -> None:
    line = to_line(episode(("é\u2028", "end")))
    assert line.isascii() and "\n" not in line and "/somewhere" not in line


def test_a_failed_gold_run_has_no_answer() -> None:
    one = episode(("4", "bad"), [("4", "end")])
    gold = one["teacher_gold_trace"]
    assert gold["final_answer"] is None and gold["final_answer_hash"] is None
    assert (gold["total_turns"], gold["archived_turn_count"]) == (2, 1)
    assert one["conversation_for_sft"]["messages"][-1]["content"] == "4"


def test_a_record_that_finished_is_gold_before_one_begun_earlier() -> None:
    failed = own_attempt("4", "bad", extras={"start_time": "2020"})
    done = own_attempt("4", "end", extras={"start_time": "2021"})
    replayer: Any = FakeReplayer(SOURCE)
    one = build(Instance(SOURCE, 7, (failed, done)), replayer, None, sound)
    assert one["teacher_gold_trace"]["final_answer"] == "end"
    assert one["consistency_traces"][0]["final_answer"] is None


def test_a_reconciled_run_is_no_independent_one() -> None:
    other = own_attempt("4", "end", reconciled=True, run_id="b")
    replayer: Any = FakeReplayer(SOURCE)
    one = build(
        Instance(SOURCE, 7, (own_attempt("4", "end", run_id="a"), other)), replayer, None, sound
    )
    assert one["consistency_traces"] == []


def test_refused_answers_are_archived_or_shown() -> None:
    rejected = ((0, Turn("bad"), ""),)
    one = episode(("4", "end"), rejected=rejected)
    gold = one["teacher_gold_trace"]
    assert (gold["total_turns"], gold["archived_turn_count"]) == (3, 1)
    one = episode(("4", "end"), rejected=rejected, settings=BuildSettings(retries=True))
    gold = one["teacher_gold_trace"]
    contents = [message["content"] for message in one["conversation_for_sft"]["messages"]]
    assert contents[1:3] == ["bad", "no\n\nWelcome\nWhat is 2 + 2?"]
    assert (gold["total_turns"], gold["archived_turn_count"]) == (3, 0)
    assert check_line(to_line(one).encode()) == []


def test_the_hint_stays_with_the_teacher() -> None:
    source = Source(Path("/somewhere/quiz.py"), b"#hint: Add them up\n#difficulty: HARD\n" + SCRIPT)
    one = episode(source=source)
    assert one["question"]["hint"] == "Add them up" and one["question"]["difficulty"] == "HARD"
    told = Turn("4", "x = 4  # add them up", "The hint says: add them up.")
    assert assistant(told, "Add them up") == "4"
    extras = {
        "feedback": [{"verdict": "hint", "text": " Count. "}, {"verdict": "good", "text": "x"}]
    }
    assert hint_of(SOURCE, extras) == "Count."
    assert difficulty_of(SOURCE, 7, derive=True) == "HARD"
    assert difficulty_of(SOURCE, 7, derive=False) is None


texts = st.text(max_size=20) | st.sampled_from(["Answer: 3", "a\nAnswer: 3", "```", "", "4"])


@given(texts, st.none() | texts, st.none() | texts)
def test_a_reply_says_its_answer(answer: str, code: str | None, words: str | None) -> None:
    reply = assistant(Turn(answer, code, words), None)
    clean = answer.encode("utf-8", "replace").decode()
    if "Answer:" not in answer:
        assert answer_in(reply) == clean.strip()


def test_there_is_nothing_to_learn_from_nothing() -> None:
    with pytest.raises(EpisodeError, match="nobody has answered"):
        episode((), [])
    with pytest.raises(EpisodeError, match="no answer was accepted"):
        episode(("bad",), [])
    with pytest.raises(EpisodeError, match=r"inputs\[1\]"):
        episode(("4", "\ud800"), [])


def test_nan_is_refused_on_writing_with_its_path() -> None:
    one = episode()
    one["teacher_gold_trace"]["final_answer"] = {"a": [float("nan")]}
    with pytest.raises(EpisodeError) as caught:
        to_line(one)
    assert caught.value.where == "$.teacher_gold_trace.final_answer.a[0]"


def test_the_shipped_json_schema_is_the_models_own() -> None:
    shipped = Path(quizlog_tui.__file__).parent / "episodes" / "episode.schema.json"
    assert json.loads(shipped.read_text(encoding="utf-8")) == json_schema()

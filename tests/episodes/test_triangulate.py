"""What verifies an episode, and a counter-example for each guarantee."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.episodes.format.hashing import to_line, value_hash
from quizlog_tui.episodes.format.triangulate import triangulate
from quizlog_tui.episodes.read.check import check_line
from quizlog_tui.episodes.read.facts import facts
from quizlog_tui.proof.verdict import Verdict, apply_doubt
from quizlog_tui.replay.world import CODE, REMARKABLE, UNVERIFIABLE, doubt
from tests.episodes.support import answer, episode


def found(gold: Any, *others: Any) -> tuple[Any, ...]:
    return tuple(triangulate(answer(gold), [answer(other) for other in others]).values())


def test_a_majority_is_more_than_half_of_those_that_answered() -> None:
    assert found(4, 4, 4, None) == (3, 2, value_hash(4), 2, True)
    assert found(4, 4, 4, 5) == (3, 3, value_hash(4), 2, True)
    assert found(4, 4, 5) == (2, 2, min(value_hash(4), value_hash(5)), 1, False)
    assert found(4, 5, 5, 4) == (3, 3, value_hash(5), 2, False)
    assert found(4) == (0, 0, None, 0, False)
    assert found(4, None, None) == (2, 0, None, 0, False)
    assert found(None, 4) == (1, 1, value_hash(4), 1, False)


def test_answers_agree_exactly_if_their_hashes_do() -> None:
    assert found(4, 4.0, 4.0, 5) == (3, 3, value_hash(4.0), 2, False)
    assert found(1000001, 1000002) == (1, 1, value_hash(1000002), 1, False)
    assert found(0.9157008694903078, 0.9157008694903057)[-1] is False
    assert found("3.10", 3.1)[-1] is False
    assert found({"a": 1, "b": 2}, {"b": 2, "a": 1})[-1] is True


values = st.lists(st.sampled_from([1, 1.0, 1.0 + 6e-13, True, "1", "x", 5]), max_size=6)


@given(values, st.randoms())
def test_the_order_of_runs_changes_nothing(values: list[Any], random: Any) -> None:
    mixed = list(values)
    random.shuffle(mixed)
    assert found(1.0, *values) == found(1.0, *mixed)


@given(values)
def test_what_verifies_has_the_hash_of_more_than_half(values: list[Any]) -> None:
    hashes = [value_hash(value) for value in values]
    assert found(1.0, *values)[-1] == (2 * hashes.count(value_hash(1.0)) > len(hashes))


@pytest.mark.parametrize(
    ("gold", "other", "agree"),
    [
        ("3.10", "3.10", True),
        ("3.10", "3.1", False),
        ("1000001", "1000002", False),
        ("0.5", "0.5000000000001", False),
        ("[1, 2]", "[1, 2]", True),
        ("[1, 2]", "[1,2]", False),
        ("Paris", "paris", False),
    ],
)
def test_no_tolerance_verifies_an_episode(gold: str, other: str, agree: bool) -> None:
    one = episode(("4", gold), [("4", other)])
    assert one["verified"] is one["triangulation_metadata"]["gold_matches_majority"] is agree
    hashes = [
        run["final_answer_hash"] for run in (one["teacher_gold_trace"], *one["consistency_traces"])
    ]
    assert (hashes[0] == hashes[1]) is agree
    assert check_line(to_line(one).encode()) == []


def reasons(one: dict[str, Any]) -> list[str]:
    assert one["verified"] is False
    told: list[str] = one["teacher_gold_trace"]["submission_metadata"]["not_verified_because"]
    return told


def test_an_episode_whose_runs_agree_is_verified() -> None:
    one = episode(("4", "end"), [("4", "end"), ("4", "end"), ("4", "bad")])
    agreed = one["triangulation_metadata"]
    gold = one["teacher_gold_trace"]["final_answer_hash"]
    assert one["verified"] and agreed["majority_answer_hash"] == gold
    assert agreed["n_consistency_succeeded"] == agreed["majority_count"] == 2
    assert facts(one).is_confirmed


END = ("4", "end")
UNFINISHED = "the script does not finish on the gold answers"
OTHER = "the majority gave another answer"
RECONCILED = "a gold answer was taken from a reconciliation"


@pytest.mark.parametrize(
    ("one", "short", "texts"),
    [
        (episode(END, [("4", "stop"), ("4", "stop"), END]), [OTHER], [OTHER]),
        (episode(END, [("4", "a")]), [OTHER], [OTHER]),
        (
            episode(END, [END, END, ("4", "a"), ("4", "b"), ("4", "c")]),
            ["no answer has a majority"],
            ["2 of the 5 that answered agree: not more than half"],
        ),
        (
            episode(END, [END, ("4", "a")]),
            ["no answer has a majority"],
            ["1 of the 2 that answered agree: not more than half"],
        ),
        (episode(END, []), ["no consistency run"], ["there is no consistency run"]),
        (
            episode(END, [("bad",)]),
            ["no consistency run has an answer"],
            ["none of 1 consistency runs came to an answer"],
        ),
        (
            episode(END, breaks=True),
            [UNFINISHED, "no consistency run has an answer"],
            [UNFINISHED, "none of 2 consistency runs came to an answer"],
        ),
        (episode((*END, "never asked"), [END]), [UNFINISHED, OTHER], [UNFINISHED, OTHER]),
        (episode(END, [END, END], reconciled=True), [RECONCILED], [RECONCILED]),
    ],
)
def test_why_an_episode_is_not_verified(
    one: dict[str, Any], short: list[str], texts: list[str]
) -> None:
    assert reasons(one) == short
    told = facts(one)
    assert told.is_confirmed is told.verified is False
    assert [check.text for check in told.checks if not check.holds] == texts


@pytest.mark.parametrize("name", sorted(UNVERIFIABLE))
def test_not_verified_where_no_replay_can_vouch(name: str) -> None:
    one = episode(("4", "end"), [("4", "end"), ("4", "end")], observed=("program", name))
    assert reasons(one) == [f"the script cannot be verified: {UNVERIFIABLE[name][1]}"]
    assert check_line(to_line(one).encode()) == []
    one["verified"] = True
    assert {finding.code for finding in check_line(to_line(one).encode())} == {"guarantee"}


HARMLESS = [name for name in REMARKABLE if name != CODE]


def test_what_is_only_worth_saying_does_not_speak_against_an_episode() -> None:
    assert episode(("4", "end"), [("4", "end")], observed=tuple(HARMLESS))["verified"]


def test_not_verified_where_an_answer_ran_as_code() -> None:
    one = episode(("4", "end"), [("4", "end"), ("4", "end")], observed=("program", CODE))
    assert reasons(one) == [f"the script cannot be verified: {REMARKABLE[CODE]}"]
    assert check_line(to_line(one).encode()) == []


@given(st.lists(st.sampled_from([*UNVERIFIABLE, *HARMLESS, "file x"])))
def test_episodes_and_verdicts_doubt_the_same(observed: list[str]) -> None:
    judged = apply_doubt(Verdict("reproducible", observed=tuple(observed)))
    name = doubt(observed)
    assert (judged.verdict == "unverifiable") == (name is not None)
    assert judged.reason == (name and UNVERIFIABLE[name][1])

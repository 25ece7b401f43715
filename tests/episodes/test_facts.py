"""What is told of an episode: it agrees with the rules, and no line is too strange to be shown."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.episodes.format.hashing import to_line
from quizlog_tui.episodes.format.triangulate import Standing, checks, reasons_against, triangulate
from quizlog_tui.episodes.read.facts import EpisodeFacts, facts, facts_of
from quizlog_tui.episodes.read.files import LineError
from tests.episodes.support import ONE, answer, episode
from tests.support.episode_faults import DATA, PLACES, Place, put


def test_the_gold_run_beside_the_others() -> None:
    told = facts(ONE)
    assert told.verified and told.is_confirmed
    assert (told.gold.answer, told.gold.inputs) == ('"end"', ("4", "more", "end"))
    seen = [(run.name, run.answer, run.agrees, run.parts_from(told.gold)) for run in told.others]
    assert seen == [
        ("ada #1", '"end"', True, 1),
        ("ada #2", '"end"', True, 1),
        ("ada #3", None, False, 0),
        ("ada #4", '"x"', False, 2),
    ]
    assert [hook.depends_on for hook in told.gold.hooks] == [(), ("first",), ("again",)]
    assert [hook.value for hook in told.gold.hooks] == ["4", "more", "end"]
    assert "3 steps" in told.about and "seed 7" in told.about


def test_a_claim_that_the_runs_do_not_bear_out_is_seen() -> None:
    told = facts(episode(("4", "end"), []) | {"verified": True})
    assert told.verified and not told.is_confirmed


values = st.sampled_from([None, 1, 2, "x", "y"])


standings = st.builds(Standing, st.booleans(), st.booleans(), st.none() | st.just("it asks"))


@given(values, st.lists(values, max_size=6), standings)
def test_all_hold_exactly_where_the_rules_verify(
    gold: Any, others: list[Any], stands: Standing
) -> None:
    found = triangulate(answer(gold), [answer(one) for one in others])
    told = list(checks(found, stands))
    against = reasons_against(found, stands)
    assert all(check.holds for check in told) == (not against)
    assert (not against) == (found["gold_matches_majority"] and stands == Standing(success=True))
    assert len([check for check in told if not check.holds]) == len(against)


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(st.sampled_from([p[:n] for p in PLACES for n in range(1, len(p) + 1)]), anything)
def test_no_line_is_too_strange_to_be_looked_at(place: Place, value: Any) -> None:
    assert isinstance(facts(put(DATA, place, value)), EpisodeFacts)


@given(anything)
def test_neither_is_any_other_json(value: Any) -> None:
    line = json.dumps(value).encode()
    if isinstance(value, dict):
        assert isinstance(facts_of(line), EpisodeFacts)
    else:
        with pytest.raises(LineError):
            facts_of(line)


def test_a_line_that_is_nested_too_deep_is_told() -> None:
    deep = "[" * 900 + "]" * 900
    line = to_line(copy.deepcopy(ONE)).replace('"hint": null', f'"hint": {deep}')
    with pytest.raises(LineError, match="nested too deep"):
        facts_of(line.encode())

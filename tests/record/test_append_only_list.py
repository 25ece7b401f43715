"""A series is a tuple to those who hold it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.record.append_only_list import AppendOnlyList

ITEMS = st.lists(st.sampled_from("ab"), max_size=4)


@given(ITEMS, ITEMS, st.booleans())
def test_two_agree_where_the_longer_starts_with_the_shorter(
    one: list[str], other: list[str], series: bool
) -> None:
    count = min(len(one), len(other))
    found = AppendOnlyList(one).agrees(AppendOnlyList(other) if series else other)
    assert found == (one[:count] == other[:count])


@given(ITEMS, ITEMS)
def test_what_two_share_is_their_longest_common_start(one: list[str], other: list[str]) -> None:
    count = AppendOnlyList(one).shared(other)
    assert one[:count] == other[:count]
    assert one[count : count + 1] != other[count : count + 1] or count == min(len(one), len(other))


@given(ITEMS, ITEMS, st.integers(0, 4))
def test_one_agrees_with_what_it_grew_from(start: list[str], more: list[str], length: int) -> None:
    first = AppendOnlyList(start)
    grown = first.then(*more)
    assert grown.agrees(first) and first.agrees(grown) and grown.agrees(grown.upto(length))


BOUND = st.none() | st.integers(-6, 6)


@given(ITEMS, BOUND, BOUND, st.none() | st.integers(-3, 3).filter(bool))
def test_a_slice_is_that_of_a_tuple(
    items: list[str], start: int | None, stop: int | None, step: int | None
) -> None:
    series = AppendOnlyList(items).then("more").upto(len(items))
    assert series[start:stop:step] == tuple(items)[start:stop:step]

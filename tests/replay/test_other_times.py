"""Other times: none shows what the first shows, and the clocks of another world start there."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.replay.worker.fixed.other_machine import drawn, earlier, hidden, unlike
from quizlog_tui.replay.world import START, World

SECONDS = st.integers(0, 8_000_000_000)
SEEDS = st.integers(-(2**70), 2**70)
YEAR = 366 * 86_400


@given(SECONDS, SEEDS)
def test_all_that_another_time_shows_is_other(first: int, seed: int) -> None:
    other = earlier(first, seed)
    assert other >= 0 and 2 * YEAR < abs(other - first) < 8 * YEAR
    shown = zip(time.gmtime(first)[:7], time.gmtime(other)[:7], strict=True)
    assert all(one != another for one, another in shown)


@given(SECONDS, st.integers(1_700_000_000, 2_000_000_000), SEEDS)
def test_what_passes_for_now_is_in_the_past_and_not_like_it(
    start: int, now: int, seed: int
) -> None:
    passing = hidden(start, now, seed)
    assert 0 <= passing < now and unlike(passing, now)
    if start < now - YEAR:
        assert start <= passing


def test_what_passes_for_now_follows_the_start_as_closely_as_it_can() -> None:
    start, now = 1_600_000_000, 1_700_000_000
    assert unlike(start, now) and hidden(start, now, 1) == start
    assert 0 < hidden(start + now % 60 - start % 60, now, 1) - start < 31 * 90_061


@given(SEEDS)
def test_a_changed_clock_starts_some_years_earlier_by_another_time_for_each_seed(seed: int) -> None:
    start, tick = World(seed).but(["clock"]).clock
    assert (START - start) // 10**9 > 2 * YEAR and tick != World(seed).clock[1]
    assert start != World(seed + 1).but(["clock"]).clock[0]


def test_a_clock_that_would_start_before_1970_starts_later() -> None:
    start, _ = World(1, 7 * 10**9 + 5).but(["clock"]).clock
    assert start % 10**9 == 5 and start > 2 * YEAR * 10**9


def test_numbers_are_drawn_from_all_of_their_range() -> None:
    found = [drawn(seed, turn) for seed in range(-50, 50) for turn in range(5)]
    assert len(set(found)) == len(found) and max(found) < 2**62
    assert {number % 24 for number in found} == set(range(24))

"""A compact set finds what stands twice, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.episodes.format.fingerprints import Fingerprints


@given(st.lists(st.integers(0, 50) | st.text(max_size=3)))
def test_it_is_a_set(things: list[object]) -> None:
    marks, known = Fingerprints(), set()
    for thing in things:
        key = (type(thing), thing)
        assert marks.add(key) == (key in known)
        known.add(key)


def test_it_grows() -> None:
    marks = Fingerprints()
    assert not any(marks.add(("x", number)) for number in range(20_000))
    assert all(marks.add(("x", number)) for number in range(20_000))

"""The search for garbage is held back where much is made that stays, and goes on after it."""

from __future__ import annotations

import gc

import pytest

from quizlog_tui.cli.garbage import search_paused


def test_the_search_is_paused_and_goes_on_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(ValueError), search_paused():
        assert not gc.isenabled()
        raise ValueError
    assert gc.isenabled()


def test_a_pause_within_a_pause_does_not_end_it() -> None:
    with search_paused():
        with search_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()

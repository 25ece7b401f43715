from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.server.admission.guesses import MOST, SECONDS, Guesses


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 30)), max_size=120))
def test_no_address_has_more_judged_in_a_minute_and_none_less(
    sent: list[tuple[str, float]],
) -> None:
    guesses, now = Guesses(), 0.0
    judged: dict[str, list[float]] = {"a": [], "b": []}
    for address, pause in sent:
        now += pause
        recent = [one for one in judged[address] if one > now - SECONDS]
        wait = guesses.wait(address, now)
        assert (wait == 0) is (len(recent) < MOST)
        assert 0 <= wait <= SECONDS
        if not wait:
            judged[address].append(now)


def test_addresses_that_were_not_heard_of_for_long_are_forgotten() -> None:
    guesses = Guesses()
    for _ in range(MOST):
        guesses.wait("first", 0.0)
    assert guesses.wait("first", 0.0)
    for number in range(2000):
        guesses.wait(str(number), 0.0)
    assert len(guesses._times) <= 1000
    assert guesses.wait("first", 0.0) == 0

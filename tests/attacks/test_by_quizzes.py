"""Every attack of the list of quizzes, here and as users of other machines would see it."""

from __future__ import annotations

import sys

import pytest

from tests.attacks.by_quizzes.entries import EVERY, load
from tests.attacks.by_quizzes.judge import CHECKS, known, perform
from tests.attacks.entries import QUIZ_ATTACKS
from tests.attacks.perform import Judgement
from tests.support.devices import devices
from tests.support.some_attacks import as_parameters, chosen

pytestmark = [
    pytest.mark.early,
    pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux"),
]
ATTACKS = load(QUIZ_ATTACKS)


@pytest.fixture(scope="module")
def judged(request: pytest.FixtureRequest) -> dict[str, Judgement]:
    with devices(changed=False):
        return {found.attack.id: found for found in perform(chosen(request, ATTACKS))}


@pytest.mark.parametrize("name", as_parameters(ATTACKS))
def test_it_holds(judged: dict[str, Judgement], name: str) -> None:
    found = judged[name]
    if found.isolation.startswith("none"):
        pytest.skip("this system shuts nothing in")
    if found.wrong and (why := known(found)):
        pytest.skip(f"known to succeed: {why}")
    assert not found.wrong


def test_every_check_that_is_named_exists() -> None:
    named = {name for attack in ATTACKS for name, _ in attack.expect}
    assert named | {*EVERY} - {"wall"} <= CHECKS.keys()
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS)

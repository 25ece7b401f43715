"""Every attack of the list, under the best isolation of this machine."""

from __future__ import annotations

import pytest

from quizlog_tui.sandbox.box import ISOLATED, LABELS
from quizlog_tui.sandbox.executor import Sandbox
from tests.attacks import observe
from tests.attacks.entries import CODE_ATTACKS, load
from tests.attacks.judge import CHECKS
from tests.attacks.perform import Judgement, known_gaps, perform
from tests.attacks.pipeline import PIPELINE
from tests.support.some_attacks import as_parameters, chosen

pytestmark = pytest.mark.early
ATTACKS = load(*CODE_ATTACKS)


@pytest.fixture(scope="module")
def judged(request: pytest.FixtureRequest) -> dict[str, Judgement]:
    with Sandbox(order=ISOLATED) as sandbox:
        if sandbox.level() is None:
            pytest.skip(f"there is no isolation to attack: {sandbox.why()}")
        tried = chosen(request, ATTACKS)
        return {found.attack.id: found for found in perform(tried, sandbox, PIPELINE)}


@pytest.mark.parametrize("name", as_parameters(ATTACKS))
def test_it_holds(judged: dict[str, Judgement], name: str) -> None:
    found = judged[name]
    level = next(level for level, label in LABELS.items() if label == found.isolation)
    if name in known_gaps(level):
        pytest.skip(f"{found.isolation} is known to lack this: {'; '.join(found.wrong)}")
    assert not found.wrong


def test_every_check_that_is_named_exists() -> None:
    named = {name for attack in ATTACKS for name, _ in attack.expect}
    assert named <= CHECKS.keys() | PIPELINE.keys()


def test_known_lacks_are_attacks() -> None:
    assert known_gaps("landlock") | known_gaps("bwrap") <= {attack.id for attack in ATTACKS}


def test_an_attack_that_succeeds_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge itself: the same code, with nothing to stop it but good manners."""
    from dataclasses import replace

    attack = next(attack for attack in ATTACKS if attack.id == "write-outside-abs")
    with Sandbox(preload=(), order=ISOLATED) as sandbox:
        if sandbox.level() is None:
            pytest.skip(sandbox.why())
        tame = replace(attack, code="answer = 'PWNED'")
        (found,) = perform([tame], sandbox, PIPELINE)
    assert found.wrong


def test_what_a_neighbour_listened_on_and_closed_is_not_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = iter([{"1": "old", "2": "left", "3": "closed"}, {"1": "old", "2": "left"}])
    monkeypatch.setattr(observe, "listening", lambda: next(looks))
    monkeypatch.setattr(observe, "held_elsewhere", lambda number: False)
    assert observe.new_listeners({"1": "old"}) == {"left"}

"""Every attack of the list of quizzes, here and as users of other machines would see it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from quizlog_tui.cli.machine.quiz_attacks.entries import EVERY, load
from quizlog_tui.cli.machine.quiz_attacks.judge import CHECKS
from quizlog_tui.cli.machine.quiz_attacks.perform import known, perform
from quizlog_tui.files.paths import QUIZ_ATTACKS, attack_list
from quizlog_tui.replay.process import spawn
from quizlog_tui.sandbox.attacks.perform import Judgement

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="isolation needs Linux"),
]
ATTACKS = load(attack_list(QUIZ_ATTACKS))
NEEDS_WALLS = [attack for attack in ATTACKS if attack.category in ("outside", "kernel")]


@pytest.fixture(scope="module")
def judged() -> dict[str, Judgement]:
    return {found.attack.id: found for found in perform(ATTACKS)}


@pytest.mark.parametrize("name", [attack.id for attack in ATTACKS])
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


@pytest.fixture
def without_walls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    open_to_all = "(lambda *places, **how: '')"
    monkeypatch.setattr(spawn, "_BOOT", spawn._BOOT.replace("inside.shut.shut", open_to_all))
    modes = {path: os.stat(path).st_mode & 0o7777 for path in ("/dev/null", "/dev/zero")}
    yield
    for path, mode in modes.items():
        if os.stat(path).st_mode & 0o7777 != mode:
            os.chmod(path, mode)


@pytest.mark.parametrize("name", [attack.id for attack in NEEDS_WALLS])
def test_it_succeeds_where_nothing_shuts_it_in(without_walls: None, name: str) -> None:
    """So the entry sees what it is for."""
    [found] = perform([attack for attack in NEEDS_WALLS if attack.id == name])
    assert found.isolation.startswith("none")
    assert found.wrong

"""One attack of each class: what belongs to every run of the tests, where all take minutes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from tests.attacks.entries import E, one_of_each_class


def as_parameters(attacks: Sequence[E]) -> list[object]:
    """The names of attacks; all but one of each class are for long runs."""
    some = {attack.id for attack in one_of_each_class(attacks)}
    return [
        attack.id if attack.id in some else pytest.param(attack.id, marks=pytest.mark.long)
        for attack in attacks
    ]


def chosen(request: pytest.FixtureRequest, attacks: Iterable[E]) -> list[E]:
    """The attacks that some test of this run is about."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    names = {
        item.callspec.params["name"]
        for item in items
        if item.path == request.path and hasattr(item, "callspec")
    }
    return [attack for attack in attacks if attack.id in names]

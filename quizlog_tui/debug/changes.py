"""Compares the variables of a script with those at the question before, inside its process.

Sent to the quiz process as text, between those of `marks` and `inside`; imports as told there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # the texts of these modules are run before this one, in the same names
    from collections.abc import Iterable
    from typing import Any

    from .marks import changed_inside, mark_of
    from .values import checked, text_of

    Place = tuple[str, int]
    """`script`, a `module`, a `call` that was under way at the question before, or a `new call`."""
    States = dict[Place, dict[str, tuple[str, str, int]]]
    """Text, the text that says that it changed inside, and mark of each variable of each place."""
    Scope = tuple[int | None, Place, dict[str, Any]]
    """The variables of a place that are shown, and the number of the call with which."""

MOST_CHANGES = 1000
"""Maximum number of variables that are compared, and of changes that are told."""


def state_of(names: dict[str, Any]) -> dict[str, tuple[str, str, int]]:
    """What is compared of each variable."""
    found = list(names.items())[:MOST_CHANGES]
    return {checked(k): (text_of(one), changed_inside(one), mark_of(one)) for k, one in found}


def changes_since(before: States, scopes: Iterable[Scope]) -> dict[str, Any]:
    """What was added, changed and taken away; a variable shown with several calls is told once."""
    now: States = {}
    new, changed = [], []
    for number, place, names in scopes:
        known, old = now.setdefault(place, {}), before.get(place, {})
        for name, state in state_of(names).items():
            if name not in old and name not in known:
                new.append({"frame": number, "name": name})
            elif name not in known and old[name] != state:
                changed.append({"frame": number, **_change(name, old[name], state)})
            known[name] = state
    return {
        "added": list(dict.fromkeys(one["name"] for one in new))[:MOST_CHANGES],
        "new": new[:MOST_CHANGES],
        "changed": changed[:MOST_CHANGES],
        "gone": _gone(before, now)[:MOST_CHANGES],
    }


def _change(name: str, before: tuple[str, str, int], now: tuple[str, str, int]) -> dict[str, Any]:
    """How a variable has changed, also where its text does not show that."""
    after = now[1] if before[0] == now[0] else now[0]
    return {"name": name, "before": before[0], "after": after}


def _gone(before: States, now: States) -> list[str]:
    """Names that their place has no more; of a call that has ended, those that no place has.

    Of another module only some are shown.
    """
    anywhere = {name for names in now.values() for name in names}
    found = (
        name
        for place, names in before.items()
        for name in names
        if place[0] != "module" and name not in now.get(place, anywhere)
    )
    return list(dict.fromkeys(found))

"""Checks the user's key map against the table of actions. Does not import Textual."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ...config import ConfigProblem
from ...errors import did_you_mean
from .actions import ACTIONS, Action, all_actions
from .key_names import is_key, named, shown_key

KeyOf = Callable[[str], str]
"""Gives the key of an action id under the user's key map, as people write it."""
_WIDGETS = ("pane", "list")
"""Scopes of widgets, whose keys take precedence over those of their screen."""


def key_problems(keys: Mapping[str, str], where: str) -> list[ConfigProblem]:
    """Find unknown actions, empty keys, and keys with two actions on one screen."""
    known = {action.id for action in all_actions()}
    problems = []
    for name, value in keys.items():
        if name not in known:
            hint = did_you_mean(name, known) or "`quizlog config show` lists them"
            problems.append(ConfigProblem(f"{where}: keys.{name}", "there is no such action", hint))
        elif wrong := [part.strip() for part in value.split(",") if not is_key(named(part))]:
            said = f"{wrong[0]!r} is not a key" if wrong[0] else "names no key"
            problems.append(ConfigProblem(f"{where}: keys.{name}", said, "such as 'f,F5,ctrl+x,?'"))
    return problems + [
        ConfigProblem(
            f"{where}: keys", f"{key!r} would do both {one.id} and {two.id}", "choose another"
        )
        for key, one, two in conflicts(keys)
    ]


def conflicts(keys: Mapping[str, str]) -> Iterator[tuple[str, Action, Action]]:
    """Each key that two actions of one screen and its panes share, with both actions."""
    for scope in ACTIONS:
        if scope not in _WIDGETS:
            yield from _taken_by_panes(scope, keys)
        taken: dict[str, Action] = {}
        around = () if scope in ("app", *_WIDGETS) else ACTIONS["app"]
        for action in (*ACTIONS[scope], *around):
            for key in effective(action, keys):
                other = taken.setdefault(key, action)
                if other is not action and not _on_purpose(other, action, key):
                    yield key, other, action


def _taken_by_panes(scope: str, keys: Mapping[str, str]) -> Iterator[tuple[str, Action, Action]]:
    """Keys of a screen that its panes would intercept."""
    for inner in (action for widget in _WIDGETS for action in ACTIONS[widget]):
        first = set(effective(inner, keys))
        for action in ACTIONS[scope]:
            for key in first.intersection(effective(action, keys)):
                if not _on_purpose(inner, action, key):
                    yield key, inner, action


def _on_purpose(one: Action, two: Action, key: str) -> bool:
    """Whether both actions have this key by default: a screen may redefine Escape or q."""
    return key in one.keys.split(",") and key in two.keys.split(",")


def effective(action: Action, keys: Mapping[str, str]) -> list[str]:
    """The keys an action has under a key map."""
    return [named(key) for key in keys.get(action.id, action.keys).split(",") if key.strip()]


def shown(name: str, keys: Mapping[str, str]) -> str:
    """The first key of an action, by its id, as people write it."""
    action = next(action for action in all_actions() if action.id == name)
    return shown_key(effective(action, keys)[0])


def textual_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """Convert a key map for Textual."""
    return {name: ",".join(map(named, value.split(","))) for name, value in keys.items()}

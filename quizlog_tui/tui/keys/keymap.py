"""Keys: their names, the user's key map, and Textual's bindings made from the table of actions.

It imports Textual only where it makes bindings, so that the shell can check a key map without.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from string import punctuation
from typing import TYPE_CHECKING

from ...config import ConfigProblem
from ...errors import UsageError, did_you_mean
from .actions import ACTIONS, Action, all_actions

if TYPE_CHECKING:
    from textual.binding import Binding, BindingType

KeyOf = Callable[[str], str]
"""Gives the key of an action id under the user's key map, as people write it."""
WIDGETS = ("pane", "list")
"""Scopes of widgets, whose keys take precedence over those of their screen."""
_RENAMED = {
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "low_line": "underscore",
    "plus_sign": "plus",
    "reverse_solidus": "backslash",
    "solidus": "slash",
}
"""Signs that Textual names otherwise than Unicode."""


def _name(sign: str) -> str:
    name = re.sub("[ -]", "_", unicodedata.name(sign).lower())
    return _RENAMED.get(name, name)


_SIGNS = {sign: _name(sign) for sign in punctuation}
_SHOWN = {name: sign for sign, name in _SIGNS.items()} | {"escape": "esc"}
_HELD = {"alt", "ctrl", "hyper", "meta", "shift", "super"}
_NAMES = {
    *("backspace", "delete", "down", "end", "enter", "escape", "home", "insert", "left"),
    *("pagedown", "pageup", "right", "space", "tab", "up"),
    *(f"f{number}" for number in range(1, 25)),
    *_SIGNS.values(),
}


def shown_key(key: str) -> str:
    """A key as people write it."""
    return _SHOWN.get(key, key)


def named(key: str) -> str:
    """Textual's name of a key: `F5` is `f5`, `?` is `question_mark`, `G` stays `G`."""
    key = key.strip()
    if len(key) == 1:
        return _SIGNS.get(key, key)
    held, last = key[:-1], key[-1:]
    if held.endswith("+"):
        return held.lower() + _SIGNS.get(last, last.lower())
    return key.lower()


def character(name: str) -> str | None:
    """What a key of Textual's name types; None for one that types nothing."""
    typed = " " if name == "space" else _SHOWN.get(name, name)
    return typed if len(typed) == 1 else None


def is_key(name: str) -> bool:
    """Whether Textual has a key of this name."""
    *held, last = name.split("+")
    return _HELD.issuperset(held) and (last in _NAMES or (len(last) == 1 and last.isalnum()))


def check_key(written: str, where: str | None = None) -> str:
    """Textual's name of a key or of any single character.

    Raises:
        UsageError: There is no such key; the nearest one is named.
    """
    name = named(written)
    if len(name) == 1 or is_key(name):
        return name
    near = _nearest(name)
    hint = f"did you mean {near}?" if near else "such as escape, f5, ctrl+x or ?"
    raise UsageError(f"there is no key {written!r}", where=where, hint=hint)


def _nearest(name: str) -> str | None:
    """The key with the most similar name, including its modifiers."""
    *held, last = name.split("+")
    parts = [get_close_matches(part, _HELD, n=1) for part in held]
    parts.append([last] if is_key(last) else get_close_matches(last, _NAMES, n=1))
    return "+".join(part[0] for part in parts) if all(parts) else None


def key_problems(keys: Mapping[str, str], where: str) -> list[ConfigProblem]:
    """Find unknown actions, empty keys, and keys with two actions on one screen."""
    if not keys:
        return []  # the defaults have none, and looking would delay the first frame
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
        if scope not in WIDGETS:
            yield from _taken_by_panes(scope, keys)
        taken: dict[str, Action] = {}
        around = () if scope in ("app", *WIDGETS) else ACTIONS["app"]
        for action in (*ACTIONS[scope], *around):
            for key in effective(action, keys):
                other = taken.setdefault(key, action)
                if other is not action and not _on_purpose(other, action, key):
                    yield key, other, action


def _taken_by_panes(scope: str, keys: Mapping[str, str]) -> Iterator[tuple[str, Action, Action]]:
    for inner in (action for widget in WIDGETS for action in ACTIONS[widget]):
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


def bindings(scope: str) -> list[BindingType]:
    """The bindings of a scope, each with the id that a key map may name."""
    return [_binding(action) for action in ACTIONS[scope]]


def screen_bindings(scope: str) -> list[BindingType]:
    """The bindings of a full screen: its own, then those that work everywhere."""
    return [*bindings(scope), *bindings("app")]


def _binding(action: Action) -> Binding:
    from textual.binding import Binding

    return Binding(
        action.keys,
        action.call,
        action.label,
        show=action.footer,
        key_display=shown_key(action.keys.split(",")[0]),
        tooltip=action.help,
        id=action.id,
    )

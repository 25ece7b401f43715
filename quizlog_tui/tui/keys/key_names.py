"""The names of keys, as people write them and as Textual does. Does not import Textual."""

from __future__ import annotations

from difflib import get_close_matches

from ...errors import UsageError

_SIGNS = {
    "!": "exclamation_mark",
    '"': "quotation_mark",
    "#": "number_sign",
    "$": "dollar_sign",
    "%": "percent_sign",
    "&": "ampersand",
    "'": "apostrophe",
    "(": "left_parenthesis",
    ")": "right_parenthesis",
    "*": "asterisk",
    "+": "plus",
    ",": "comma",
    "-": "minus",
    ".": "full_stop",
    "/": "slash",
    ":": "colon",
    ";": "semicolon",
    "<": "less_than_sign",
    "=": "equals_sign",
    ">": "greater_than_sign",
    "?": "question_mark",
    "@": "at",
    "[": "left_square_bracket",
    "\\": "backslash",
    "]": "right_square_bracket",
    "^": "circumflex_accent",
    "_": "underscore",
    "`": "grave_accent",
    "{": "left_curly_bracket",
    "|": "vertical_line",
    "}": "right_curly_bracket",
    "~": "tilde",
}
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

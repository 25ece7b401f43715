"""Finds and removes text that identifies this machine or its user, or looks like a secret.

Records, exports and bundles are given to others. This module finds folders of this machine, its
name, the login name of an author, keys and tokens, and files that usually hold them. It cannot
find what people merely wrote about themselves.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from ..files.regular_file import open_regular
from .who import KEY

T = TypeVar("T")
Kind = Literal["folder", "machine", "login", "secret", "file"]
AUTHOR = "author"
"""The key of an author's name, which is removed if it is the login name."""
_NAMES = {KEY: "name"}
"""Keys of values in which names have another key than `AUTHOR`."""
_LEAST = 8
"""Minimum length of a variable's value that is taken for a secret because of its name."""
_LEAST_NAME = 4
"""Minimum length of a machine's name; shorter ones occur inside other words."""
_SHOWN = 4
"""Number of characters of a secret that are shown in a list of findings."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.I)
_SECRETS = (
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|\Z)",
    r"(?<![\w-])(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}",
    r"(?<![\w-])(?:gh[pousr]_|github_pat_|glpat-|hf_|npm_|pypi-)[A-Za-z0-9_-]{16,}",
    r"(?<![\w-])(?:AKIA|ASIA)[0-9A-Z]{16}(?!\w)",
    r"(?<![\w-])xox[a-z]-[A-Za-z0-9-]{10,}",
    r"(?<![\w-])AIza[A-Za-z0-9_-]{30,}",
    r"(?<![\w-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)",
    r"\b(?=[A-Z0-9_]{0,60}(?:KEY|TOKEN|SECRET|PASSWORD))[A-Z0-9_]{3,80} ?= ?"
    r"[\"']?[^\s\"'()\[\]]{8,}(?![^\s\"'])",
)
"""Patterns of keys and tokens; the last one matches a line of an environment file. Matching time is
linear in the length of any text."""
_HOMES = r"(?:/home|/Users|[A-Za-z]:\\Users)[/\\][^/\\\s\"'<>:,;]+"
_FILES = re.compile(
    r"\.env(\..*)?|\.netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc|id_[a-z0-9]+"
    r"|credentials(\..*)?|.*\.(pem|key|p12|pfx|kdbx)",
    re.I,
)


class PrivateFinding(NamedTuple):
    """A private part of a text."""

    kind: Kind
    text: str
    """The private part itself; of a secret only the start."""
    where: str


@dataclass(frozen=True)
class _Rule:
    kind: Kind
    pattern: re.Pattern[str]
    stand_in: str


@dataclass(frozen=True)
class Privacy:
    """The rules for what is private on this machine."""

    rules: tuple[_Rule, ...]
    login: str
    """The login name; empty if there is none."""

    def clean(self, text: str) -> str:
        """The text with private parts replaced by placeholders."""
        for rule in self.rules:
            text = rule.pattern.sub(rule.stand_in, text)
        return text

    def find(self, text: str, where: str) -> list[PrivateFinding]:
        """The private parts of a text, which is named `where`."""
        found: list[PrivateFinding] = []
        for rule in self.rules:

            def take(match: re.Match[str], rule: _Rule = rule) -> str:
                is_secret = rule.kind == "secret"
                said = f"{match.group()[:_SHOWN]}…" if is_secret else match.group()
                found.append(PrivateFinding(rule.kind, said, where))
                return rule.stand_in

            text = rule.pattern.sub(take, text)
        return found

    def clean_value(self, value: T) -> T:
        """A list, mapping or dataclass with all texts in it cleaned."""
        cleaned: T = _with_texts(value, self.clean, self._known_author)
        return cleaned

    def find_in(self, value: Any, where: str) -> list[PrivateFinding]:
        """The private parts of all texts in a value."""
        texts, found = _texts_in(value), []
        every = "\n".join([text for _, text in texts])  # one search is enough for most values
        clean = not any(rule.pattern.search(every) for rule in self.rules)
        for key, text in texts:
            if key == AUTHOR and self._known_author(text) is None:
                found.append(PrivateFinding("login", text, where))
            found += [] if clean else self.find(text, where)
        return found

    def _known_author(self, name: str) -> str | None:
        return None if self.login and name == self.login else name


def is_private_file(name: str) -> bool:
    """Whether a file with this name usually holds keys."""
    return _FILES.fullmatch(name) is not None


def privacy_of(folder: Path, environment: Mapping[str, str] = os.environ) -> Privacy:
    """The rules for what is private on this machine.

    Args:
        folder: The folder of the record's script.
        environment: Variables; the values of those named like `API_KEY` are secrets.
    """
    values = {*_secret_values(environment), *_values_beside(folder), *_values_beside(Path())}
    known = [re.escape(value) for value in sorted(values, key=len, reverse=True)]
    secrets = re.compile("|".join([*known, *_SECRETS]), re.S)
    rules = [_Rule("secret", secrets, "[secret]")]
    for path, stand_in in _folders(folder):
        rules.append(_Rule("folder", re.compile(rf"{re.escape(path)}(?![\w.-]*\w)"), stand_in))
    rules.append(_Rule("folder", re.compile(_HOMES), "~"))
    rules += [_Rule("machine", re.compile(name), "[machine]") for name in _machine()]
    return Privacy(tuple(rules), _login())


def _folders(folder: Path) -> Iterator[tuple[str, str]]:
    """Folders of this machine and their placeholders, the longest first."""
    python = {str(Path(__file__).resolve().parents[2])}
    python |= {sys.prefix} - {sys.base_prefix}
    found = {os.path.expanduser("~"): "~"} | dict.fromkeys(python, "[python]")
    found |= {str(folder.resolve()): "[folder]", os.path.abspath(folder): "[folder]"}
    for path in sorted(found, key=len, reverse=True):
        least = 1 if found[path] == "~" else 2  # `/` and `/tmp` reveal nothing
        if len(Path(path).parts) > least:
            yield path, found[path]


def _machine() -> list[str]:
    """Patterns of this machine's name, unless it is a plain word, which texts may use as well."""
    full = socket.gethostname()
    names = {full, full.partition(".")[0]}
    return [
        rf"(?<![\w.-]){re.escape(name)}(?![\w-])"
        for name in sorted(names, key=len, reverse=True)
        if len(name) >= _LEAST_NAME and not name.isalpha()
    ]


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # no such user, or no user database
        return ""


def _secret_values(variables: Mapping[str, str]) -> Iterator[str]:
    for name, value in variables.items():
        if _SECRET_NAME.search(name) and len(value.strip()) >= _LEAST:
            yield value.strip()


def _values_beside(folder: Path) -> Iterator[str]:
    """All values in a folder's `.env` files that are long enough to be secrets."""
    for path in sorted(folder.glob(".env*")):
        try:
            with open_regular(path) as file:
                text = file.read(1_000_000).decode(errors="replace")
        except OSError:
            continue
        for line in text.splitlines():
            value = line.partition("=")[2].strip().strip("\"'")
            if not line.lstrip().startswith("#") and len(value) >= _LEAST:
                yield value


def _texts_in(value: Any, key: Any = None, named: str = AUTHOR) -> list[tuple[Any, str]]:
    """All texts in a value, in order, each with its key; those at the key `named` with `AUTHOR`."""
    if isinstance(value, str):
        return [(AUTHOR if key == named else key, value)]
    if value is None or isinstance(value, (int, float, bytes, bytearray)):
        return []
    members: Iterable[tuple[Any, Any]] = ()
    if is_dataclass(value) and not isinstance(value, type):
        members = [(name, getattr(value, name)) for name in _names(type(value))]
    elif isinstance(value, Mapping):
        members = value.items()
    elif isinstance(value, Sequence):
        members = [(None, member) for member in value]
    return [
        found
        for name, member in members
        for found in _texts_in(member, name, _NAMES.get(name, named))
    ]


@cache
def _names(form: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(form))


def _with_texts(
    value: Any,
    change: Callable[[str], str],
    author: Callable[[str], str | None],
    named: str = AUTHOR,
) -> Any:
    """A value with its texts changed; a name for which `author` gives None is removed.

    Args:
        value: The value.
        change: Changes a text.
        author: Changes a name.
        named: A key of names besides `AUTHOR`.
    """

    def member(key: Any, value: Any) -> Any:
        if key in (AUTHOR, named) and isinstance(value, str):
            value = author(value)
        return _with_texts(value, change, author, _NAMES.get(key, named))

    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        changed = {key: member(key, each) for key, each in value.items()}
        return {k: each for k, each in changed.items() if each is not None or value[k] is None}
    if is_dataclass(value) and not isinstance(value, type):
        inner = {each.name: getattr(value, each.name) for each in fields(value)}
        return replace(value, **{k: member(k, v) for k, v in inner.items()})
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_with_texts(each, change, author, named) for each in value]
    return value


def listed(findings: Iterable[PrivateFinding]) -> list[str]:
    """One line for each distinct finding, with its places."""
    places: dict[tuple[Kind, str], dict[str, None]] = {}
    for finding in findings:
        places.setdefault((finding.kind, finding.text), {})[finding.where] = None
    lines = []
    for (kind, text), where in places.items():
        first, *more = where
        rest = f" and {len(more)} more" if more else ""
        lines.append(f"{_WORDS[kind]} {text}: {first}{rest}")
    return lines


_WORDS: Mapping[Kind, str] = {
    "folder": "a folder of this machine,",
    "machine": "this machine's name,",
    "login": "your login name,",
    "secret": "what looks like a secret,",
    "file": "a file that may hold keys,",
}

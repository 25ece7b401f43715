"""Reads scripts with what the user has granted them: what runs a script for the user starts here.

A script requests a grant (real clock, files, network, environment) by a comment such as
`#quizlog: real-files`. Only the user can grant it; opening a file never grants anything. A grant
names what was looked at: the script and all that a run finds in its folder (see `surroundings`),
the environment that the user chose for it, and its place. If any of that is other now, nothing is
granted, and `Source.withheld` says what is new. A run with a grant enters only an environment that
the user chose.

A record brings arguments and answers. Nothing is granted to a run with those that were neither
given nor allowed on this machine: see `record.given_here`.

Grants are stored as TOML in the settings folder, where they can be read and edited: a table for
each script, which ends where the next one begins.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...config import config_folder
from ...errors import ConfigError, QuizlogError
from ...files.durable import write_own_text
from ...files.regular_file import Stamp, is_settled, stamp_of
from ...record.model import Record
from ...text import one_line
from . import NAMES
from .interpreter import environment_identity
from .source import Source, read_script_of, read_source

_MOST_SHOWN = 3
"""Maximum number of differences that are named."""
_MOST_KEPT = 256
"""Maximum number of scripts in the cache."""
_HEAD = """\
# What quizlog allows single scripts, each at its place, with the files and environment found there.
# Delete a script's table, from its [line] to the next one, to take the grant back.
"""


def place_of(script: Path) -> str:
    """The place of a script, to which its grant is bound.

    A link to the script is another place, as it has other files beside it.
    """
    return os.path.join(os.path.realpath(script.parent), script.name)


def granted_source(path: Path) -> Source:
    """Read a script that the user runs, with what is granted to it.

    Raises:
        ScriptError: It cannot be read.
    """
    return with_grants(read_source(path))


def granted_script_of(path: Path, record: Record) -> Source:
    """Read the script of the record at `path`, with what is granted to it for this record.

    Raises:
        ScriptError: It cannot be read.
    """
    source = with_grants(read_script_of(path, record.script))
    if not source.allowed:
        return source
    from ...record.given_here import is_given_here

    if is_given_here(path, record, place_of(source.path)):
        return source
    name = one_line(path.name)
    withheld = f"the arguments and answers of {name} were neither given nor allowed here"
    return replace(source, granted=frozenset(), surroundings=(), withheld=withheld)


def with_grants(source: Source) -> Source:
    """A script with what is granted to it now, whatever was before."""
    if not source.asked:
        return source
    source = replace(source, granted=frozenset(), surroundings=(), withheld="")
    grant = grant_at(place_of(source.path))
    if grant is None or grant.names.isdisjoint(source.asked):
        return source
    from .surroundings import differences, surroundings

    try:
        found = surroundings(source)
        new = differences(grant.files, found)
        if grant.environment != environment_identity(source.path):
            new.insert(0, "its Python environment changed")
    except QuizlogError as error:
        return replace(source, withheld=error.message)
    if new:
        return replace(source, withheld=f"{_listed(new)} since you allowed it")
    return replace(source, granted=grant.names, surroundings=found)


def grant(source: Source, names: Iterable[str]) -> None:
    """Grant something to a script from now on, for what is there now.

    What was granted before stays granted if it still holds.

    Args:
        source: The script.
        names: Some of `NAMES`.

    Raises:
        ConfigError: The chosen environment cannot be used, or the grant cannot be stored.
        UsageError: Its folder is too big to be looked at.
    """
    from .surroundings import surroundings

    every = with_grants(source).granted.union(names)
    environment = environment_identity(source.path)
    store_grant(place_of(source.path), Grant(every, dict(surroundings(source)), environment))


def _listed(new: list[str]) -> str:
    more = len(new) - _MOST_SHOWN
    shown = ", ".join(map(one_line, new[:_MOST_SHOWN]))
    return f"{shown} and {more} more" if more > 0 else shown


class SourceCache:
    """Scripts that were read, each valid until its file changes."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Stamp, Source]] = {}

    def source(self, path: str | Path) -> Source:
        """The script as it is now.

        Raises:
            ScriptError: It cannot be read.
        """
        name = _absolute(path)
        stamp = stamp_of(name)
        known = self._kept.get(name)
        if known and known[0] == stamp:
            return known[1]
        self._kept.pop(name, None)
        source = granted_source(Path(path))
        if is_settled(stamp) and not source.asked:  # a request may be granted at any time
            self._keep(name, stamp, source)
        return source

    def _keep(self, name: str, stamp: Stamp, source: Source) -> None:
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[name] = stamp, source


def _absolute(path: str | Path) -> str:
    """The absolute path of a file; empty if the current folder is gone."""
    name = os.fspath(path)
    try:
        return name if os.path.isabs(name) else os.path.join(os.getcwd(), name)
    except OSError:
        return ""


@dataclass(frozen=True)
class Grant:
    """What the user has granted to a script at one place."""

    names: frozenset[str]
    """Some of `NAMES`."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What a run finds in the script's folder, by name: see `surroundings`."""
    environment: str = ""
    """Identifies the environment that the user chose for it; empty for quizlog's own Python."""


def grants_path() -> Path:
    """The path of the file, which may not exist."""
    return config_folder() / "allowed.toml"


def grant_at(place: str) -> Grant | None:
    """What is granted to the script at a place; None if nothing is, or the file cannot be read."""
    try:
        return _grants().get(place)
    except (OSError, ValueError):
        return None


def store_grant(place: str, grant: Grant) -> None:
    """Store what is granted to the script at a place from now on, instead of what was before.

    Raises:
        ConfigError: The file cannot be read or written.
    """
    path = grants_path()
    try:
        tables = {**_grants(), place: grant}
        text = "\n".join([_HEAD, *(_table(*each) for each in tables.items())])
        write_own_text(path, text)
    except OSError as error:
        said = error.strerror or "is not a file"
    except ValueError:
        said = "it is not TOML; mend or remove it"
    else:
        return
    raise ConfigError(f"cannot store what is allowed: {said}", where=str(path)) from None


def _grants() -> dict[str, Grant]:
    """All grants by place.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not TOML.
    """
    try:
        text = grants_path().read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    import tomllib

    tables = tomllib.loads(text).items()
    return {place: _grant(table) for place, table in tables if isinstance(table, dict)}


def _grant(table: Mapping[str, Any]) -> Grant:
    """The grant of a table, in which a person may have written anything."""
    files = {name: mark for name, mark in _pairs(table.get("files"))}
    names = table.get("allowed")
    known = frozenset(name for name in NAMES if isinstance(names, list) and name in names)
    return Grant(known, files, str(table.get("environment", "")))


def _pairs(found: object) -> Iterator[tuple[str, str]]:
    for each in found if isinstance(found, list) else []:
        match each:
            case [str(name), str(mark)]:
                yield name, mark


def _table(place: str, grant: Grant) -> str:
    names = ", ".join(map(_quoted, sorted(grant.names)))
    files = "".join(
        f"  [{_quoted(name)}, {_quoted(mark)}],\n" for name, mark in grant.files.items()
    )
    return (
        f"[{_quoted(place)}]\nallowed = [{names}]\nenvironment = {_quoted(grant.environment)}\n"
        f"files = [\n{files}]\n"
    )


def _quoted(text: str) -> str:
    """A text as TOML: as in JSON, except for characters that only JSON lets stand or spells so."""
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

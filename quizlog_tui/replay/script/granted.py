"""Reads scripts with what the user has granted them: what runs a script for the user starts here.

A grant names what was looked at: the script and all that a run finds in its folder (see
`surroundings`), the environment that the user chose for it, and its place. If any of that is other
now, nothing is granted, and `Source.withheld` says what is new. A run with a grant enters only an
environment that the user chose.

A record brings arguments and answers. Nothing is granted to a run with those that were neither
given nor allowed on this machine: see `record.given_here`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ...errors import QuizlogError
from ...record.model import Record
from ...text import one_line
from .source import Source, read_script_of, read_source

_MOST_SHOWN = 3
"""Maximum number of differences that are named."""


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
    from .grants import grant_at

    grant = grant_at(place_of(source.path))
    if grant is None or grant.names.isdisjoint(source.asked):
        return source
    from .environment_identity import environment_identity
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
        names: Some of `source.NAMES`.

    Raises:
        ConfigError: The chosen environment cannot be used, or the grant cannot be stored.
        UsageError: Its folder is too big to be looked at.
    """
    from .environment_identity import environment_identity
    from .grants import Grant, store_grant
    from .surroundings import surroundings

    every = with_grants(source).granted.union(names)
    environment = environment_identity(source.path)
    store_grant(place_of(source.path), Grant(every, dict(surroundings(source)), environment))


def _listed(new: list[str]) -> str:
    more = len(new) - _MOST_SHOWN
    shown = ", ".join(map(one_line, new[:_MOST_SHOWN]))
    return f"{shown} and {more} more" if more > 0 else shown

"""Stores what the user has granted to single scripts: the real clock, files, network, environment.

A script requests a grant by a comment such as `#quizlog: real-files`. Only the user can grant it,
at one place and for what was looked at there: see `granted`. Opening a file never grants anything.
Grants are stored as TOML in the settings folder, where they can be read and edited: a table for
each script, which ends where the next one begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...config import config_folder
from ...errors import ConfigError
from ...files.durable import write_own_text
from .source import NAMES

_HEAD = """\
# What quizlog allows single scripts, each at its place, with the files and environment found there.
# Delete a script's table, from its [line] to the next one, to take the grant back.
"""


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

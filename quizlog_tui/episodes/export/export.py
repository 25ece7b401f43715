"""Exports an episodes file as rows for trainers, folders of files, or packages.

Only verified episodes are exported unless all are requested. Episodes are processed one at a time,
so that the file may have any size.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import EpisodeError
from ...files.durable import FileKind
from ...files.regular_file import open_regular
from ..format.hashing import plain_line
from ..read.files import INNER_ROWS, ROWS, read_episodes, write_lines
from ..runs.scripts import copy_needed_files, find_script
from .forms import FOLDERS, LINES, PACKAGES, Form, rl

if TYPE_CHECKING:
    from ..read.files import UsableEpisode
    from .forms import Row


@dataclass
class Exported:
    """Counts of what was exported."""

    episodes: int = 0
    """Number of episodes that gave rows."""
    rows: int = 0
    """Number of rows or files."""
    left_out: int = 0
    """Number of episodes left out because they are not verified."""
    empty: int = 0
    """Number of episodes that have no rows in this format."""
    scripts: int = 0
    """Number of scripts copied."""
    not_found: int = 0
    """Number of scripts that should be copied but were not found."""
    others: int = 0
    """Number of files of this format that were in the folder before."""


def export(
    file: Path,
    form: str,
    output: Path | None,
    scripts: Path | None,
    *,
    everything: bool,
    advanced: Callable[[int], None] | None = None,
) -> Exported:
    """Export an episodes file.

    Args:
        file: The episodes.
        form: A name of `FORMS`.
        output: The file or folder to write; None writes rows to stdout.
        scripts: Where the scripts are, for a package that replays them.
        everything: Episodes that are not verified too.
        advanced: Told how many bytes were read, after each line.

    Raises:
        EpisodeError: The file cannot be read, or the output cannot be written.
    """
    done = Exported()
    check_apart(file, output)
    chosen = _chosen(read_episodes(file, advanced), done, everything=everything)
    make = LINES.get(form)
    if make is not None:
        rows = _counted(chosen, make, done)
        if output is None:
            for row in rows:
                sys.stdout.write(f"{plain_line(row)}\n")
        else:
            write_lines(output, map(plain_line, rows), ROWS)
        return done
    if output is None:
        raise EpisodeError(f"{form} is a folder", hint="name it with -o")
    if form in FOLDERS:
        _folder(chosen, form, output, done)
    else:
        _package(chosen, PACKAGES[form], output, scripts, done)
    return done


def check_apart(file: Path, output: Path | None) -> None:
    """Raise an `EpisodeError` if the output would replace the file of episodes."""
    if output is not None and output.exists() and output.samefile(file):
        message = "is the file of episodes, which its export must not replace"
        raise EpisodeError(message, where=str(output), hint="choose another file with -o")


def _chosen(
    episodes: Iterator[UsableEpisode], done: Exported, *, everything: bool
) -> Iterator[UsableEpisode]:
    for episode in episodes:
        if episode["verified"] or everything:
            yield episode
        else:
            done.left_out += 1


def _counted(episodes: Iterator[UsableEpisode], form: Form, done: Exported) -> Iterator[Row]:
    for episode in episodes:
        before = done.rows
        for row in form(episode):
            done.rows += 1
            yield row
        done.episodes += done.rows > before
        done.empty += done.rows == before


def _folder(episodes: Iterator[UsableEpisode], form: str, folder: Path, done: Exported) -> None:
    """Write a file for each episode, named for its id."""
    make, ending = FOLDERS[form]
    written = set()
    for episode in episodes:
        name = "".join(c if c.isalnum() or c == "-" else "_" for c in episode["episode_id"])
        write_lines(folder / f"{name}{ending}", map(plain_line, make(episode)), INNER_ROWS)
        written.add(f"{name}{ending}")
        done.episodes += 1
        done.rows += 1
    there = {path.name for path in folder.glob(f"*{ending}")}
    done.others = len(there - written)


def _is_module(path: Path) -> bool:
    with contextlib.suppress(OSError), open_regular(path) as file:
        return b"made by `quizlog episodes export`" in file.read(200)
    return False


_MODULE = FileKind("a package of episodes", _is_module)


def _package(
    episodes: Iterator[UsableEpisode],
    module: str,
    folder: Path,
    scripts: Path | None,
    done: Exported,
) -> None:
    """Write a package named like its folder: the module, the rows, the scripts."""
    name = folder.absolute().name
    if not name.isidentifier():
        hint = "Python imports it by that name: letters, digits and _ only"
        raise EpisodeError(f"{name!r} cannot name a package", where=str(folder), hint=hint)
    template = files("quizlog_tui.episodes") / "templates" / f"{module}.txt"
    rows = _with_scripts(_counted(episodes, rl, done), scripts, folder / "scripts", done)
    text = template.read_text(encoding="utf-8").rstrip("\n")
    write_lines(folder / "rows.jsonl", map(plain_line, rows), INNER_ROWS)
    write_lines(folder / "__init__.py", [text], _MODULE)


def _with_scripts(
    rows: Iterator[Row], found_in: Path | None, target: Path, done: Exported
) -> Iterator[Row]:
    """Pass on the rows, and copy their scripts."""
    known: set[str] = set()
    for row in rows:
        code_hash = str(json.loads(str(row["info"])).get("code_hash", ""))
        if found_in is not None and code_hash and code_hash not in known:
            known.add(code_hash)
            script = find_script(found_in.absolute(), code_hash, but=target.absolute())
            if script is None:
                done.not_found += 1
            else:
                copy_needed_files(script, code_hash, target)
                done.scripts += 1
        yield row

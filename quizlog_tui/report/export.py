"""Writes a report to a file in the format that the file's name asks for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..errors import UsageError
from ..files.durable import FileKind, check_place, write_text
from ..record.private_text import Privacy, PrivateFinding, privacy_of
from ..replay.script.needed_files import EXPORT, is_marked
from ..session.session import Session
from .document import RecordReport, build_report
from .html import to_html
from .markdown import to_markdown

_FORMS: dict[str, Callable[[RecordReport], str]] = {
    ".html": to_html,
    ".htm": to_html,
    ".md": to_markdown,
    ".markdown": to_markdown,
}
"""The function that renders each format, by the suffix of the file's name."""


def export(
    session: Session,
    path: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
    *,
    redact: bool = False,
    player: bool = False,
) -> RecordReport:
    """Write the whole record with all its branches as a document; return its content.

    An earlier export is replaced atomically; no other file is ever replaced. Ask the user before
    calling this. The report lists its text that names this machine or looks like a secret.

    Args:
        session: The open record.
        path: The file.
        progress: Called before each branch with the number of branches done and of all branches.
        redact: Replace private text by placeholders.
        player: Add a player of the steps, which only HTML can have.

    Raises:
        UsageError: The name asks for no known format, or for one that can have no player; or the
            file exists and is not an export.
        RecordError: The file cannot be written.
        CancelledError: The user stopped it; nothing was written.
    """
    checked_form(path, player=player)
    report = prepared_report(session, progress)
    return write_report(session, report, path, redact=redact, player=player)


def prepared_report(session: Session, progress: Callable[[int, int], None]) -> RecordReport:
    """The content of an export, with a list of the private text in it; nothing is written.

    Raises:
        CancelledError: The user stopped the replay.
    """
    report = build_report(session, progress)
    return replace(report, private=list(_findings(report, _privacy(session))))


def _findings(report: RecordReport, privacy: Privacy) -> Iterator[PrivateFinding]:
    """The private text in a report, branch by branch."""
    for section in report.branches:
        if not privacy.find_in(section, ""):
            continue
        for row in section.rows:
            step = (row, {"who": section.who.get(row.at)})
            yield from privacy.find_in(step, f"branch {section.name}, step {row.at}")
        yield from privacy.find_in(replace(section, rows=(), who={}), f"branch {section.name}")
    yield from privacy.find_in(replace(report, branches=()), "the record")


def write_report(
    session: Session, report: RecordReport, path: Path, *, redact: bool, player: bool
) -> RecordReport:
    """Write a prepared report to a file and return it as written. See `export`."""
    form = checked_form(path, player=player)
    if redact:  # but for the list of what is private
        clean = _privacy(session).clean_value(replace(report, private=()))
        report = replace(clean, private=report.private)
    write_text(path, form(report), _KIND)
    return report


def _privacy(session: Session) -> Privacy:
    return privacy_of(session.source.path.parent)


def checked_form(path: Path, *, player: bool) -> Callable[[RecordReport], str]:
    """The function that renders the format that a file's name asks for.

    Raises:
        UsageError: The name asks for no known format, or for one that can have no player; the
            folder does not exist.
        RecordError: Something else than an export of quizlog is there, or a link.
    """
    form = _FORMS.get(path.suffix.lower())
    if form is None:
        hint = f"end its name in {', '.join(_FORMS)}"
        raise UsageError("has no suffix of an export format", where=str(path), hint=hint)
    if player and form is not to_html:
        hint = "end its name in .html, or leave out the player"
        raise UsageError("only HTML can have a player", where=str(path), hint=hint)
    check_place(path, _KIND)
    if not os.path.isdir(path.parent):
        raise UsageError("its folder does not exist", where=str(path), hint="make the folder first")
    return partial(to_html, player=True) if player else form


def _is_export(path: Path) -> bool:
    return is_marked(path, EXPORT)


_KIND = FileKind("an export", _is_export)

"""Writes what is on the screen, or a whole record, to a file the user names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from ...errors import UsageError
from ...record.durable import write_text
from ...record.private_text import listed
from ...session.session import Session
from ..screenshot import screen_svg, screen_text

if TYPE_CHECKING:
    from ...report.document import RecordReport


@dataclass(frozen=True)
class Export:
    """One thing that can be written."""

    about: str
    """What it is."""
    name: str
    """The file's name, if the user gives no other."""
    write: Callable[[Path], object]
    """Writes it over what is there; raises a `QuizlogError` where it cannot."""
    report: ReportExport | None = None
    """What is to be prepared before; None for what is written as it is."""


class ReportExport:
    """The whole record as a document, made before the user says where to and how.

    Args:
        session: The open record.
        progress: Told what is being done, in words.
    """

    def __init__(self, session: Session, progress: Callable[[str], None]) -> None:
        self._session = session
        self._progress = progress
        self._report: RecordReport | None = None
        self.redact = False
        """Whether to write it without what is private."""

    def prepare(self) -> list[str]:
        """Make the document; a line for each private thing in it."""
        from ...report.export import prepared_report

        self._report = prepared_report(self._session, self._tell)
        return listed(self._report.private)

    def write(self, path: Path, *, player: bool = False) -> None:
        """Write what was prepared, with a player of the steps where that is wanted."""
        from ...report.export import write_report

        assert self._report is not None
        write_report(self._session, self._report, path, redact=self.redact, player=player)

    def _tell(self, done: int, total: int) -> None:
        self._progress(f"branch {done} of {total}")


def pictures(app: App[Any]) -> list[Export]:
    """The screen as it is now, in both forms."""
    return [
        text_export("this screen as a picture (SVG)", "screen.svg", screen_svg(app)),
        text_export("this screen as text", "screen.txt", screen_text(app)),
    ]


def text_export(about: str, name: str, text: str) -> Export:
    """A text that is at hand."""
    return Export(about, name, lambda path: _write(path, text))


def report_name(record: Path) -> str:
    """What a report of a record is called, without its ending: as the record, or as its folder."""
    return record.resolve().parent.name if record.stem == "record" else record.stem


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except ValueError as error:  # a name that no file can have
        message = f"cannot write: {error}"
        raise UsageError(message, where=str(path), hint="choose another name") from None

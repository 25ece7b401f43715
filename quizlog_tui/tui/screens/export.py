"""Writes the screen or a whole record to a file that the user names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from ...errors import UsageError
from ...files.durable import write_text
from ...record.private_text import listed
from ...session.session import Session
from ..screenshot import PICTURE, screen_svg, screen_text

if TYPE_CHECKING:
    from ...report.document import RecordReport


@dataclass(frozen=True)
class Export:
    """Something that can be exported."""

    about: str
    """What it is."""
    name: str
    """The default file name."""
    write: Callable[[Path], object]
    """Writes it, replacing an existing file; raises a `QuizlogError` if that fails."""
    report: ReportExport | None = None
    """The report to prepare before writing; None if there is none."""


class ReportExport:
    """The whole record as a document, prepared before the user chooses a file and redaction."""

    def __init__(self, session: Session, progress: Callable[[str], None]) -> None:
        self._session = session
        self._progress = progress
        self._report: RecordReport | None = None
        self.redact = False
        """Whether to remove private text."""

    def prepare(self) -> list[str]:
        """Prepare the document; returns a line for each private text in it."""
        from ...report.export import prepared_report

        def tell(done: int, total: int) -> None:
            self._progress(f"branch {done} of {total}")

        self._report = prepared_report(self._session, tell)
        return listed(self._report.private)

    def write(self, path: Path, *, player: bool = False) -> None:
        """Write what was prepared, with a player of the steps where that is wanted."""
        from ...report.export import write_report

        assert self._report is not None
        write_report(self._session, self._report, path, redact=self.redact, player=player)


def pictures(app: App[Any]) -> list[Export]:
    """Exports of the present screen as SVG and as text."""
    return [
        text_export("this screen as a picture (SVG)", "screen.svg", screen_svg(app)),
        text_export("this screen as text", "screen.txt", screen_text(app)),
    ]


def text_export(about: str, name: str, text: str) -> Export:
    """A text that is at hand."""
    return Export(about, name, lambda path: _write(path, text))


def report_name(record: Path) -> str:
    """The default name of a report without suffix: that of the record or of its folder."""
    return record.resolve().parent.name if record.stem == "record" else record.stem


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text, PICTURE)
    except ValueError as error:  # a name that no file can have
        message = f"cannot write: {error}"
        raise UsageError(message, where=str(path), hint="choose another name") from None

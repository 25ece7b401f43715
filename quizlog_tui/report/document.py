"""What an export of a record says, as plain data: every branch with its steps, outcome, remarks.

Replays the branches through the session; knows nothing of HTML or Markdown. The texts in it are as
the script and the record have them: whoever shows them makes them safe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..errors import QuizlogError
from ..record.feedback import Feedback, read
from ..record.lineage import upwards
from ..record.model import Record, Status
from ..record.private_text import Privacy, PrivateFinding
from ..replay.script.source import Source
from ..replay.transcript import Transcript
from ..session.branch_list import BranchInfo
from ..session.session import Session
from ..session.timeline import Moment, timeline


@dataclass(frozen=True)
class ErrorSection:
    """The exception a branch ended with."""

    kind: str | None
    """Its class name."""
    message: str
    """Its text."""
    line: int | None
    """The script line."""
    excerpt: Sequence[tuple[int, str]]
    """The source around that line: number and text."""


@dataclass(frozen=True)
class BranchSection:
    """One branch, from where it leaves its parent on."""

    name: str
    """Its name."""
    active: bool
    """Whether it is the record's active one."""
    parent: str | None
    """The branch its first answers are shown with; None if all are shown here."""
    at: int
    """How many answers those are."""
    created: str | None
    """When it was made."""
    note: str | None
    """A person's remark."""
    moments: Sequence[Moment] = ()
    """Its own steps and, last, where it stands; none if it could not be run."""
    status: Status | None = None
    """How it ends."""
    score: float | None = None
    """The score there."""
    error: ErrorSection | None = None
    """The exception, if it raised."""
    problem: str | None = None
    """Why it could not be run."""
    remarks: Sequence[Feedback] = ()
    """What was said of it as a whole."""


@dataclass(frozen=True)
class RecordReport:
    """A whole record."""

    script: str
    """Name of the script."""
    record: str
    """Name of the record."""
    seed: int
    """The seed of the script's randomness."""
    code_hash: str
    """The hash of the script that was run for the export."""
    branches: Sequence[BranchSection]
    """All branches that are not deleted, oldest first."""
    warnings: Sequence[str]
    """What the user should know, such as a script that changed."""
    remarks: Sequence[Feedback]
    """What was said of the whole, or of a step that is not there."""
    private: Sequence[PrivateFinding] = ()
    """What in it names this machine or looks like a secret; not part of the document."""


def build_report(
    session: Session, progress: Callable[[int, int], None] = lambda done, total: None
) -> RecordReport:
    """Run every branch and collect what there is to say.

    Args:
        session: The open record; it is not changed.
        progress: Called for each branch: how many are done, of how many.

    Raises:
        CancelledError: The user stopped it.
    """
    record, branches = session.record, {branch.name: branch for branch in session.branches}
    sections: dict[str, BranchSection] = {}
    for name, outcome in session.transcripts_of(list(branches)):
        progress(len(sections), len(branches))
        sections[name] = _section(session, record, branches[name], outcome)
    in_order = [sections[name] for name in branches]
    return RecordReport(
        script=session.source.path.name,
        record=session.path.name,
        seed=record.seed,
        code_hash=session.source.code_hash,
        branches=in_order,
        warnings=session.warnings,
        remarks=_others(record, in_order),
    )


def _section(
    session: Session, record: Record, branch: BranchInfo, whole: Transcript | QuizlogError
) -> BranchSection:
    parent, at = _shown_with(record, branch.name)
    own = [said for said in read(record) if said.at is None and said.branch == branch.name]
    section = BranchSection(
        branch.name, branch.active, parent, at, branch.created, branch.note, remarks=own
    )
    if isinstance(whole, QuizlogError):
        return replace(section, problem=whole.message)
    return replace(
        section,
        moments=timeline(whole, record, branch.name, tries=False)[at:],
        status=whole.status,
        score=whole.score,
        error=_error(whole, session.source),
    )


def _shown_with(record: Record, name: str) -> tuple[str | None, int]:
    """The nearest ancestor that is shown, and how many answers are shown there."""
    for ancestor, reach in upwards(record, name):
        if ancestor != name and not record.hides(ancestor):
            return ancestor, reach
    return None, 0


def _error(whole: Transcript, source: Source) -> ErrorSection | None:
    error = whole.last_error
    if error is None:
        return None
    excerpt = source.excerpt(error.line) if error.line else []
    return ErrorSection(whole.error_type, error.message, error.line, excerpt)


def _others(record: Record, sections: Sequence[BranchSection]) -> list[Feedback]:
    """The remarks that no branch shows, without those on deleted branches."""
    shown = {repr(said) for section in sections for said in section.remarks}
    for section in sections:
        shown |= {repr(said) for moment in section.moments for said in moment.notes}
    return [
        said
        for said in read(record)
        if repr(said) not in shown and not (said.branch and record.hides(said.branch))
    ]


def with_findings(report: RecordReport, privacy: Privacy) -> RecordReport:
    """The report, with a list of what is private in it."""
    found: list[PrivateFinding] = []
    for section in report.branches:
        if not privacy.find_in(section, ""):
            continue
        for moment in section.moments:
            found += privacy.find_in(moment, f"branch {section.name}, step {moment.at}")
        found += privacy.find_in(replace(section, moments=()), f"branch {section.name}")
    found += privacy.find_in(replace(report, branches=()), "the record")
    return replace(report, private=found)


def redacted(report: RecordReport, privacy: Privacy) -> RecordReport:
    """The report with stand-ins for what is private; the list of it stays."""
    return replace(privacy.clean_value(replace(report, private=())), private=report.private)

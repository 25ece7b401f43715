"""The content of an export as plain data: every branch with its steps, outcome and remarks.

It replays the branches through the session and knows nothing of HTML or Markdown. Its texts are
those of the script and the record, unescaped. The phrases that HTML and Markdown share are below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from ..errors import QuizlogError
from ..record import who
from ..record.feedback import Feedback, read
from ..record.lineage import upwards
from ..record.model import Record, Status
from ..record.private_text import PrivateFinding
from ..record.who import Attribution, giver_and_door
from ..replay.script.source import Source
from ..replay.transcript import Transcript
from ..session.reply import BranchInfo
from ..session.session import Session
from ..session.timeline import TimelineRow, timeline
from ..text import plural


@dataclass(frozen=True)
class ErrorSection:
    """The exception a branch ended with."""

    kind: str | None
    """The exception's class name."""
    message: str
    """The exception's text."""
    line: int | None
    """The line number in the script, or in `file`."""
    excerpt: Sequence[tuple[int, str]]
    """The source around that line: number and text."""
    file: str = ""
    """The name of the file with that line, if it is not the script itself."""
    said: str = ""
    """What stderr says of it: notes, the members of a group, what led to it."""


@dataclass(frozen=True)
class BranchSection:
    """One branch, from its fork point on."""

    name: str
    active: bool
    """Whether it is the record's active one."""
    parent: str | None
    """The branch whose section shows the answers before the fork; None if this one shows all."""
    at: int
    """The number of answers before the fork."""
    created: str | None
    """When it was created, ISO 8601 in UTC."""
    note: str | None
    """The user's note on it."""
    rows: Sequence[TimelineRow] = ()
    """Its steps after the fork and its last stop; empty if it could not be replayed."""
    status: Status | None = None
    """Its status at the end, as its score."""
    score: float | None = None
    error: ErrorSection | None = None
    """The exception, if the script raised one."""
    problem: str | None = None
    """Why it could not be replayed; None if it could."""
    remarks: Sequence[Feedback] = ()
    """The remarks on the branch as a whole."""
    who: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    """How the answers of `rows` were given, by step, as far as known; see `Attribution`."""


@dataclass(frozen=True)
class RecordReport:
    """The content of an export of a whole record."""

    script: str
    """Name of the script."""
    record: str
    """Name of the record."""
    seed: int
    code_hash: str
    """The hash of the script's source when it was replayed for the export."""
    branches: Sequence[BranchSection]
    """All branches that are not deleted, oldest first."""
    warnings: Sequence[str]
    """Warnings for the user, for example that the script changed."""
    remarks: Sequence[Feedback]
    """The remarks on the record as a whole, or on steps that do not exist."""
    private: Sequence[PrivateFinding] = ()
    """Text that names this machine or looks like a secret; not itself part of the document."""
    args: Sequence[str] = ()
    """The script's arguments."""


def build_report(
    session: Session, progress: Callable[[int, int], None] = lambda done, total: None
) -> RecordReport:
    """Replay every branch and collect the content of an export.

    Args:
        session: The open record; it is not changed.
        progress: Called before each branch with the number of branches done and of all branches.

    Raises:
        CancelledError: The user stopped the replay.
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
        args=record.args,
        code_hash=session.source.code_hash,
        branches=in_order,
        warnings=session.warnings,
        remarks=_others(record, in_order),
    )


def _section(
    session: Session, record: Record, branch: BranchInfo, whole: Transcript | QuizlogError
) -> BranchSection:
    parent, at = _shown_with(record, branch.name)
    own = [remark for remark in read(record) if remark.at is None and remark.branch == branch.name]
    section = BranchSection(
        branch.name, branch.active, parent, at, branch.created, branch.note, remarks=own
    )
    if isinstance(whole, QuizlogError):
        return replace(section, problem=whole.message)
    givers = who.on_branch(record, branch.name).items()
    return replace(
        section,
        rows=timeline(whole, record, branch.name, tries=False)[at:],
        who={step: given.to_dict() for step, given in givers if step >= at},
        status=whole.status,
        score=whole.score,
        error=_error(whole, session.source),
    )


def _shown_with(record: Record, name: str) -> tuple[str | None, int]:
    """The nearest ancestor that is shown, and how many answers of the branch its section shows."""
    for ancestor, reach in upwards(record, name):
        if ancestor != name and not record.hides(ancestor):
            return ancestor, reach
    return None, 0


def _error(whole: Transcript, source: Source) -> ErrorSection | None:
    error = whole.last_error
    if error is None:
        return None
    file, line = source.at(error.place, error.line)
    name = (error.place or "").rpartition(":")[0]
    excerpt = file.excerpt(line) if line else []
    return ErrorSection(whole.error_type, error.message, line, excerpt, name, whole.exit_text)


def _others(record: Record, sections: Sequence[BranchSection]) -> list[Feedback]:
    """The remarks that no section shows, without those on deleted branches."""
    shown = {repr(remark) for section in sections for remark in section.remarks}
    for section in sections:
        shown |= {repr(remark) for row in section.rows for remark in row.notes}
    return [
        remark
        for remark in read(record)
        if repr(remark) not in shown and not (remark.branch and record.hides(remark.branch))
    ]


_OUTCOMES = {"in_progress": "● waiting", "success": "✓ finished", "error": "✗ error"}


def outcome(status: Status | None, score: float | None) -> str:
    """An outcome as a sign, a word, and the score if there is one."""
    known = "? not run" if status is None else _OUTCOMES[status]
    return known if score is None else f"{known}, score {score:g}"


def length(branch: BranchSection) -> str:
    """The number of answers of a branch, shared ones included, in words."""
    return plural(branch.at + max(len(branch.rows) - 1, 0), "answer")


def signed(remark: Feedback) -> list[str]:
    """A remark's verdict, author, time and unknown keys, as untrusted text."""
    rest = [f"{key}={value}" for key, value in remark.extras.items()]
    time = when(remark.time) if remark.time else ""
    return [word for word in (remark.verdict, remark.author, time, *rest) if word]


def given(branch: BranchSection, at: int) -> list[str]:
    """Who gave an answer, by which door and when, as untrusted text; empty if nothing is known."""
    known = Attribution(**branch.who.get(at, {}))
    time = [when(known.time)] if known.time else []
    return [*giver_and_door(known), *time] if known != Attribution() else []


def when(time: str) -> str:
    """A recorded time to be read, to the minute; what is no time stays as it is."""
    try:
        then = datetime.fromisoformat(time)
        zone = "" if then.tzinfo is None else " UTC"
        then = then.astimezone(UTC) if zone else then
    except (ValueError, OverflowError):
        return time
    return f"{then:%Y-%m-%d %H:%M}{zone}" if ":" in time else time


def place(remark: Feedback) -> list[str]:
    """The branch and step of a remark, for one that is not shown at its step."""
    step = [] if remark.at is None else [f"step {remark.at}"]
    return [*([f"branch {remark.branch}"] if remark.branch else []), *step]

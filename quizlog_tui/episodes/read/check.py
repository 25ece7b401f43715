"""Checks an episodes file: every line against the schema, the rules, and the previous lines.

Memory use grows only by a few bytes per episode, to find duplicate ids.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

from pydantic import ValidationError

from ..format.hashing import seal_fits, sealed_as_is
from ..format.rules import GOLD, LONG_LINE, RULES, RuleFinding, View, says_quizlog
from ..format.schema import SHAPE
from .files import LineError, lines, parse

if TYPE_CHECKING:
    from ..format.hashing import JsonObject
    from ..format.schema import Episode

_KEPT = 20_000
"""Maximum number of errors, and of warnings, in a report; the rest is only counted."""
_SHAPE = SHAPE.validator


class ReportedFinding(TypedDict):
    """A finding as the report states it."""

    line: int
    path: str
    code: str
    message: str


@dataclass
class CheckReport:
    """The findings about a file."""

    lines: int = 0
    """Number of lines that are not blank."""
    verified: int = 0
    """Number of lines without errors whose `verified` is true."""
    errors: list[ReportedFinding] = field(default_factory=list)
    """The first errors: line, path, code, message."""
    warnings: list[ReportedFinding] = field(default_factory=list)
    """The first warnings, in the same form."""
    error_count: int = 0
    """Number of all errors."""
    warning_count: int = 0
    """Number of all warnings."""

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.error_count

    def add(self, line: int, finding: RuleFinding) -> None:
        """Add a finding."""
        path, code, message, warning = finding
        found = self.warnings if warning else self.errors
        if warning:
            self.warning_count += 1
        else:
            self.error_count += 1
        if len(found) < _KEPT:
            found.append({"line": line, "path": path, "code": code, "message": message})

    def to_dict(self) -> dict[str, object]:
        """The report as printed by the command with `--json`."""
        return {"ok": self.ok} | vars(self)


def check_file(path: Path, advanced: Callable[[int], None] | None = None) -> CheckReport:
    """Check a file; `advanced` gets the number of bytes read after each line.

    Raises:
        EpisodeError: The file cannot be read.
    """
    report, seen = CheckReport(), SeenLines()
    for number, line in lines(path, advanced):
        report.lines += 1
        sound = True
        for finding in check_line(line, seen):
            sound = sound and finding.warning
            report.add(number, finding)
        report.verified += sound and seen.verified
    return report


class SeenLines:
    """Remembers two hashes of each previous line, about 150 bytes, to find repetitions.

    Two different values have the same hash with a probability of 2**-64.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self.verified = False
        """Whether the last line claims to be verified."""

    def look(self, view: View) -> Iterator[RuleFinding]:
        """Remember an episode, and yield what it repeats."""
        self.verified = view.episode["verified"]
        if self._repeats(view.episode["episode_id"]):
            yield RuleFinding("episode_id", "duplicate-id", "is that of an earlier line too")
        code_hash, seed = str(view.metadata.get("code_hash")), str(view.metadata.get("seed"))
        answer = view.gold["final_answer_hash"]
        if self._repeats((view.question["id"], answer, code_hash, seed)):
            message = "an earlier line has this question and answer too"
            yield RuleFinding("question.id", "duplicate-answer", message, warning=True)

    def _repeats(self, thing: Hashable) -> bool:
        """Whether a thing was there before; it is known from now on."""
        known = len(self._known)
        self._known.add(hash(thing))
        return len(self._known) == known


def check_line(line: bytes, seen: SeenLines | None = None) -> list[RuleFinding]:
    """All findings about one line, errors first."""
    seen = seen or SeenLines()
    seen.verified = False
    found: list[RuleFinding] = []
    episode = _quickly(line) or _thoroughly(line, found)
    if episode is None:
        return found
    view = View(episode)
    for rule in RULES:
        found += rule(view)
    found += seen.look(view)
    if len(line) > LONG_LINE:
        message = f"is {len(line) / 2**20:.0f} MB long"
        found.append(RuleFinding("", "long-line", message, warning=True))
    return sorted(found, key=_is_warning) if found else found


def _is_warning(finding: RuleFinding) -> bool:
    return finding.warning


def _quickly(line: bytes) -> Episode | None:
    """The episode of a line that is unchanged since it was sealed; None for any other line.

    Quizlog wrote the bytes of such a line, so it has no duplicate keys and no infinite numbers. The
    seal is trusted for that only; all rules are still applied.
    """
    if not sealed_as_is(line):
        return None
    try:
        return cast("Episode", _SHAPE.validate_json(line))
    except ValidationError:
        return None


def _thoroughly(line: bytes, found: list[RuleFinding]) -> Episode | None:
    """The episode of any line; None if its structure is wrong. Faults are added to `found`."""
    try:
        episode = parse(line)
    except LineError as error:
        found.append(RuleFinding("", error.code, str(error)))
        return None
    shape = list(_shape(episode))
    found += shape
    if not all(map(_is_warning, shape)):
        return None
    sound = cast("Episode", episode)
    found += _seal(sound)
    return sound


def _seal(episode: Episode) -> Iterator[RuleFinding]:
    """A sealed line is unchanged, and quizlog's own lines are sealed."""
    where, metadata = (
        f"{GOLD}.submission_metadata.seal",
        episode["teacher_gold_trace"]["submission_metadata"],
    )
    if "seal" in metadata and not seal_fits(episode):
        yield RuleFinding(where, "seal", "the line was changed since it was written")
    elif "seal" not in metadata and says_quizlog(metadata):
        yield RuleFinding(where, "seal", "is missing from a line that quizlog wrote")


def _shape(episode: JsonObject) -> Iterator[RuleFinding]:
    try:
        _SHAPE.validate_python(episode)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_context=False, include_input=False):
            if fault["type"] == "extra_forbidden":
                message = "is not a key of the schema"
                yield RuleFinding(_path(fault["loc"]), "extra-key", message, warning=True)
            else:
                yield RuleFinding(_path(fault["loc"]), "schema", fault["msg"])


def _path(steps: tuple[int | str, ...]) -> str:
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return "".join(parts).removeprefix(".")

"""Checking an episodes file: every line against the schema, the rules, and the lines before it.

Strict by default. Lenient mode reads files of older forms: what `upgrade` would mend becomes a
warning; that `verified` is wrong stays an error. Memory does not grow with the file, but for a
few bytes per episode to find ids that stand twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from ..format.fingerprints import Fingerprints
from ..format.lines import seal_fits, sealed_as_is
from ..format.migrations import mended, told_of
from ..format.rules import GOLD, RULES, RuleFinding, View, says_quizlog
from ..format.schema import SHAPE
from .advice import ADVICE, LONG_LINE
from .reading import LineError, lines, parse

KEPT = 1000
"""Findings of each kind that a report lists; the rest is only counted."""
_EVERY_RULE = (*RULES, *ADVICE)
_SHAPE = SHAPE.validator


@dataclass
class CheckReport:
    """What was found in a file."""

    lines: int = 0
    """Lines that are not blank."""
    verified: int = 0
    """Sound lines whose `verified` is true."""
    error_count: int = 0
    """All errors."""
    warning_count: int = 0
    """All warnings."""
    errors: list[dict[str, Any]] = field(default_factory=list)
    """The first errors: line, path, code, message."""
    warnings: list[dict[str, Any]] = field(default_factory=list)
    """The first warnings, of the same shape."""

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.error_count

    def add(self, line: int, finding: RuleFinding) -> None:
        """Note a finding."""
        path, code, message, warning = finding
        found = self.warnings if warning else self.errors
        if warning:
            self.warning_count += 1
        else:
            self.error_count += 1
        if len(found) < KEPT:
            found.append({"line": line, "path": path, "code": code, "message": message})

    def to_dict(self) -> dict[str, Any]:
        """The report as the JSON of the command."""
        return {
            "ok": self.ok,
            "lines": self.lines,
            "verified": self.verified,
            "errors": self.errors,
            "warnings": self.warnings,
            "error_count": self.error_count,
            "warning_count": self.warning_count,
        }


def check_file(
    path: Path, *, lenient: bool = False, advanced: Callable[[int], None] | None = None
) -> CheckReport:
    """Check a file.

    Args:
        path: The file.
        lenient: Read older forms too.
        advanced: Told how many bytes were read, after each line.

    Raises:
        EpisodeError: The file cannot be read.
    """
    report, seen = CheckReport(), SeenLines()
    for number, line in lines(path, advanced):
        report.lines += 1
        sound = True
        for finding in check_line(line, seen, lenient=lenient):
            sound = sound and finding.warning
            report.add(number, finding)
        report.verified += sound and seen.verified
    return report


class SeenLines:
    """What the lines before were: a few bytes of each."""

    def __init__(self) -> None:
        self._known = Fingerprints()
        self.verified = False
        """Whether the line looked at last says that it is verified."""

    def look(self, view: View) -> Iterator[RuleFinding]:
        """Tell what the episode repeats."""
        self.verified = view.episode["verified"]
        if self._known.add(view.episode["episode_id"]):
            yield RuleFinding("episode_id", "duplicate-id", "stands on an earlier line too")
        code_hash, seed = str(view.told.get("code_hash")), str(view.told.get("seed"))
        answer = view.gold["final_answer_hash"]
        if self._known.add((view.question["id"], answer, code_hash, seed)):
            message = "an earlier line has this question and answer too"
            yield RuleFinding("question.id", "duplicate-answer", message, warning=True)


def check_line(
    line: bytes, seen: SeenLines | None = None, *, lenient: bool = False
) -> list[RuleFinding]:
    """All findings about one line, errors first."""
    seen = seen or SeenLines()
    seen.verified = False
    found: list[RuleFinding] = []
    episode = _quickly(line) or _thoroughly(line, found, lenient=lenient)
    if episode is None:
        return found
    view = View(episode)
    for rule in _EVERY_RULE:
        found += rule(view)
    found += seen.look(view)
    if len(line) > LONG_LINE:
        message = f"is {len(line) / 2**20:.0f} MB long"
        found.append(RuleFinding("", "long-line", message, warning=True))
    return sorted(found, key=_is_warning) if found else found


def _is_warning(finding: RuleFinding) -> bool:
    return finding.warning


def _quickly(line: bytes) -> dict[str, Any] | None:
    """The episode of a line that is as it was sealed; None if it must be looked at closely.

    Its bytes are then what our own writer made of an object: no key stands twice, no number is
    infinite. Only that is taken from the seal; every rule is asked all the same.
    """
    if not sealed_as_is(line):
        return None
    try:
        return cast("dict[str, Any]", _SHAPE.validate_json(line))
    except ValidationError:
        return None


def _thoroughly(line: bytes, found: list[RuleFinding], *, lenient: bool) -> dict[str, Any] | None:
    """The episode of any line, with what is wrong with its form; None if it has no such shape."""
    try:
        episode = parse(line)
    except LineError as error:
        found.append(RuleFinding("", error.code, str(error)))
        return None
    before = episode
    if lenient:
        episode, notes = mended(episode)
        found += [RuleFinding(path, "older-form", what, warning=True) for path, what in notes]
    shape = list(_shape(episode))
    found += shape
    if not all(map(_is_warning, shape)):
        return None
    found += _seal(before)
    return episode


def _seal(episode: dict[str, Any]) -> Iterator[RuleFinding]:
    """A line that is sealed is as it was then; quizlog's own lines are sealed."""
    told, where = told_of(episode) or {}, f"{GOLD}.submission_metadata.seal"
    if "seal" in told and not seal_fits(episode):
        yield RuleFinding(where, "seal", "the line was changed since it was written")
    elif "seal" not in told and says_quizlog(told):
        yield RuleFinding(where, "seal", "is missing from a line that quizlog wrote")


def _shape(episode: dict[str, Any]) -> Iterator[RuleFinding]:
    try:
        _SHAPE.validate_python(episode)
    except ValidationError as error:
        for one in error.errors(include_url=False, include_context=False, include_input=False):
            if one["type"] == "extra_forbidden":
                message = "is no key of the schema"
                yield RuleFinding(_path(one["loc"]), "extra-key", message, warning=True)
            else:
                yield RuleFinding(_path(one["loc"]), "schema", one["msg"])


def _path(steps: tuple[int | str, ...]) -> str:
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return "".join(parts).removeprefix(".")

"""Checking an episodes file: every line against the schema, the rules, and the lines before it.

Strict by default. Lenient mode reads files of older forms: what `upgrade` would mend becomes a
warning; that `verified` is wrong stays an error. Memory does not grow with the file, but for a
few bytes per episode to find ids that stand twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from . import schema
from .advice import ADVICE, LONG_LINE, extra_keys
from .older import mended
from .reading import LineError, lines, parse
from .rules import ERRORS, Finding, sealed

KEPT = 1000
"""Findings of each kind that a report lists; the rest is only counted."""
_KEYS = {
    name: frozenset(getattr(schema, name).model_fields)
    for name in (
        "Episode",
        "Question",
        "ExecutionTrace",
        "ConversationForSft",
        "RlVerificationData",
        "TriangulationMetadata",
    )
}
_SHAPE = schema.Episode.__pydantic_validator__


@dataclass
class Report:
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

    def add(self, line: int, finding: Finding) -> None:
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
) -> Report:
    """Check a file.

    Args:
        path: The file.
        lenient: Read older forms too.
        advanced: Told how many bytes were read, after each line.

    Raises:
        EpisodeError: The file cannot be read.
    """
    report, seen = Report(), Seen()
    for number, line in lines(path, advanced):
        report.lines += 1
        sound = True
        for finding in check_line(line, seen, lenient=lenient):
            sound = sound and finding.warning
            report.add(number, finding)
        report.verified += sound and seen.verified
    return report


class Seen:
    """What the lines before were: a few bytes of each."""

    def __init__(self) -> None:
        self._ids: set[int] = set()
        self._answers: set[int] = set()
        self.verified = False
        """Whether the line looked at last says that it is verified."""

    def look(self, episode: dict[str, Any]) -> Iterator[Finding]:
        """Tell what the episode repeats."""
        self.verified = episode["verified"]
        if self._again(self._ids, episode["episode_id"]):
            yield Finding("episode_id", "duplicate-id", "stands on an earlier line too")
        gold, told = (
            episode["teacher_gold_trace"],
            episode["teacher_gold_trace"]["submission_metadata"],
        )
        key = (
            episode["question"]["id"],
            gold["final_answer_hash"],
            str(told.get("code_hash")),
            str(told.get("seed")),
        )
        if self._again(self._answers, key):
            message = "an earlier line has this question and answer too"
            yield Finding("question.id", "duplicate-answer", message, warning=True)

    @staticmethod
    def _again(known: set[int], key: object) -> bool:
        number = hash(key)
        if number in known:
            return True
        known.add(number)
        return False


def check_line(line: bytes, seen: Seen | None = None, *, lenient: bool = False) -> list[Finding]:
    """All findings about one line, errors first."""
    return sorted(_findings(line, seen or Seen(), lenient=lenient), key=lambda one: one.warning)


def _findings(line: bytes, seen: Seen, *, lenient: bool) -> Iterator[Finding]:
    seen.verified = False
    try:
        episode = parse(line)
    except LineError as error:
        yield Finding("", error.code, str(error))
        return
    if lenient:
        episode, notes = mended(episode)
        for path, message in notes:
            yield Finding(path, "older-form", message, warning=True)
    shape = list(_shape(episode))
    yield from shape
    if shape:
        return
    for rule in (*ERRORS, *ADVICE):
        yield from rule(episode)
    yield from extra_keys(episode, _KEYS)
    if not lenient or not notes:
        yield from sealed(episode, line)
    if len(line) > LONG_LINE:
        message = f"is {len(line) / 2**20:.0f} MB long"
        yield Finding("", "long-line", message, warning=True)
    yield from seen.look(episode)


def _shape(episode: dict[str, Any]) -> Iterator[Finding]:
    try:
        _SHAPE.validate_python(episode)
    except ValidationError as error:
        for one in error.errors(include_url=False, include_context=False, include_input=False):
            yield Finding(_path(one["loc"]), "schema", one["msg"])


def _path(steps: tuple[int | str, ...]) -> str:
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return "".join(parts).removeprefix(".")

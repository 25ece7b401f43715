"""Compares the stops of a run with a record: for `verify`, bundles and `drift`. Pure.

Stops are compared by the fingerprints in the record's trail, which cover the printed text and the
question of each stop, and by the recorded printed strings and outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from ..record.append_only_list import AppendOnlyList
from ..record.model import LastError, Record, Status
from ..replay.transcript import Transcript, printed_before, question_of, stop_fingerprint
from .diverge import Difference, first_unequal

_NOT_KEPT = "not kept, only that it differs"
"""What is known of a text of which the record has the fingerprint alone, in words."""


@dataclass(frozen=True)
class RecordedBranch:
    """The recorded data of one branch."""

    inputs: AppendOnlyList[str]
    trail: AppendOnlyList[str]
    print: AppendOnlyList[str] | None
    """The printed strings; None if there are none."""
    stop: int
    """The stop to which `print`, `status`, `error` and `score` belong."""
    status: Status | None
    """None if it is not known."""
    error: LastError | None
    """The exception; None if its text is not known."""
    score: float | None
    """None if it is not known, or there is no score."""
    code_hash: str | None
    """Hash of the recorded script; None if it is not known."""

    @property
    def shows_nothing(self) -> bool:
        """Whether neither printed text nor questions are recorded."""
        return self.print is None and not self.trail

    @property
    def missing(self) -> str | None:
        """Which data of the branch are not recorded, in words; None if nothing is missing."""
        if self.shows_nothing:
            started = self.inputs or self.status is not None
            return "printed text and questions are not recorded" if started else _NOTHING_YET
        if len(self.trail) > len(self.inputs):
            return None
        has_text = self.print is not None and self.stop == len(self.inputs)
        since = f" from step {len(self.trail)} on" if self.trail else ""
        return f"{'questions' if has_text else 'texts and questions'}{since} are not recorded"


_NOTHING_YET = "nothing is recorded yet"


def recorded_branch(record: Record, name: str) -> RecordedBranch:
    """The recorded data of a branch.

    Raises:
        KeyError: There is no such branch.
    """
    inputs, trail = record.path_of(name), record.trail_of(name)
    if name != record.branch:
        entry = record.branches[name]
        shown_by = entry.code_hash or record.code_hash
        return RecordedBranch(
            inputs, trail, None, len(inputs), entry.status, None, entry.score, shown_by
        )
    # A record that quizlog ran has a `world` and a `trail`: if its `print` is empty, nothing was
    # printed.
    own = bool(record.trail) and "world" in record.extras
    own_print = record.print if record.print or own else None
    stands = (
        own_print is not None or record.trail or record.last_error or record.status != "in_progress"
    )
    status, error = record.status if stands else None, record.last_error
    score = error.score if error else None
    shown_by = record.code_hash
    return RecordedBranch(inputs, trail, own_print, record.pointer, status, error, score, shown_by)


def difference_from_record(known: RecordedBranch, run: Transcript) -> Difference | None:
    """The first difference between the stops of a run and the record."""
    found = (differs(known, run.upto(stop)) for stop in _stops_to_compare(known, run))
    return next((one for one in found if one is not None), None)


def _stops_to_compare(known: RecordedBranch, run: Transcript) -> Iterator[int]:
    """The stops of a run without those that plainly agree with the record."""
    before = sum(len(step.written) for step in run.steps[: known.stop])
    alike = known.print is None or known.print[:before] == run.print[:before]
    printed = 0
    for stop, (step, fingerprint) in enumerate(
        zip_longest(run.steps, known.trail[: len(run.steps)])
    ):
        same = fingerprint is None or fingerprint == step.fingerprint
        if known.print is not None and not alike and stop < known.stop:
            own = step.print
            same = same and known.print[printed : printed + len(own)] == own
            printed += len(own)
        if stop == known.stop or not same:
            yield stop
    yield len(run.steps)


def differs(known: RecordedBranch, run: Transcript) -> Difference | None:
    """The difference at the last stop of a run; None if it is as recorded."""
    return next(_differences(known, run, len(run.steps)), None)


def is_contradicted(known: RecordedBranch, run: Transcript, stop: int) -> bool:
    """Whether a differing stop has the run's fingerprint, so that the record was edited."""
    return stop < len(known.trail) and known.trail[stop] == stop_fingerprint(run, stop)


def _differences(known: RecordedBranch, run: Transcript, stop: int) -> Iterator[Difference]:
    fingerprint = known.trail[stop] if stop < len(known.trail) else None
    if fingerprint is None or fingerprint == stop_fingerprint(run, stop):
        yield from _by_print(known, run, stop)
        yield from _by_end(known, run, stop)
    else:
        yield from _by_fingerprint(known, run, stop, fingerprint)
        yield _unlocated(known, run, stop, fingerprint)
    if stop < len(known.inputs) and run.status != "in_progress":
        yield Difference(stop, "outcome", "in_progress", run.status)


def _by_fingerprint(
    known: RecordedBranch, run: Transcript, stop: int, fingerprint: str
) -> Iterator[Difference]:
    """What differs at a stop with another fingerprint, as far as texts are recorded."""
    asked, now = question_of(fingerprint), run.last.prompt
    old = None
    if known.print is not None and stop <= known.stop and asked is not None:
        old = printed_before(fingerprint, known.print, len(run.print) - len(run.last.print))
    if old is None:
        yield from _by_print(known, run, stop)
    elif not _raised_before(known, run, old) and old != list(run.last.print):
        yield _print_difference(stop, old, run.last.print)
    if asked is not None and now is not None and asked != now:
        yield Difference(stop, "prompt", asked, now)
    if (asked is None) != (now is None):
        before = "in_progress" if asked is not None else known.status or "ended"
        yield Difference(stop, "outcome", before, run.status)
    yield from _by_end(known, run, stop)


def _unlocated(known: RecordedBranch, run: Transcript, stop: int, fingerprint: str) -> Difference:
    """The difference at a stop with another fingerprint whose recorded texts all agree."""
    now = "".join(run.last.written)
    if known.print is not None and stop <= known.stop:  # the strings agree, so lines end otherwise
        lines = tuple(f"{text}\n" for text in run.last.print)
        ended = replace(run, last=replace(run.last, written=lines))
        then = (
            "".join(lines)
            if stop_fingerprint(ended, stop) == fingerprint
            else f"(marked {fingerprint[:12]})"
        )
        return Difference(stop, "print", then, now)
    if run.last_error is not None:
        return Difference(stop, "error", None, run.last_error.message, _NOT_KEPT)
    return Difference(stop, "print", None, now, _NOT_KEPT)


def _by_print(known: RecordedBranch, run: Transcript, stop: int) -> Iterator[Difference]:
    """Compare by the record's printed strings, which do not say to which stop they belong."""
    if known.print is None or stop > known.stop:
        return
    own, at = run.last.print, len(run.print) - len(run.last.print)
    end = len(known.print) if stop == known.stop else at + len(own)
    own_print = known.print[at:end]
    if list(own_print) != list(own) and not _raised_before(known, run, own_print):
        yield _print_difference(stop, own_print, own)


def _raised_before(known: RecordedBranch, run: Transcript, old: Sequence[str]) -> bool:
    """Whether the run raised before it printed all texts: then its outcome is the difference."""
    own = run.last.print
    raised = run.status == "error" and (known.status != "error" or len(run.steps) != known.stop)
    return raised and len(own) < len(old) and list(old[: len(own)]) == list(own)


def _print_difference(stop: int, old: Sequence[str], new: Sequence[str]) -> Difference:
    return Difference(stop, "print", *first_unequal(old, new))


def _by_end(known: RecordedBranch, run: Transcript, stop: int) -> Iterator[Difference]:
    """Compare by the record's outcome."""
    if stop != known.stop or known.status is None:
        return
    then, now = known.error, run.last_error
    if known.status != run.status:
        yield Difference(stop, "outcome", known.status, run.status)
    if then is not None and then.message != (now and now.message):
        yield Difference(stop, "error", then.message, now and now.message)
    if known.score is not None and known.score != run.score:
        yield Difference(stop, "outcome", known.score, run.score)
    yield from _by_line(known, run, stop)


def _by_line(known: RecordedBranch, run: Transcript, stop: int) -> Iterator[Difference]:
    """Compare by the line that raised, which means something only for an unchanged script."""
    then, now, source = known.error, run.last_error, run.last.source
    same = source is not None and source.code_hash == known.code_hash
    if same and then and now and then.line not in (None, now.line):
        yield Difference(stop, "error", f"line {then.line}", f"line {now.line}")

"""What a record knows of a line of answers, and whether a stop of a run is the recorded one.

Judged by content: what was printed and asked, by the marks of the record's trail, or as far as its
printed strings tell. Pure; runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..record.model import LastError, Record, Status
from ..replay.diverge import Difference
from ..replay.trail import mark, printed_before, question
from ..replay.transcript import Transcript
from ..series import Series


@dataclass(frozen=True)
class Known:
    """What a record knows of one line of answers."""

    inputs: Series[str]
    trail: Series[str]
    print: Series[str]
    stop: int
    """The stop to which `print`, `status` and `error` belong."""
    status: Status | None
    error: LastError | None
    told: bool
    """Whether `error` has the exception's text."""


def known_of(record: Record, name: str) -> Known:
    """What a record knows of one of its branches."""
    inputs, trail = record.path_of(name), record.trail_of(name)
    if name == record.branch:
        status = record.status if record.print or record.trail or record.last_error else None
        stop, error = record.pointer, record.last_error
        return Known(inputs, trail, record.print, stop, status, error, told=True)
    entry = record.branches[name]
    error = LastError("", None, entry.score or 0.0) if entry.status == "error" else None
    return Known(inputs, trail, Series(), len(inputs), entry.status, error, told=False)


def differs(known: Known, run: Transcript) -> Difference | None:
    """What is not as recorded at the stop a run has come to."""
    stop = len(run.steps)
    if stop < len(known.trail):
        if known.trail[stop] == mark(run, stop):
            return None
        return next(_named(known, run, stop, known.trail[stop]), None) or _unnamed(run, stop)
    return next(iter((*_by_print(known, run, stop), *_by_end(known, run, stop))), None)


def _named(known: Known, run: Transcript, stop: int, marked: str) -> Iterator[Difference]:
    """What makes a stop another than its mark, as far as the record has the texts."""
    at = len(run.print) - len(run.last.print)
    asked, now = question(marked), run.last.prompt
    old = None
    if known.print and stop <= known.stop and asked is not None:
        old = printed_before(marked, known.print, at)
    if old is None:
        yield from _by_print(known, run, stop)
    elif not _stopped_short(run, old) and old != list(run.last.print):
        yield _print_difference(stop, old, run.last.print)
    if asked is not None and now is not None and asked != now:
        yield Difference(stop, "prompt", asked, now)
    if (asked is None) != (now is None):
        before = "in_progress" if asked is not None else known.status or "ended"
        yield Difference(stop, "outcome", before, run.status)
    yield from _by_end(known, run, stop)


def _unnamed(run: Transcript, stop: int) -> Difference:
    """A stop that is not as marked, where the record does not have the text that differs."""
    if run.last_error is not None:
        return Difference(stop, "error", None, run.last_error.message)
    return Difference(stop, "print", None, "".join(run.last.written))


def _by_print(known: Known, run: Transcript, stop: int) -> Iterator[Difference]:
    """Judged by the record's printed strings, which do not say to which stop they belong."""
    if not known.print or stop > known.stop:
        return
    own, at = run.last.print, len(run.print) - len(run.last.print)
    end = len(known.print) if stop == known.stop else at + len(own)
    kept = known.print[at:end]
    if list(kept) != list(own) and not _stopped_short(run, kept):
        yield _print_difference(stop, kept, own)


def _stopped_short(run: Transcript, old: Sequence[str]) -> bool:
    """Whether the run raised before it printed all it did: its outcome is what has changed."""
    own = run.last.print
    return run.status == "error" and len(own) < len(old) and list(old[: len(own)]) == list(own)


def _print_difference(stop: int, old: Sequence[str], new: Sequence[str]) -> Difference:
    index = next(
        (i for i, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), -1
    )
    index = index if index >= 0 else min(len(old), len(new))
    before = old[index] if index < len(old) else None
    return Difference(stop, "print", before, new[index] if index < len(new) else None)


def _by_end(known: Known, run: Transcript, stop: int) -> Iterator[Difference]:
    """Judged by how the record stands."""
    if stop != known.stop or known.status is None:
        return
    if known.status != run.status:
        yield Difference(stop, "outcome", known.status, run.status)
    elif known.error is not None and run.last_error is not None:
        if known.told and known.error.message != run.last_error.message:
            yield Difference(stop, "error", known.error.message, run.last_error.message)
        if known.error.score != run.last_error.score:
            yield Difference(stop, "outcome", known.error.score, run.last_error.score)

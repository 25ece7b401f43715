"""What a record knows of a line of answers, and whether the stops of a run are the recorded ones.

The one judgement of it, for `verify`, bundles and `drift`. Judged by content: by the marks of the
record's trail, which know what was printed before which question, and by the printed strings and
the end that it keeps besides. Pure; runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from ..record.append_only_list import AppendOnlyList
from ..record.model import LastError, Record, Status
from ..replay.trail import printed_before, question_of, stop_fingerprint
from ..replay.transcript import Transcript
from .diverge import Difference, apart


@dataclass(frozen=True)
class Known:
    """What a record knows of one line of answers."""

    inputs: AppendOnlyList[str]
    trail: AppendOnlyList[str]
    print: AppendOnlyList[str] | None
    """The printed strings; None if it keeps none."""
    stop: int
    """The stop to which `print`, `status`, `error` and `score` belong."""
    status: Status | None
    """None if it is not known."""
    error: LastError | None
    """The exception, where its text is known."""
    score: float | None
    """None if it is not known, or there is none."""
    code_hash: str | None
    """Hash of the script that showed it; None if it is not known."""

    @property
    def shows_nothing(self) -> bool:
        """Whether neither printed text nor questions were kept."""
        return self.print is None and not self.trail

    @property
    def missing(self) -> str | None:
        """What of these answers was not kept, in words; None if nothing is missing."""
        if self.shows_nothing:
            started = self.inputs or self.status is not None
            return "printed text and questions are not recorded" if started else _NOTHING_YET
        if len(self.trail) > len(self.inputs):
            return None
        told = self.print is not None and self.stop == len(self.inputs)
        since = f" from step {len(self.trail)} on" if self.trail else ""
        return f"{'questions' if told else 'texts and questions'}{since} are not recorded"


_NOTHING_YET = "nothing is recorded yet"


def known_of(record: Record, name: str) -> Known:
    """What a record knows of one of its branches.

    Raises:
        KeyError: There is no such branch.
    """
    inputs, trail = record.path_of(name), record.trail_of(name)
    if name != record.branch:
        entry = record.branches[name]
        shown_by = entry.code_hash or record.code_hash
        return Known(inputs, trail, None, len(inputs), entry.status, None, entry.score, shown_by)
    # A record of ours has a `world`: where that prints nothing, nothing was printed.
    kept = record.print if record.print or "world" in record.extras else None
    stands = kept is not None or record.trail or record.last_error or record.status != "in_progress"
    status, error = record.status if stands else None, record.last_error
    score = error.score if error else None
    shown_by = record.code_hash
    return Known(inputs, trail, kept, record.pointer, status, error, score, shown_by)


def difference_from_record(known: Known, run: Transcript) -> Difference | None:
    """The first stop of a run of recorded answers, from the first on, that is not as recorded."""
    found = (differs(known, run.upto(stop)) for stop in _unclear(known, run))
    return next((one for one in found if one is not None), None)


def _unclear(known: Known, run: Transcript) -> Iterator[int]:
    """The stops of a run but for those of which it is plain that they are as recorded."""
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


def differs(known: Known, run: Transcript) -> Difference | None:
    """What is not as recorded at the stop a run has come to."""
    return next(_differences(known, run, len(run.steps)), None)


def belied(known: Known, run: Transcript, stop: int) -> bool:
    """Whether a record's own mark of a stop belies what it has there, as the mark fits the run."""
    return stop < len(known.trail) and known.trail[stop] == stop_fingerprint(run, stop)


def _differences(known: Known, run: Transcript, stop: int) -> Iterator[Difference]:
    fingerprint = known.trail[stop] if stop < len(known.trail) else None
    if fingerprint is None or fingerprint == stop_fingerprint(run, stop):
        yield from _by_print(known, run, stop)
        yield from _by_end(known, run, stop)
    else:
        yield from _by_mark(known, run, stop, fingerprint)
        yield _unnamed(known, run, stop, fingerprint)
    if stop < len(known.inputs) and run.status != "in_progress":
        yield Difference(stop, "outcome", "in_progress", run.status)


def _by_mark(known: Known, run: Transcript, stop: int, fingerprint: str) -> Iterator[Difference]:
    """What makes a stop another than its mark, as far as the record has the texts."""
    asked, now = question_of(fingerprint), run.last.prompt
    old = None
    if known.print is not None and stop <= known.stop and asked is not None:
        old = printed_before(fingerprint, known.print, len(run.print) - len(run.last.print))
    if old is None:
        yield from _by_print(known, run, stop)
    elif not _stopped_short(known, run, old) and old != list(run.last.print):
        yield _print_difference(stop, old, run.last.print)
    if asked is not None and now is not None and asked != now:
        yield Difference(stop, "prompt", asked, now)
    if (asked is None) != (now is None):
        before = "in_progress" if asked is not None else known.status or "ended"
        yield Difference(stop, "outcome", before, run.status)
    yield from _by_end(known, run, stop)


def _unnamed(known: Known, run: Transcript, stop: int, fingerprint: str) -> Difference:
    """A stop that is not as marked, where no text that the record has is another."""
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
        return Difference(stop, "error", None, run.last_error.message)
    return Difference(stop, "print", None, now)


def _by_print(known: Known, run: Transcript, stop: int) -> Iterator[Difference]:
    """Judged by the record's printed strings, which do not say to which stop they belong."""
    if known.print is None or stop > known.stop:
        return
    own, at = run.last.print, len(run.print) - len(run.last.print)
    end = len(known.print) if stop == known.stop else at + len(own)
    kept = known.print[at:end]
    if list(kept) != list(own) and not _stopped_short(known, run, kept):
        yield _print_difference(stop, kept, own)


def _stopped_short(known: Known, run: Transcript, old: Sequence[str]) -> bool:
    """Whether the run raised before it printed all it did: its outcome is what has changed."""
    own = run.last.print
    raised = run.status == "error" and (known.status != "error" or len(run.steps) != known.stop)
    return raised and len(own) < len(old) and list(old[: len(own)]) == list(own)


def _print_difference(stop: int, old: Sequence[str], new: Sequence[str]) -> Difference:
    return Difference(stop, "print", *apart(old, new))


def _by_end(known: Known, run: Transcript, stop: int) -> Iterator[Difference]:
    """Judged by how the record stands."""
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


def _by_line(known: Known, run: Transcript, stop: int) -> Iterator[Difference]:
    """Judged by the line that raised, which says something of one and the same script only."""
    then, now, source = known.error, run.last_error, run.last.source
    same = source is not None and source.code_hash == known.code_hash
    if same and then and now and then.line not in (None, now.line):
        yield Difference(stop, "error", f"line {then.line}", f"line {now.line}")

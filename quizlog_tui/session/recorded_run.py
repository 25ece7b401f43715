"""Makes a run from recorded data, to show a record whose script cannot be read.

Nothing is run or verified. Data that are not recorded stay empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from ..proof.recorded import RecordedBranch, recorded_branch
from ..record.append_only_list import AppendOnlyList
from ..record.model import LastError, Record
from ..replay.transcript import Step, Transcript, printed_before, question_of
from ..replay.world import parse_world
from ..terminal_text import with_newlines


def recorded_run(record: Record, name: str) -> Transcript:
    """All answers of a branch, with the recorded texts and questions.

    Raises:
        KeyError: There is no such branch.
    """
    known = recorded_branch(record, name)
    texts = _printed(known)
    stops = [_stop(known, at, texts) for at in range(len(known.inputs) + 1)]
    answered = zip(stops, known.inputs, strict=False)
    ends_here = known.stop == len(known.inputs)
    observed = (
        parse_world(record.extras.get("world")).get("met", "") if name == record.branch else ""
    )
    return Transcript(
        AppendOnlyList(stop.answered(answer) for stop, answer in answered),
        stops[-1],
        (known.status if ends_here else None) or "in_progress",
        _error(known) if ends_here else None,
        observed=tuple(observed.split()),
        print=AppendOnlyList(text for stop in stops for text in stop.print),
    )


def recorded_up_to(record: Record, inputs: Sequence[str]) -> Transcript | None:
    """The recorded run with these answers; None if no branch starts with them."""
    names = (record.branch, *record.all_names)
    found = [name for name in names if record.path_of(name).starts_with(inputs)]
    if not found:
        return None
    return recorded_run(record, min(found, key=record.length_of)).upto(len(inputs))


def _stop(known: RecordedBranch, at: int, texts: Sequence[Sequence[str]]) -> Step:
    asked = question_of(known.trail[at]) if at < len(known.trail) else None
    written = tuple(with_newlines(texts[at])) if at < len(texts) else ()
    return Step(asked, written, "", None, seconds=nan)


def _printed(known: RecordedBranch) -> list[Sequence[str]]:
    """The printed strings of each stop; strings without a fingerprint belong to the last one."""
    if known.print is None:
        return []
    found: list[Sequence[str]] = []
    start = 0
    for fingerprint in known.trail[: known.stop]:
        own = printed_before(fingerprint, known.print, start)
        if own is None:
            break
        found.append(own)
        start += len(own)
    gap: list[Sequence[str]] = [()] * (known.stop - len(found))
    return [*found, *gap, known.print[start:]]


def _error(known: RecordedBranch) -> LastError | None:
    """The exception; of other branches than the active one, only the score is recorded."""
    if known.error is not None or known.status != "error":
        return known.error
    return LastError("the error's text is not recorded", None, known.score or 0.0)

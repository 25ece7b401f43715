"""Whether a record is what happened: replays under other conditions, compared step by step.

Two replays side by side, nothing cached: one in the record's own world, one in a world in which
every condition is another. Where they part, from each other or from the record, single conditions
are changed and changed back until the one is found that makes the difference. Judges only; changes
no record.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ..errors import LimitError, QuizlogError
from ..record.model import Record
from ..record.store import RecordFile
from ..replay.script.source import Source, read_script_of
from ..replay.trail import question_of
from ..replay.transcript import Transcript
from ..replay.tree_walk import Outcome
from ..replay.uncached_runs import UncachedRuns
from ..replay.world import (
    FIXED,
    FIXED_CONDITIONS,
    OPEN_CONDITIONS,
    REMARKABLE,
    TAMPERED,
    UNVERIFIABLE,
    Cause,
    parse_world,
    world_of,
)
from .causes import culprits
from .diverge import Difference, first_difference
from .explanation import (
    STARTS,
    apply_doubt,
    cause_of,
    describe_conditions,
    divergence,
    explain_difference,
    explain_noise,
    observed_cause,
)
from .inquiry import Inquiry, concluded
from .recorded import belied, difference_from_record, known_of
from .surroundings import elsewhere, left_over, named_files
from .trials import Other, Search, Trials, Wanted
from .verdict import Verdict, together

T = TypeVar("T")

_USUAL = (*(name for name in FIXED_CONDITIONS if name != "entropy"), *OPEN_CONDITIONS)
"""What the second replay changes. Not the system's randomness: like all chance it is the seed's."""

_SAID = {"system": {"system"}, STARTS: {"threads", "processes", "thread", "program"}}
"""Conditions that take from a run what it may do if it says so, and what it has met then."""
_RACING = ("threads", "processes", "chance", "ports")
"""What makes runs differ now and then, so that changing conditions proves nothing."""


def verify(path: Path, runs: UncachedRuns | None = None) -> Verdict:
    """Verify the record in a file.

    Args:
        path: The record.
        runs: Does the replaying; may be shared.

    Raises:
        RecordError: The record cannot be read.
        ScriptError: Its script cannot be read.
        CancelledError: `runs` were given up.
    """
    record = RecordFile(path).read()
    source = read_script_of(path, record.script)
    return judged(record, source, runs or UncachedRuns())


def judged(
    record: Record, source: Source, runs: UncachedRuns, vouched: Collection[str] = ()
) -> Verdict:
    """The verdict on all branches of a record, each to its end; the active one comes first.

    Those that another text of the script has shown are named and not judged: it is not at hand.

    Args:
        record: What was recorded.
        source: Its script as it is now.
        runs: Does the replaying.
        vouched: Files of the script's folder that belong to it, though the script may write them.

    Raises:
        CancelledError: `runs` were given up.
    """
    others = [name for name in record.branches if name != record.branch]
    hashes = {name: record.branches[name].code_hash for name in others}
    older = {name for name in others if hashes[name] not in (None, source.code_hash)}
    with elsewhere(source.path.parent) as at:
        trials = Trials(source, world_of(record), runs, at)
        names = [None, *(name for name in others if name not in older)]
        branches = [Verifier(record, source, trials, name, vouched) for name in names]
        verdicts = _verdicts(trials, branches)
        found, not_judged = [next(verdicts)], []
        for name in others:
            if found[-1].verdict == "diverges":
                break
            if name in older:
                not_judged.append(f"branch {name} is of another text of the script")
            else:
                found.append(next(verdicts))
    return together(found, not_judged)


def _verdicts(trials: Trials, branches: Sequence[Verifier]) -> Iterator[Verdict]:
    """The verdicts on branches, in order.

    Answers that branches share are replayed once for all. A verdict against a branch comes only of
    replays of its own.
    """

    def find_out(wanted: Wanted, asking: list[int]) -> Iterator[tuple[int, Any]]:
        answers_found = trials.find_out(wanted, (branches[index].answers for index in asking))
        return ((asking[place], answer) for place, answer in answers_found)

    shared = len(branches) > 1
    found = concluded([branch.inquiry(shared=shared) for branch in branches], find_out)
    for branch, verdict in zip(branches, found, strict=True):
        yield verdict or next(_verdicts(trials, [branch]))


class Verifier:
    """One branch of a record under judgement.

    Args:
        record: What was recorded.
        source: Its script as it is now.
        trials: Does the replaying.
        branch: Which of its branches; the active one if None.
        vouched: Files of the script's folder that are not left over, whatever it writes.
    """

    def __init__(
        self,
        record: Record,
        source: Source,
        trials: Trials,
        branch: str | None = None,
        vouched: Collection[str] = (),
    ) -> None:
        self._trials = trials
        self._record = record
        self._branch = branch
        self._vouched = vouched
        self._source = source

    @property
    def answers(self) -> Sequence[str]:
        """All answers of the branch."""
        return self._record.path_of(self._branch or self._record.branch)

    def inquiry(self, *, shared: bool) -> Inquiry[Wanted, Verdict | None]:
        """Judge by the replays that are asked for.

        Args:
            shared: Whether processes of other branches may take part in them. Then nothing comes
                of it where a difference was found.
        """
        try:
            verdict = yield from self._judged(shared=shared)
        except LimitError as error:
            verdict = Verdict("unverifiable", reason=error.message)
        return verdict and replace(verdict, branch=self._branch)

    def _judged(self, *, shared: bool) -> Inquiry[Wanted, Verdict | None]:
        told = parse_world(self._record.extras.get("world")).get("met", "").split()
        self._varied = _conditions(told)
        plain, varied = _sound_runs((yield (Other(), Other(self._varied))))
        if (wanted := _conditions(plain.observed)) != self._varied:
            self._varied = wanted
            (varied,) = _sound_runs((yield (Other(wanted),)))
        self._known = known_of(self._record, self._branch or self._record.branch)
        found = difference_from_record(self._known, plain)
        if shared and found is not None:
            return None
        racing = next(
            (name for name in (*plain.observed, *varied.observed) if name in _RACING), None
        )
        differs = racing and (found or first_difference(plain, varied))
        if differs and racing:
            verdict = divergence(differs, *UNVERIFIABLE[racing])
        elif found is not None:
            verdict = self._against_record(plain, found)
        else:
            verdict = yield from self._against_conditions(plain, varied)
        names = dict.fromkeys((*plain.observed, *varied.observed))
        observed = tuple(name for name in names if name in UNVERIFIABLE or name in REMARKABLE)
        fits = self._fits(plain, found)
        verdict = apply_doubt(
            replace(verdict, observed=observed, unavailable=plain.unavailable, fits=fits)
        )
        against = verdict.step is not None or TAMPERED in observed
        return None if shared and against else self._bounded(verdict)

    def _bounded(self, verdict: Verdict) -> Verdict:
        """A verdict reaches as far as the record: answers of which it shows nothing prove none."""
        known = self._known
        if verdict.verdict != "reproducible" or known.missing is None:
            return verdict
        if self._branch is not None:
            return replace(verdict, not_judged=(f"branch {self._branch}: {known.missing}",))
        if known.shows_nothing and (known.inputs or known.status):
            return replace(verdict, verdict="unverifiable", reason=known.missing)
        return replace(verdict, not_judged=(known.missing,))

    def _fits(self, run: Transcript, found: Difference | None) -> str | None:
        """How far the record fits a script that was edited; see `Verdict.fits`."""
        if self._known.code_hash in (None, self._source.code_hash):
            return None
        if found is None:
            return "all"
        asked = [step.prompt for step in (*run.steps, run.last)]
        pairs = zip(map(question_of, self._known.trail), asked, strict=False)
        other = next((k for k, (then, now) in enumerate(pairs) if then != now), len(run.steps))
        return "amended" if other >= len(self._known.inputs) else f"to step {other}"

    def _against_conditions(
        self, plain: Transcript, varied: Transcript
    ) -> Inquiry[Wanted, Verdict]:
        """The record agrees with a replay: does it with every replay?"""
        changed = list(self._varied)
        relied: dict[Cause, int] = {}
        hidden = self._left_over(plain)
        if hidden:
            (varied,) = _sound_runs((yield (Other(self._varied, hidden),)))
        while (found := first_difference(plain, varied)) is not None:
            among = Other(tuple(changed), hidden)
            guilty = _sound((yield Search(tuple(self._known.inputs[: found.step]), among)))
            if not guilty or any(name in OPEN_CONDITIONS for name in guilty):
                moved = relied.get("address-order") == found.step
                verdict = explain_difference(plain, found, guilty, moved)
                return replace(verdict, relies_on=tuple(relied))
            for name in guilty:
                relied.setdefault(FIXED_CONDITIONS[name], found.step)
                changed.remove(name)
            (varied,) = _sound_runs((yield (Other(tuple(changed), hidden),)))
        if "program" in plain.observed:  # programs have the real clock, and two runs may be quick
            (later,) = _sound_runs((yield (Other(later=True),)))
            if (found := first_difference(plain, later)) is not None:
                return replace(divergence(found, *explain_noise(plain)), relies_on=tuple(relied))
        return Verdict("reproducible", relies_on=tuple(relied))

    def _left_over(self, run: Transcript) -> tuple[str, ...]:
        names = left_over(run, self._source.path.parent)
        return tuple(name for name in names if name not in self._vouched)

    def _made_without(self, files: tuple[str, ...]) -> bool:
        """Whether the record is what a run shows that finds none of these files."""
        if not files:
            return False
        run = self._trials.run(self._known.inputs, Other(("leftovers",), files))
        return difference_from_record(self._known, run) is None

    def _against_record(self, plain: Transcript, found: Difference) -> Verdict:
        """A replay differs from the record: why?"""
        if first_difference(plain, self._trials.run(self._known.inputs)) is not None:
            return divergence(found, *explain_noise(plain))
        if belied(self._known, plain, found.step):
            words = "the record was edited: its own mark of that step is of what a replay shows"
            return divergence(found, "unknown", words)
        edited = self._known.code_hash not in (None, self._source.code_hash)
        then, now = (
            parse_world(self._record.extras.get("world")),
            ".".join(map(str, sys.version_info[:3])),
        )
        same = then.get("python") == now and then.get("fixed", "").split() == [*FIXED]
        if self._made_without(tuple(left_over(plain, self._source.path.parent, "update"))):
            words = "files that the script changes lie there, and did not when it was recorded"
            return divergence(found, "leftover-file", words)
        # What was fixed when it was recorded, as it is now, cannot be what differs.
        varied = self._varied
        changed = (
            tuple(name for name in varied if name in OPEN_CONDITIONS)
            if same
            else (*varied, "entropy")
        )
        answers = self._known.inputs[: found.step]
        parts = self._trials.parting(answers, self._left_over(plain))
        guilty = culprits(changed, parts) if parts(changed) else ()
        if guilty:
            too = "; the script was changed since, too" if edited else ""
            words = f"what stands there depends on {describe_conditions(guilty)}{too}"
            return divergence(found, cause_of(guilty), words)
        if edited:
            named = named_files(self._source)
            too = f", perhaps a file beside it too{named}" if named else ""
            words = f"no condition changes it, and the script was changed since{too}"
            return divergence(found, "code-changed", words)
        if "python" in then and not same:
            words = f"recorded with Python {then['python']}, this is {now}"
            return divergence(found, "environment", words)
        beside = named_files(self._source)
        perhaps = f"perhaps a file beside the script{beside} was another" if beside else ""
        words = f"no condition changes it: {perhaps or 'nothing tells why'}"
        return divergence(found, *(observed_cause(plain) or ("unknown", words)))


def _sound_runs(outcomes: Sequence[Outcome]) -> list[Transcript]:
    """The runs that were asked for."""
    return [_sound(outcome) for outcome in outcomes]


def _sound(outcome: T | QuizlogError) -> T:
    """What was asked for; raises what stopped it."""
    if isinstance(outcome, QuizlogError):
        raise outcome
    return outcome


def _conditions(observed: Collection[str]) -> tuple[str, ...]:
    """The conditions that the second replay changes.

    Args:
        observed: What the run says that it met: what it shows of that is no news.
    """
    said = {name for name, notes in _SAID.items() if not notes.isdisjoint(observed)}
    return tuple(name for name in _USUAL if name not in said)

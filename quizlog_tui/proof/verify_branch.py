"""Verifies one branch of a record by replays under different conditions, compared step by step.

Three replays are made without a cache: one in the record's own world, one with all conditions
changed, and one with only those changed that differ between machines. If they differ, from each
other or from the record, conditions are changed one by one to find the cause.

Replays are requested by an inquiry, a generator: it yields a request, is sent the answer, and
returns the verdict. So the caller can answer equal requests of several branches once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from os.path import isfile
from pathlib import Path
from typing import Any, TypeVar

from ..errors import LimitError, QuizlogError
from ..record.model import Record, edited_files
from ..replay.script.needed_files import file_hashes, needed_files
from ..replay.script.source import Source
from ..replay.transcript import Transcript, question_of
from ..replay.tree_walk import Outcome
from ..replay.world import (
    FIXED,
    FIXED_CONDITIONS,
    OPEN_CONDITIONS,
    REMARKABLE,
    STARTS,
    TAMPERED,
    UNAVAILABLE,
    UNVERIFIABLE,
    Cause,
    may_share,
    parse_world,
)
from .diverge import Difference, first_difference
from .recorded import difference_from_record, is_contradicted, recorded_branch
from .trials import CauseSearch, TrialRequest, Trials, Variation, ends_search, find_culprits
from .verdict import Verdict, apply_doubt, bounded, noted

T = TypeVar("T")

Inquiry = Generator[TrialRequest, Any, T]
"""Yields requests for replays and returns a `T`."""

_USUAL = (*(name for name in FIXED_CONDITIONS if name != "entropy"), *OPEN_CONDITIONS)
"""The conditions that the other replays change. All randomness comes from the seed."""

_SAID = {
    "system": {"system"},
    STARTS: {"threads", "processes", "thread", "library-threads", "program"},
}
"""Conditions that forbid something, and the observations that a run makes if it does it openly."""
_OF_MACHINES = frozenset(OPEN_CONDITIONS) - {"system", STARTS}
"""Conditions that differ between machines, without those that only forbid something."""
_RACING = ("threads", "processes", "chance", "ports")
"""Observations of chance differences, for which changing conditions proves nothing."""


class BranchVerifier:
    """Verifies one branch of a record.

    Args:
        record: The record.
        source: The present text of its script.
        trials: Makes the replays.
        branch: The name of the branch; None for the active one.
        vouched: Files of the script's folder that are not leftovers.
        judged: Told the name of the branch as soon as there is a verdict on it.
        thorough: Replay it in all worlds, as the active branch is in any case.
    """

    def __init__(
        self,
        record: Record,
        source: Source,
        trials: Trials,
        branch: str | None = None,
        vouched: Collection[str] = (),
        judged: Callable[[str], None] = lambda branch: None,
        *,
        thorough: bool = False,
    ) -> None:
        self._trials = trials
        self._record = record
        self._branch = branch
        self._vouched = vouched
        self._tell_judged = judged
        self._source = source
        self._thorough = thorough or branch is None
        self._shown: Transcript | None = None

    @property
    def answers(self) -> Sequence[str]:
        """All answers of the branch."""
        return self._record.path_of(self._branch or self._record.branch)

    @property
    def may_have_shared(self) -> bool:
        """Whether its replays could have told others anything, or others them."""
        run = self._shown
        return run is not None and may_share(run.observed, run.unavailable, run.tainted)

    def agrees_with(self, run: Outcome) -> bool:
        """Whether a replay alone shows what the one that shared processes did, and the record."""
        if self._shown is None or not isinstance(run, Transcript):
            return self._shown is None and not isinstance(run, Transcript)
        found = first_difference(self._shown, run) or difference_from_record(self._known, run)
        return found is None and TAMPERED not in run.observed

    def inquiry(self, *, shared: bool, alone: bool) -> Inquiry[Verdict | None]:
        """The inquiry that requests replays and returns the verdict.

        Args:
            shared: Whether replays share processes with other branches. Then the result is None if
                a difference was found.
            alone: Whether the replay in the record's own world has a process of its own even so.
        """
        try:
            verdict = yield from self._judged(shared=shared, alone=alone)
        except LimitError as error:
            verdict = Verdict("unverifiable", reason=error.message)
        if verdict is None:
            return None
        self._tell_judged(self._branch or self._record.branch)
        return replace(verdict, branch=self._branch)

    def _judged(self, *, shared: bool, alone: bool) -> Inquiry[Verdict | None]:
        observed_then = parse_world(self._record.extras.get("world")).get("met", "").split()
        self._varied = _conditions(observed_then)
        changed, *elsewhere = self._worlds()
        at_once = (Variation(alone=alone), changed, *(() if shared else elsewhere))
        plain, *others = _runs_or_raise((yield at_once))
        if shared and elsewhere:  # not asked for by other branches
            others += _runs_or_raise((yield tuple(elsewhere)))
        self._shown = plain
        if (wanted := _conditions(plain.observed)) != self._varied:
            self._varied = wanted
            others = _runs_or_raise((yield self._worlds()))
        self._known = recorded_branch(self._record, self._branch or self._record.branch)
        found = difference_from_record(self._known, plain)
        if shared and found is not None:
            return None
        names = dict.fromkeys(name for run in (plain, *others) for name in run.observed)
        racing = next((name for name in names if name in _RACING), None)
        differs = racing and (found or _first_of_differences(plain, others))
        if differs and racing:
            verdict = _divergence(differs, *UNVERIFIABLE[racing])
            verdict = verdict if found else _fragile(verdict)
        elif found is not None:
            verdict = self._against_record(plain, found)
        else:
            verdict = yield from self._against_conditions(plain, others)
        observed, fits = noted(names), self._fits(plain, found)
        verdict = apply_doubt(
            replace(verdict, observed=observed, unavailable=plain.unavailable, fits=fits)
        )
        against = verdict.step is not None or TAMPERED in observed
        return None if shared and against else bounded(verdict, self._known, self._branch)

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

    def _worlds(self, hidden: tuple[str, ...] = ()) -> tuple[Variation, ...]:
        """The worlds of the other replays: all conditions changed, and those of another machine.

        The second one is left out for most branches, as it costs as much as the first.

        In the first a script finds changed what it knows of its fixed world, cannot read `/proc`
        and cannot start anything: there it could behave. In the second it finds all that.
        """
        changed = Variation(self._varied, hidden)
        if not self._thorough:
            return (changed,)
        opened = tuple(name for name in self._varied if name in _OF_MACHINES)
        return changed, Variation(opened, hidden)

    def _against_conditions(
        self, plain: Transcript, others: Sequence[Transcript]
    ) -> Inquiry[Verdict]:
        """The verdict on a record that agrees with a replay, after replays in other conditions."""
        relied: dict[Cause, int] = {}
        hidden = self._left_over(plain)
        if hidden:
            others = _runs_or_raise((yield self._worlds(hidden)))
        for world, other in zip(self._worlds(hidden), others, strict=True):
            verdict = yield from self._against_world(plain, other, world, relied)
            if verdict is not None:
                return replace(verdict, relies_on=tuple(relied))
        if "program" in plain.observed:  # its clock is real, and runs may be in one second
            (later,) = _runs_or_raise((yield (Variation(later=True),)))
            if (found := first_difference(plain, later)) is not None:
                return replace(_divergence(found, *_explain_noise(plain)), relies_on=tuple(relied))
        return Verdict("reproducible", relies_on=tuple(relied))

    def _against_world(
        self, plain: Transcript, other: Transcript, world: Variation, relied: dict[Cause, int]
    ) -> Inquiry[Verdict | None]:
        """The verdict if a replay in another world differs but for what the fixed world holds.

        Args:
            plain: The run in the record's own world.
            other: The run in the other world.
            world: The other world.
            relied: Collects what only the fixed world holds, and the step where it was found.
        """
        changed = list(world.changed)
        while (found := first_difference(plain, other)) is not None:
            among = replace(world, changed=tuple(changed))
            guilty = _or_raise((yield CauseSearch(tuple(self._known.inputs[: found.step]), among)))
            if ends_search(guilty):
                moved = relied.get("address-order") == found.step
                return _explain_difference(plain, found, guilty, moved)
            for name in guilty:
                relied.setdefault(FIXED_CONDITIONS[name], found.step)
                changed.remove(name)
            (other,) = _runs_or_raise((yield (replace(world, changed=tuple(changed)),)))
        return None

    def _left_over(self, run: Transcript) -> tuple[str, ...]:
        names = _leftover_files(run, self._source.path.parent)
        return tuple(name for name in names if name not in self._vouched)

    def _made_without(self, files: tuple[str, ...]) -> bool:
        """Whether the record agrees with a run that finds none of these files."""
        if not files:
            return False
        run = self._trials.run(self._known.inputs, Variation(("leftovers",), files))
        return difference_from_record(self._known, run) is None

    def _against_record(self, plain: Transcript, found: Difference) -> Verdict:
        """The verdict on a record that differs from a replay."""
        answers = self._known.inputs[: found.step]
        if is_contradicted(self._known, plain, found.step):
            words = "the record was edited: its fingerprint of that step is that of the replay"
            return _divergence(found, "unknown", words)
        if STARTS in self._varied and self._trials.starts_unobserved(answers):
            return _explain_difference(plain, found, (STARTS,), moved=False)
        if first_difference(plain, self._trials.run(self._known.inputs)) is not None:
            return _divergence(found, *_explain_noise(plain))
        files = [name for name, _ in edited_files(self._record, file_hashes(self._source))]
        edited = self._edited(files)
        then, now = (
            parse_world(self._record.extras.get("world")),
            self._source.interpreter.version,
        )
        same = then.get("python") == now and then.get("fixed", "").split() == [*FIXED]
        if self._made_without(tuple(_leftover_files(plain, self._source.path.parent, "update"))):
            words = "files that the script changes lie there, and did not when it was recorded"
            return _divergence(found, "leftover-file", words)
        # What was fixed when it was recorded, as it is now, cannot be what differs.
        varied = self._varied
        changed = (
            tuple(name for name in varied if name in OPEN_CONDITIONS)
            if same
            else (*varied, "entropy")
        )
        parts = self._trials.parting(answers, self._left_over(plain))
        guilty = find_culprits(changed, parts) if parts(changed) else ()
        if guilty:
            too = f"; {edited}, too" if edited else ""
            words = f"what stands there depends on {_describe_conditions(guilty)}{too}"
            return _divergence(found, _cause_of(guilty), words)
        if edited:
            beside = "" if files else _named_files(self._source)
            too = f", perhaps a file beside it too{beside}" if beside else ""
            words = f"no condition changes it, and {edited}{too}"
            return _divergence(found, "code-changed", words)
        if "python" in then and not same:
            words = f"recorded with Python {then['python']}, this is {now}"
            return _divergence(found, "environment", words)
        beside = _named_files(self._source)
        perhaps = f"perhaps a file beside the script{beside} was another" if beside else ""
        words = f"no condition changes it: {perhaps or 'nothing tells why'}"
        return _divergence(found, *(_observed_cause(plain) or ("unknown", words)))

    def _edited(self, files: Sequence[str]) -> str:
        """What was edited since, in words; empty if nothing was, as far as is known."""
        script = self._known.code_hash not in (None, self._source.code_hash)
        names = [*(["the script"] if script else []), *files]
        were = "was" if len(names) == 1 else "were"
        return f"{', '.join(names)} {were} changed since" if names else ""


def _runs_or_raise(outcomes: Sequence[Outcome]) -> list[Transcript]:
    """The requested runs; raises the error that stopped one."""
    return [_or_raise(outcome) for outcome in outcomes]


def _or_raise(outcome: T | QuizlogError) -> T:
    """The requested result; raises the error that stopped it."""
    if isinstance(outcome, QuizlogError):
        raise outcome
    return outcome


def _first_of_differences(plain: Transcript, others: Sequence[Transcript]) -> Difference | None:
    found = (first_difference(plain, other) for other in others)
    return next((one for one in found if one is not None), None)


def _conditions(observed: Collection[str]) -> tuple[str, ...]:
    """The conditions that the other replays change.

    Args:
        observed: The observations of the run; conditions that forbid these are left out.
    """
    said = {name for name, notes in _SAID.items() if not notes.isdisjoint(observed)}
    return tuple(name for name in _USUAL if name not in said)


_MOST_NAMES = 5
"""Maximum number of files named in a sentence."""


def _leftover_files(run: Transcript, folder: Path, how: str = "file") -> Iterator[str]:
    """Files that the script writes and that exist in the user's folder.

    Args:
        run: The run.
        folder: The script's folder.
        how: "file" for files that it wrote before reading them; "update" for files that it read
            first, which may be data of the script or left over.
    """
    for name in run.observed:
        kind, _, path = name.partition(" ")
        if kind == how and isfile(folder / path):
            yield path


def _named_files(source: Source) -> str:
    """The modules and data files that a script's text names, in brackets."""
    folder = source.path.parent
    names = [path.relative_to(folder).as_posix() for path in needed_files(source)]
    shown = [*names[:_MOST_NAMES], *(["..."] if names[_MOST_NAMES:] else [])]
    return f" ({', '.join(shown)})" if shown else ""


def varied_in_words(observed: Collection[str]) -> list[str]:
    """What the other replays of a branch change, in words; see `_conditions`."""
    return [_IN_WORDS[name] for name in _conditions(observed) if name != STARTS]


_IN_WORDS = {
    "hashes": "the order of hashes",
    "clock": "the clock",
    "addresses": "the order of addresses in memory",
    "environment": "environment variables, time zone or user",
    "entropy": "randomness that has no seed of its own",
    "folder": "where the folder lies",
    "home": "the user (home folder, numbers), the machine or where Python lies",
    "leftovers": "what else lies in the folder",
    "metadata": "the times or numbers of files",
    "threads": "the order in which threads take turns",
    "libraries": "the real time, for which a library of it asks the system itself",
    "system": "the system's state (/proc, /sys)",
    STARTS: "threads or programs that it starts unobserved",
}


def _divergence(found: Difference, cause: Cause, reason: str) -> Verdict:
    """The verdict that a replay differs."""
    sides = (found.what, found.a, found.b)
    return Verdict("diverges", found.step, *sides, cause, reason, no_text=found.no_text)


def _fragile(verdict: Verdict) -> Verdict:
    """The verdict that it is another world in which a replay differs."""
    return replace(verdict, verdict="fragile")


def _explain_difference(
    plain: Transcript, found: Difference, guilty: Sequence[str], moved: bool
) -> Verdict:
    """The verdict on two runs that differ.

    Args:
        plain: The run in the record's own world.
        found: The difference.
        guilty: The conditions whose change makes the difference.
        moved: Whether addresses in memory, which any allocation moves, decide there.
    """
    if not guilty:
        return _divergence(found, *_explain_noise(plain))
    if "home" in guilty:  # programs are another machine's only where none can be started
        guilty = [name for name in guilty if name != STARTS]
    if moved:
        words = f"it depends on addresses in memory, and they on {_describe_conditions(guilty)}"
        return _fragile(_divergence(found, "address-order", words))
    verdict = _divergence(found, _cause_of(guilty), f"it depends on {_describe_conditions(guilty)}")
    # The start was not observed: it was hidden on purpose, or made by a library in C.
    return replace(verdict, verdict="unverifiable") if STARTS in guilty else _fragile(verdict)


def _cause_of(guilty: Sequence[str]) -> Cause:
    """The cause for the first open condition; for the first condition if none is open."""
    return next(
        (OPEN_CONDITIONS[name] for name in guilty if name in OPEN_CONDITIONS),
        (FIXED_CONDITIONS | OPEN_CONDITIONS)[guilty[0]],
    )


def _describe_conditions(guilty: Iterable[str]) -> str:
    return ", together with ".join(_IN_WORDS[name] for name in guilty)


def _explain_noise(plain: Transcript) -> tuple[Cause, str]:
    """Why two runs in the same world differ: only an observation can be the cause."""
    known = _observed_cause(plain)
    if known is None and "addresses" in plain.unavailable:
        return "address-order", UNAVAILABLE["addresses"]
    return known or ("unknown", "two replays in one and the same world differ")


def _observed_cause(plain: Transcript) -> tuple[Cause, str] | None:
    """The observation that may cause a difference which no condition explains."""
    turns: dict[str, Cause] = {
        "program": "process-order",
        "thread": "thread-order",
        "library-threads": "thread-order",
    }
    causes = UNVERIFIABLE | {name: (cause, REMARKABLE[name]) for name, cause in turns.items()}
    return next((causes[name] for name in causes if name in plain.observed), None)

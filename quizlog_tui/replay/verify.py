"""Whether a record is what happened: replays under other conditions, compared step by step.

Two replays side by side, nothing cached: one in the record's own world, one in a world in which
every condition is another. Where they part, from each other or from the record, single conditions
are changed and changed back until the one is found that makes the difference. Judges only; changes
no record.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ..errors import LimitError
from ..record.model import Record
from ..record.store import RecordFile
from .causes import culprits
from .diverge import Difference, first_difference
from .needs import needed_files
from .recorded import belied, difference_from_record, known_of
from .runs import Runs
from .source import Source, read_source
from .trail import question
from .transcript import Transcript
from .verdict import Verdict, together
from .world import DECISIVE, FIXED, HELD, LACKS, MET, NOTED, OPEN, Cause, doubt, told, world_of

_USUAL = (*(name for name in HELD if name != "entropy"), *OPEN)
"""What the second replay changes. Not the system's randomness: like all chance it is the seed's."""

_MOST_NAMES = 5
"""Files beyond which a sentence names no more."""

_RACING = ("threads", "processes", "chance", "ports")
"""What makes runs differ now and then, so that changing conditions proves nothing."""


def verify(path: Path, runs: Runs | None = None) -> Verdict:
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
    source = read_source(path.parent / record.script)
    return judged(record, source, runs or Runs())


def judged(record: Record, source: Source, runs: Runs, vouched: Collection[str] = ()) -> Verdict:
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
    found, older = [Verifier(record, source, runs, vouched=vouched).verdict()], []
    for name, entry in record.branches.items():
        if found[-1].verdict == "diverges":
            break
        if name != record.branch and entry.code_hash in (None, source.code_hash):
            found.append(Verifier(record, source, runs, name, vouched).verdict())
        elif name != record.branch:
            older.append(f"branch {name} is of another text of the script")
    return together(found, older)


class Verifier:
    """One record under judgement.

    Args:
        record: What was recorded.
        source: Its script as it is now.
        runs: Does the replaying.
        branch: Which of its branches; the active one if None.
        vouched: Files of the script's folder that are not left over, whatever it writes.
    """

    def __init__(
        self,
        record: Record,
        source: Source,
        runs: Runs,
        branch: str | None = None,
        vouched: Collection[str] = (),
    ) -> None:
        self._record = record
        self._branch = branch
        self._vouched = vouched
        self._known = known_of(record, branch or record.branch)
        self._source = source
        self._runs = runs
        self._world = world_of(record)
        self._elsewhere = ""
        self._hidden: tuple[str, ...] = ()

    def verdict(self) -> Verdict:
        """Replay and judge."""
        try:
            with _elsewhere(self._source.path.parent) as self._elsewhere:
                return replace(self._judged(), branch=self._branch)
        except LimitError as error:
            return Verdict("unverifiable", reason=error.message, branch=self._branch)

    def _judged(self) -> Verdict:
        plain, varied = self._two()
        left_over = _left_over(plain, self._source.path.parent)
        self._hidden = tuple(name for name in left_over if name not in self._vouched)
        found = difference_from_record(self._known, plain)
        racing = next((name for name in (*plain.met, *varied.met) if name in _RACING), None)
        differs = found or first_difference(plain, varied)
        if differs and racing:
            verdict = _diverging(differs, *MET[racing])
        elif found is not None:
            verdict = self._against_record(plain, found)
        else:
            verdict = self._against_conditions(plain, varied)
        names = dict.fromkeys((*plain.met, *varied.met))
        met = tuple(name for name in names if name in MET or name in NOTED)
        fits = self._fits(plain, found)
        verdict = replace(verdict, met=met, lacks=plain.lacks, fits=fits)
        return self._bounded(_doubted(verdict))

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
        pairs = zip(map(question, self._known.trail), asked, strict=False)
        other = next((k for k, (then, now) in enumerate(pairs) if then != now), len(run.steps))
        return "amended" if other >= len(self._known.inputs) else f"to step {other}"

    def _two(self) -> list[Transcript]:
        """The two replays, side by side: in the usual world, and in another."""
        return list(self._runs.side_by_side(self._run, ((), _USUAL), 2))

    def _run(self, changed: Iterable[str]) -> Transcript:
        """A replay in a world that differs in these conditions."""
        world = self._world.but(changed)
        if "folder" in world.changed:
            world = replace(world, at=self._elsewhere)
        if "leftovers" in world.changed:
            world = replace(world, hidden=self._hidden)
        return self._runs.replay(self._source, world, self._known.inputs)

    def _against_conditions(self, plain: Transcript, varied: Transcript) -> Verdict:
        """The record agrees with a replay: does it with every replay?"""
        changed = list(_USUAL)
        relied: dict[Cause, int] = {}
        if self._hidden:
            varied = self._run(changed)
        while (found := first_difference(plain, varied)) is not None:
            guilty = culprits(changed, self._parting(plain, found))
            if not guilty or any(name in OPEN for name in guilty):
                moved = relied.get("address-order") == found.step
                return replace(_parted(plain, found, guilty, moved), relies_on=tuple(relied))
            for name in guilty:
                relied.setdefault(HELD[name], found.step)
                changed.remove(name)
            varied = self._run(changed)
        later = self._later() if "program" in plain.met else plain
        if (found := first_difference(plain, later)) is not None:
            return replace(_diverging(found, *_noise(plain)), relies_on=tuple(relied))
        return Verdict("reproducible", relies_on=tuple(relied))

    def _later(self) -> Transcript:
        """A run in a later second: programs have the real clock, and two runs may be quick."""
        second = int(time.time())
        while int(time.time()) == second:
            time.sleep(0.02)
        return self._run(())

    def _parting(self, plain: Transcript, found: Difference) -> Callable[[Sequence[str]], bool]:
        """Whether a run under changed conditions parts from the plain one by then."""

        def parts(changed: Sequence[str]) -> bool:
            other = first_difference(plain, self._run(changed))
            return other is not None and other.step <= found.step

        return parts

    def _made_without(self, files: tuple[str, ...]) -> bool:
        """Whether the record is what a run shows that finds none of these files."""
        if not files:
            return False
        world = replace(self._world.but(("leftovers",)), hidden=files)
        run = self._runs.replay(self._source, world, self._record.used)
        return difference_from_record(self._known, run) is None

    def _against_record(self, plain: Transcript, found: Difference) -> Verdict:
        """A replay differs from the record: why?"""
        if first_difference(plain, self._run(())) is not None:
            return _diverging(found, *_noise(plain))
        if belied(self._known, plain, found.step):
            words = "the record was edited: its own mark of that step is of what a replay shows"
            return _diverging(found, "unknown", words)
        edited = self._known.code_hash not in (None, self._source.code_hash)
        then, now = told(self._record.extras.get("world")), ".".join(map(str, sys.version_info[:3]))
        same = then.get("python") == now and then.get("fixed", "").split() == [*FIXED]
        if self._made_without(tuple(_left_over(plain, self._source.path.parent, "update"))):
            words = "files that the script changes lie there, and did not when it was recorded"
            return _diverging(found, "leftover-file", words)
        # What was fixed when it was recorded, as it is now, cannot be what differs.
        changed = (*OPEN,) if same else (*_USUAL, "entropy")
        parts = self._parting(plain, found)
        guilty = culprits(changed, parts) if parts(changed) else ()
        if guilty:
            too = "; the script was changed since, too" if edited else ""
            words = f"what stands there depends on {_depends(guilty)}{too}"
            return _diverging(found, _cause(guilty), words)
        if edited:
            named = _named(self._source)
            too = f", perhaps a file beside it too{named}" if named else ""
            words = f"no condition changes it, and the script was changed since{too}"
            return _diverging(found, "code-changed", words)
        if "python" in then and not same:
            words = f"recorded with Python {then['python']}, this is {now}"
            return _diverging(found, "environment", words)
        beside = _named(self._source)
        perhaps = f"perhaps a file beside the script{beside} was another" if beside else ""
        words = f"no condition changes it: {perhaps or 'nothing tells why'}"
        return _diverging(found, *(_met(plain) or ("unknown", words)))


_DEPENDS = {
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
}


def _diverging(found: Difference, cause: Cause, reason: str) -> Verdict:
    return Verdict("diverges", found.step, found.what, found.a, found.b, cause, reason)


def _parted(plain: Transcript, found: Difference, guilty: Sequence[str], moved: bool) -> Verdict:
    """Why two runs part; `moved` if addresses, which anything in memory moves, decide there."""
    if not guilty:
        return _diverging(found, *_noise(plain))
    if moved:
        words = f"it depends on addresses in memory, and they on {_depends(guilty)}"
        return _diverging(found, "address-order", words)
    return _diverging(found, _cause(guilty), f"it depends on {_depends(guilty)}")


def _named(source: Source) -> str:
    """The modules and data files that a script's text names, in brackets."""
    folder = source.path.parent
    names = [path.relative_to(folder).as_posix() for path in needed_files(source)]
    shown = [*names[:_MOST_NAMES], *(["..."] if names[_MOST_NAMES:] else [])]
    return f" ({', '.join(shown)})" if shown else ""


def _cause(guilty: Sequence[str]) -> Cause:
    """The class that conditions are of: of one that no replay holds, if there is one."""
    return next((OPEN[name] for name in guilty if name in OPEN), (HELD | OPEN)[guilty[0]])


def _depends(guilty: Iterable[str]) -> str:
    return ", together with ".join(_DEPENDS[name] for name in guilty)


def _noise(plain: Transcript) -> tuple[Cause, str]:
    """Why two runs in one and the same world part: what they met, as nothing else is left."""
    known = _met(plain)
    if known is None and "addresses" in plain.lacks:
        return "address-order", LACKS["addresses"]
    return known or ("unknown", "two replays in one and the same world differ")


def _met(plain: Transcript) -> tuple[Cause, str] | None:
    """What a run met that nothing holds: where no condition explains a difference, it may."""
    turns: dict[str, Cause] = {"program": "process-order", "thread": "thread-order"}
    causes = MET | {name: (cause, NOTED[name]) for name, cause in turns.items()}
    return next((causes[name] for name in causes if name in plain.met), None)


def _doubted(verdict: Verdict) -> Verdict:
    """A verdict that holds only by luck, or by request of the script, is none."""
    name = doubt(verdict.met)
    if name is None or (verdict.verdict == "diverges" and not name.startswith(DECISIVE)):
        return verdict
    cause, reason = MET[name]
    return replace(verdict, verdict="unverifiable", cause=cause, reason=reason)


def _left_over(run: Transcript, folder: Path, how: str = "file") -> Iterator[str]:
    """Files that the script writes and that lie in the user's folder all the same.

    Args:
        run: What it did.
        folder: Its folder.
        how: "file" for those it wrote before it read them. "update" for those it read first, as it
            does data that belong to it: one that is left over looks the same.
    """
    for name in run.met:
        kind, _, path = name.partition(" ")
        if kind == how and (folder / path).is_file():
            yield path


@contextmanager
def _elsewhere(folder: Path) -> Iterator[str]:
    """Another path for a folder, of another length."""
    from ..scratch import scratch_folder

    with scratch_folder("verify") as base:
        other = base / f"elsewhere-{folder.name}"
        other.mkdir()
        yield str(other)

"""Judges the branches of a record: together where they share answers, and some of them alone.

Branches that share processes can tell each other what no run of its own would know. So no verdict
rests on shared processes alone. A few branches are replayed from the start in a process of their
own, drawn by chance, so that no author of a record knows which. All of them are if they are few, or
if the script could have passed anything on. Once the processes have misled, none is shared.

A branch asks for replays by an inquiry, a generator: it yields a request, is sent the answer, and
returns its verdict. Equal requests of several branches are answered once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from ..replay.tree_walk import Outcome
from .trials import TrialRequest, Trials
from .verdict import Verdict

T = TypeVar("T")
W = TypeVar("W")

Inquiry = Generator[W, Any, T]
"""Yields requests `W`, which are equal if one answer serves both, and returns a `T`."""


def _run_inquiries(
    inquiries: Sequence[Inquiry[W, T]],
    find_out: Callable[[W, list[int]], Iterable[tuple[int, Any]]],
) -> Iterator[T]:
    """The results of inquiries, in order.

    An inquiry is only advanced for its own result, or along with an earlier one that has the same
    request.

    Args:
        inquiries: The inquiries, not yet begun.
        find_out: Answers a request for all inquiries (by index) that have made it.
    """
    wanted = {index: next(inquiry) for index, inquiry in enumerate(inquiries)}
    found: dict[int, T] = {}
    for index in range(len(inquiries)):
        while index not in found:
            asking = [other for other, what in wanted.items() if what == wanted[index]]
            for one, answer in find_out(wanted[index], asking):
                try:
                    wanted[one] = inquiries[one].send(answer)
                except StopIteration as ended:
                    found[one] = ended.value
                    del wanted[one]
        yield found.pop(index)


SAMPLE = 5
"""Number of branches, besides the active one, that are replayed alone where there are many."""

Draw = Callable[[Sequence[int], int], Iterable[int]]
"""Draws so many of these branches."""


class JudgedBranch(Protocol):
    """A branch about which replays can be requested."""

    @property
    def answers(self) -> Sequence[str]:
        """All answers of the branch."""

    @property
    def may_have_shared(self) -> bool:
        """Whether its replays could have told others anything, or others them."""

    def inquiry(self, *, shared: bool, alone: bool) -> Inquiry[TrialRequest, Verdict | None]:
        """The inquiry that requests replays and returns the verdict.

        Args:
            shared: Whether replays share processes with other branches. Then the result is None if
                a difference was found.
            alone: Whether the replay in the record's own world has a process of its own even so.
        """

    def agrees_with(self, run: Outcome) -> bool:
        """Whether a replay alone shows what the one that shared processes did, and the record."""


def judge_branches(
    trials: Trials, branches: Sequence[JudgedBranch], draw: Draw, *, thorough: bool
) -> Iterator[Verdict]:
    """The verdicts on branches, in order, up to the first that differs from the record.

    Args:
        trials: Makes the replays.
        branches: The branches, the active one first.
        draw: Draws those that are replayed alone.
        thorough: Replay each of them alone.
    """
    if len(branches) == 1:
        return iter([_judge_alone(trials, branches[0])])
    each = thorough or len(branches) <= 1 + SAMPLE
    found, misled = _judge_together(trials, branches, alone=each)
    if not each and not misled and found[-1].verdict != "diverges":
        chosen = _chosen(branches, found, draw)
        runs = trials.alone(branches[index].answers for index in chosen)
        pairs = zip(chosen, runs, strict=True)
        misled = not all(branches[index].agrees_with(run) for index, run in pairs)
        found = [replace(one, alone=1) if at in chosen else one for at, one in enumerate(found)]
    if misled:
        return _until_difference(_judge_alone(trials, branch) for branch in branches)
    return iter(found)


def by_chance(some: Sequence[int], count: int) -> Iterable[int]:
    """Draw from the system's randomness, which nobody can foretell."""
    from random import SystemRandom  # takes long to import, and few records need it

    return SystemRandom().sample(some, count)


def _chosen(
    branches: Sequence[JudgedBranch], found: Sequence[Verdict], draw: Draw
) -> Collection[int]:
    """The branches to be replayed alone, of those that only shared processes were asked about."""
    shared = [index for index, verdict in enumerate(found) if not verdict.alone]
    if any(branch.may_have_shared for branch in branches):
        return shared
    others = [index for index in shared if index]
    return [*shared[: shared[:1] == [0]], *draw(others, min(SAMPLE, len(others)))]


def _judge_together(
    trials: Trials, branches: Sequence[JudgedBranch], *, alone: bool
) -> tuple[list[Verdict], bool]:
    """The verdicts by shared processes up to the first difference, and whether they misled.

    Common answers of branches are replayed once. A verdict against a branch needs its own replays;
    if these find nothing, then what was found came from other branches.
    """
    found: list[Verdict] = []
    inquiries = [branch.inquiry(shared=True, alone=alone) for branch in branches]
    for branch, verdict in zip(branches, _results(trials, branches, inquiries), strict=True):
        if verdict is not None:
            found.append(replace(verdict, alone=int(alone)))
            continue
        found.append(_judge_alone(trials, branch))
        if found[-1].verdict == "reproducible":
            return found, True
        if found[-1].verdict == "diverges":
            break
    return found, False


def _judge_alone(trials: Trials, branch: JudgedBranch) -> Verdict:
    """The verdict on a branch by its own replays."""
    inquiry = branch.inquiry(shared=False, alone=False)
    (verdict,) = _results(trials, [branch], [inquiry])
    assert verdict is not None, "nothing was shared"
    return verdict


def _results(
    trials: Trials,
    branches: Sequence[JudgedBranch],
    inquiries: Sequence[Inquiry[TrialRequest, Verdict | None]],
) -> Iterator[Verdict | None]:
    """The results of inquiries about branches, in order."""

    def find_out(wanted: TrialRequest, asking: list[int]) -> Iterator[tuple[int, Any]]:
        answers_found = trials.find_out(wanted, [branches[index].answers for index in asking])
        return ((asking[place], answer) for place, answer in answers_found)

    return _run_inquiries(inquiries, find_out)


def _until_difference(verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    for verdict in verdicts:
        yield verdict
        if verdict.verdict == "diverges":
            return

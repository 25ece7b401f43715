"""Preference pairs: an answer of the gold run and a wrong one.

A pair asserts that an answer is wrong at its place, so it is made only if that is known. Standard
library only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..build.conversation import assistant, talk_of
from ..format.hashing import canonical_answer
from ..format.matching import Matcher, cluster_of, matcher_or_usual
from ..runs.runs import Turn

if TYPE_CHECKING:
    from ..format.shape import UsableEpisode, UsableTrace

Row = dict[str, object]
"""A line of an export."""


def preference(episode: UsableEpisode) -> Iterator[Row]:
    """Pairs of the gold answer as `chosen` and a wrong answer after equal answers as `rejected`.

    A wrong answer is one that the script refused, or the last one of a run whose final answer does
    not count as equal to the gold one.
    """
    gold, hint = episode["teacher_gold_trace"], episode["question"]["hint"]
    system, talk = talk_of(episode)
    inputs = _metadata_list(gold, "inputs")
    if not gold["execution_success"] or len(talk) != 2 * len(inputs):
        return  # some messages are not accepted answers, so that no pair is certain
    matcher, seen = matcher_or_usual(gold["submission_metadata"].get("matcher")), set()
    for trace in _outvoted(episode, matcher):
        pair = _fault(inputs, trace, matcher)
        if pair and pair not in seen:
            seen.add(pair)
            at, answer, code = pair
            rejected = {"role": "assistant", "content": assistant(Turn(answer, code), hint)}
            prompt = [system, *talk[: 2 * at + 1]]
            yield {"prompt": prompt, "chosen": [talk[2 * at + 1]], "rejected": [rejected]}


def _outvoted(episode: UsableEpisode, matcher: Matcher) -> list[UsableTrace]:
    """The runs without a final answer that counts as equal to the gold one."""
    traces = [episode["teacher_gold_trace"], *episode["consistency_traces"]]
    pairs = [(trace["final_answer_hash"], trace.get("final_answer")) for trace in traces]
    same = cluster_of(pairs[0][0], pairs, matcher)
    return [trace for trace in traces[1:] if trace["final_answer_hash"] not in same]


def _fault(
    inputs: list[object], trace: UsableTrace, matcher: Matcher
) -> tuple[int, str, str | None] | None:
    """The wrong answer at which a run left the gold run: its index, text and code."""
    given = _metadata_list(trace, "inputs")
    refused = trace["submission_metadata"].get("error_line") is not None
    if trace["final_answer_hash"] is not None:
        at = len(given) - 1
    elif refused:
        at = len(trace["hooks"])
    else:
        return None
    if not 0 <= at < min(len(given), len(inputs)):
        return None
    *before, last = [_same(*pair, matcher) for pair in zip(inputs, given[: at + 1], strict=False)]
    if last or not all(before):
        return None
    cells = trace["code_cells"]
    written = at < len(cells) and at not in _metadata_list(trace, "generated_cells")
    return at, str(given[at]), cells[at] if written else None


def _same(gold: object, other: object, matcher: Matcher) -> bool:
    return matcher.same(canonical_answer(str(gold)), canonical_answer(str(other)))


def _metadata_list(trace: UsableTrace, name: str) -> list[object]:
    """A list in a run's metadata; empty if the value is not a list."""
    found = trace["submission_metadata"].get(name)
    return found if isinstance(found, list) else []

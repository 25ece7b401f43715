"""Preference pairs: an answer of the gold run and a wrong one.

A pair asserts that an answer is wrong at its place, so it is made only if that is known. Standard
library only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...replay.script.input_kinds import NUMBER
from ...solver.decisions.decision import ModelQuestion
from ...solver.voting.equality import answer_value
from ...solver.voting.vote import is_equal
from ..build.conversation import assistant, talk_of
from ..format.hashing import value_hash
from ..runs.runs import Turn

if TYPE_CHECKING:
    from ..format.shape import UsableEpisode, UsableTrace

Row = dict[str, object]
"""A line of an export."""


def preference(episode: UsableEpisode) -> Iterator[Row]:
    """Pairs of the gold answer as `chosen` and a wrong answer after equal answers as `rejected`.

    A wrong answer is one that the script refused, or the last one of a run with another final
    answer, unless the two may be one in different notations.
    """
    gold, hint = episode["teacher_gold_trace"], episode["question"]["hint"]
    system, talk = talk_of(episode)
    inputs = _metadata_list(gold, "inputs")
    if not gold["execution_success"] or len(talk) != 2 * len(inputs):
        return  # some messages are not accepted answers, so that no pair is certain
    seen = set()
    for trace in episode["consistency_traces"]:
        pair = _fault(gold, inputs, trace)
        if pair and pair not in seen:
            seen.add(pair)
            at, answer, code = pair
            rejected = {"role": "assistant", "content": assistant(Turn(answer, code), hint)}
            prompt = [system, *talk[: 2 * at + 1]]
            yield {"prompt": prompt, "chosen": [talk[2 * at + 1]], "rejected": [rejected]}


def _fault(
    gold: UsableTrace, inputs: list[object], trace: UsableTrace
) -> tuple[int, str, str | None] | None:
    """The wrong answer at which a run left the gold run: its index, text and code."""
    given = _metadata_list(trace, "inputs")
    accepted = trace["final_answer_hash"] is not None
    refused = trace["submission_metadata"].get("error_line") is not None
    at = len(given) - 1 if accepted else len(trace["hooks"])
    if not (accepted or refused) or not 0 <= at < min(len(given), len(inputs)):
        return None
    texts = [str(each) for each in (*inputs[: at + 1], *given[: at + 1])]
    hashes = [value_hash(answer_value(text)) for text in texts]
    *before, last = [a == b for a, b in zip(hashes[: at + 1], hashes[at + 1 :], strict=True)]
    if last or not all(before) or (accepted and _may_be_equal(gold, at, texts[at], texts[-1])):
        return None
    cells = trace["code_cells"]
    written = at < len(cells) and at not in _metadata_list(trace, "generated_cells")
    return at, texts[-1], cells[at] if written else None


def _may_be_equal(gold: UsableTrace, at: int, one: str, other: str) -> bool:
    """Whether two answers that the script accepted may be one, by the laxest rules of a vote."""
    asked = gold["hooks"][at].get("description") if at < len(gold["hooks"]) else None
    return is_equal(one, other, ModelQuestion(str(asked or ""), input_type=NUMBER))


def _metadata_list(trace: UsableTrace, name: str) -> list[object]:
    """A list in a run's metadata; empty if the value is not a list."""
    found = trace["submission_metadata"].get(name)
    return found if isinstance(found, list) else []

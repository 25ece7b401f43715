"""Converts a replayed run to the schema's `ExecutionTrace`: cells, hooks, answer, provenance.

The result is plain data in the schema's key order and does not depend on time, machine or folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ...replay.script.source import Source
from ...replay.transcript import Step
from ...replay.world import CODE, describe_observation, doubt, start_of
from ...text import one_line
from ..format.hashing import value_hash
from ..format.times import stamp_of
from ..runs.declarations import names_by_line
from ..runs.runs import Replayed, Turn, clean, shown, step_answer

if TYPE_CHECKING:
    from ..format.schema import ExecutionTrace, Hook


def execution_trace(
    replayed: Replayed, source: Source, metadata: dict[str, object], *, in_messages: int
) -> ExecutionTrace:
    """The `ExecutionTrace` of a run.

    Args:
        replayed: The run and its transcript.
        source: The script.
        metadata: Entries of `submission_metadata` besides those about the run itself.
        in_messages: Number of its turns that are in the episode's conversation.
    """
    answer = replayed.final_answer
    turns, steps = replayed.turns, replayed.accepted
    total = len(replayed.transcript.steps) + len(replayed.run.rejected)
    return {
        "code_cells": [cell(turn, step) for turn, step in zip(turns, steps, strict=True)],
        "final_answer": answer,
        "final_answer_hash": None if answer is None else value_hash(answer),
        "execution_success": replayed.success,
        "hooks": hooks(steps, source),
        "submission_metadata": metadata | _about(replayed),
        "total_turns": total,
        "archived_turn_count": total - in_messages,
    }


def cell(turn: Turn, step: Step) -> str:
    """The turn's code, or a line that submits the answer if the solver wrote no code."""
    return clean(turn.code) if turn.code else f"submit({step_answer(step)!r})"


def _about(replayed: Replayed) -> dict[str, object]:
    run, error = replayed.run, replayed.transcript.last_error
    observed = replayed.transcript.observed
    why = doubt(observed) or (CODE if CODE in observed else None)
    generated = [index for index, turn in enumerate(replayed.turns) if not turn.code]
    return {
        "solver": clean(run.name),
        "sample": run.sample,
        "execution_id": run.run_id,
        "start_time": stamp_of(start_of(run.start_time)),
        "inputs": [clean(text) for text in run.inputs],
        "status": replayed.transcript.status,
        "score": replayed.transcript.score,
        "error_line": error.line if error else None,
        "retries": len(run.rejected),
        "reconciled": run.reconciled,
        "unverifiable": None if why is None else describe_observation(why),
        "generated_cells": generated,
    }


def hooks(steps: Sequence[Step], source: Source) -> list[Hook]:
    """One hook for each accepted answer, each depending on the one before it."""
    names = _unique_names(steps, names_by_line(source.data) if steps else {})
    return [
        {
            "code_line": clean(source.line(step.line)) if step.line else "",
            "variable_name": name,
            "value_hash": value_hash(step_answer(step)),
            "description": _first_line(step),
            "depends_on": [before] if before else [],
        }
        for step, name, before in zip(steps, names, [None, *names], strict=False)
    ]


def _first_line(step: Step) -> str | None:
    prompt = clean(step.question or "").strip() or shown(step).rpartition("\n")[2]
    return one_line(prompt.partition("\n")[0].strip()) or None


def _unique_names(steps: Sequence[Step], by_line: dict[int, str]) -> list[str]:
    """The script's variable names, numbered from the second use of each on.

    Answers without a variable are called `answer_0` and so on. No invented name equals one that
    the script uses.
    """
    given = [by_line.get(step.line or 0) for step in steps]
    own, names = set(given), dict[str, None]()
    for n, name in enumerate(given):
        stem = name or f"answer_{n}"
        numbered = (f"{stem}_{number}" for number in count(2))
        free = (each for each in numbered if each not in own and each not in names)
        taken = stem in names or (name is None and stem in own)
        names[next(free) if taken else stem] = None
    return list(names)


def script_name(path: Path) -> str:
    """The name of a file in an episode: the file and its folder, without the path to the folder."""
    return clean(f"{path.absolute().parent.name}/{path.name}")

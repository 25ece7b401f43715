"""The run metadata of a record: stderr, times, and the world of the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..record.model import Record
from ..replay.transcript import Transcript
from ..replay.world import parse_world, world_entries


def run_metadata(
    record: Record, run: Transcript, clock: Callable[[], str], python: str
) -> dict[str, Any]:
    """The run metadata (`extras`) of a record after a run.

    Args:
        record: The record before the run.
        run: The run up to its pointer.
        clock: Returns the present time, for `end_time`.
        python: The version of the interpreter that ran the script.
    """
    extras = dict(record.extras)
    outputs = extras.get("outputs")
    if run.stderr and isinstance(outputs, (dict, type(None))):
        extras["outputs"] = {**(outputs or {}), "stderr": run.stderr}
    elif isinstance(outputs, dict):
        extras["outputs"] = {k: v for k, v in outputs.items() if k != "stderr"}
    if extras.get("outputs") == {}:
        del extras["outputs"]
    if "fixed" in parse_world(extras.setdefault("world", ["fixed: "])):
        extras["world"] = world_entries(run.unavailable, run.observed, python)
    if run.status == "in_progress":
        extras.pop("end_time", None)
    elif "start_time" in extras:
        extras.setdefault("end_time", clock())
    return extras

"""The record's extensions that follow from a run: what went to stderr, and when it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .replay.transcript import Transcript


def extensions(
    extras: Mapping[str, Any], transcript: Transcript, clock: Callable[[], str]
) -> dict[str, Any]:
    """The extensions with `outputs` and `end_time` brought up to date; all others as they are."""
    found = dict(extras)
    outputs = found.get("outputs")
    if transcript.stderr and isinstance(outputs, (dict, type(None))):
        found["outputs"] = {**(outputs or {}), "stderr": transcript.stderr}
    elif isinstance(outputs, dict):
        found["outputs"] = {key: value for key, value in outputs.items() if key != "stderr"}
    if found.get("outputs") == {}:
        del found["outputs"]
    if transcript.status == "in_progress":
        found.pop("end_time", None)
    elif "start_time" in found:
        found.setdefault("end_time", clock())
    return found

"""What a run that is at hand tells about a call: whether it lies on its way, whether it died."""

from __future__ import annotations

from collections.abc import Sequence

from ..run import Run
from ..transcript import Transcript


def killed(transcript: Transcript) -> bool:
    """Whether the process ended by SIGKILL: by the script's own hand, or somebody else's."""
    return transcript.exit_code == -9


def died(run: Run) -> bool:
    """Whether the process was killed from outside before it could tell anything."""
    return not run.waiting and run.process.pid is None


def from_known(transcript: Transcript, inputs: Sequence[str]) -> Transcript | None:
    """The wanted transcript, if a known run, whose answers agree with `inputs`, passed through."""
    if len(inputs) > len(transcript.steps) and transcript.status == "in_progress":
        return None
    return transcript.upto(len(inputs))

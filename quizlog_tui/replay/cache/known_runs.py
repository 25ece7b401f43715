"""What a known run tells about a call: whether it passed through its inputs, whether it died."""

from __future__ import annotations

from collections.abc import Sequence

from ..live_run import LiveRun
from ..transcript import Transcript


def was_killed(transcript: Transcript) -> bool:
    """Whether the process ended by SIGKILL, sent by the script itself or by somebody else."""
    return transcript.exit_code == -9


def was_lost(run: LiveRun) -> bool:
    """Whether the process was killed from outside before it could report anything."""
    return not run.waiting and run.process.pid is None


def transcript_up_to(transcript: Transcript, inputs: Sequence[str]) -> Transcript | None:
    """The transcript of `inputs`, if a known run with agreeing answers passed through it."""
    if len(inputs) > len(transcript.steps) and transcript.status == "in_progress":
        return None
    return transcript.upto(len(inputs))

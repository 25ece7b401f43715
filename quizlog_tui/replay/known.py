"""What a run that is at hand tells about a call: whether it lies on its way, whether it died."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import CancelledError, QuizlogError
from .run import Run
from .transcript import Transcript


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


def collected(run: Run) -> Transcript | QuizlogError | None:
    """Where a run went that was begun; None if its process was never made."""
    try:
        transcript = run.finish()
        return None if run.process.refused or killed(transcript) else transcript
    except CancelledError:
        raise
    except QuizlogError as error:
        # Which of several side by side started too much is not known: each is tried alone.
        return None if run.process.family.exceeded else error
    finally:
        run.close()

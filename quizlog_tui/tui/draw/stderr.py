"""Draws what a script wrote to stderr: its lines marked, below what it printed at the step."""

from __future__ import annotations

from dataclasses import replace

from ...replay.transcript import Step, Transcript
from ...terminal_text import plain

_MARK = "stderr: "


def stderr_text(step: Step, *, raw: bool) -> str:
    """The lines that a step wrote to stderr, marked; empty if there are none.

    A question at the end of stderr is left out, since it is shown as the question.
    """
    written = step.stderr.removesuffix(step.prompt or "")
    if not written:
        return ""
    lines = (written if raw else plain(written)).removesuffix("\n").split("\n")
    marked = "\n".join(f"{_MARK}{line}" for line in lines)
    printed = "".join(step.written)
    before = "" if (printed if raw else plain(printed))[-1:] in ("", "\n") else "\n"
    return f"{before}{marked}" + ("" if step.prompt is None else "\n")


def last_stop(run: Transcript) -> Step:
    """The last stop of a run, without the traceback or exit text that the error shows."""
    if run.last_error is None or not run.last.stderr:
        return run.last
    exited = run.error_type == "SystemExit"
    return replace(run.last, stderr="" if exited else run.own_stderr)

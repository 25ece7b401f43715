"""The yardstick: a script run by a plain interpreter, its answers on a pipe."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quizlog_tui.replay.process.spawn import environment


@dataclass(frozen=True)
class Plain:
    stdout: bytes
    stderr: bytes
    exit_code: int


def run_plain(
    script: Path, answers: Sequence[str], args: Sequence[str] = (), python: str = sys.executable
) -> Plain:
    """`python script.py ARG...` in the script's folder, in the usual environment, no terminal in reach."""
    done = subprocess.run(
        [python, script.name, *args],
        input="".join(f"{answer}\n" for answer in answers).encode("utf-8", "surrogateescape"),
        capture_output=True,
        cwd=script.parent,
        env=environment(1) | {"TMPDIR": "/tmp"},
        start_new_session=True,
        check=False,
    )
    return Plain(done.stdout, done.stderr, done.returncode)

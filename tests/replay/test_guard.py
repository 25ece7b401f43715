"""The guard's end: whatever it lacks, it leaves no process behind and waits for none."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from quizlog_tui.replay import worker

END = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from worker import guard

def nothing(*_):  # as where a folder of /proc cannot be read for lack of memory
    raise OSError(12, "Cannot allocate memory")

guard.os.listdir = nothing
pid = os.fork()
if pid == 0:
    time.sleep(600)
guard._forked.append(pid)
guard._kill_all()
print(pid)
"""


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="the system tells nothing of a child alone")
def test_the_quiz_is_killed_where_nothing_can_be_read_of_it() -> None:
    folder = os.path.dirname(os.path.dirname(worker.__file__))
    words = [sys.executable, "-c", END, folder]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)

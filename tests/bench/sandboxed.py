"""Measures sandboxed runs against a cold interpreter that imports pandas."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from quizlog_tui.sandbox.executor import Sandbox
from quizlog_tui.sandbox.result import SandboxLimits

ROUNDS = 30
WARM = """
import pandas as pd
answer = float(pd.DataFrame({"a": [1, 2, 3]}).a.mean())
"""


def warm_against_cold() -> tuple[float, float, str]:
    """Median seconds of a warm run that uses pandas, of a cold import, and the isolation.

    The two are measured in turns.
    """
    warm, cold = [], []
    with Sandbox() as sandbox:
        result = sandbox.run(WARM, None, SandboxLimits(wall=60))
        if result.answer != 2.0:
            raise RuntimeError(f"no sandbox here: {result.status}: {result.error}")
        for _ in range(ROUNDS):
            started = time.perf_counter()
            assert sandbox.run(WARM, None, SandboxLimits(wall=60)).answer == 2.0
            warm.append(time.perf_counter() - started)
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", "import pandas"], check=True)
            cold.append(time.perf_counter() - started)
    return statistics.median(warm), statistics.median(cold), result.isolation


if __name__ == "__main__":
    ours, theirs, isolation = warm_against_cold()
    print(
        f"{isolation}: warm {ours * 1e3:.1f} ms, cold {theirs * 1e3:.0f} ms, {theirs / ours:.1f}x"
    )

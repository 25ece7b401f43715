"""Parsing in several threads at once."""

from __future__ import annotations

import subprocess
import sys

MANY = """
import gc, sys, threading
from quizlog_tui.syntax import parse, parse_expression

class Lost:
    "Garbage, for the sake of which the collector interrupts a parser and runs code."
    def __init__(self):
        self.me = self
    def __del__(self):
        sum(range(50))

def work():
    for _ in range(60):
        for _ in range(20):
            Lost()
        try:
            parse(text), parse_expression("[(1, 2), {3: [4]}]")
        except BaseException as error:
            print(type(error).__name__, error)

text = "\\n".join(f"def f{i}(a, b): return [a + {i}, {{'x': (1, 2, [3])}}]" for i in range(100))
sys.setswitchinterval(1e-6)
gc.set_threshold(50)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_that_parse_do_not_meet() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", MANY], capture_output=True, text=True, check=True
    )
    assert done.stdout == done.stderr == ""

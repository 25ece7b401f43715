"""Measures a whole quiz on web pages with models that answer at once: `python -m tests.bench.web_chain`.

A real browser, the quiz server, a real sandbox and the usual budget; only the models take no time.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from quizlog_tui.webquiz.demo_server.web import quiz_server
from quizlog_tui.webquiz.task.task import TaskResult
from quizlog_tui.webquiz.task.task_context import Budget
from quizlog_tui.webquiz.task.workspace import LOG
from tests.webquiz.conftest import JON, lab
from tests.webquiz.solver_of_pages import think

FIRST, WHOLE = 3.0, 90.0
"""What must be reached: seconds to each page's first submission, and for the chain."""


async def measured() -> tuple[TaskResult, float, str]:
    """The result of one run, its seconds, and its log."""
    with tempfile.TemporaryDirectory() as base, quiz_server() as server:
        models = {"ada": think, "bea": think}
        async with lab(server, Path(base), models, budget=Budget()) as running:
            await running.runner.browser.start()  # as `serve` does
            started = time.perf_counter()
            result = await running.work(JON)
            seconds = time.perf_counter() - started
        return result, seconds, (Path(base) / "results" / result.id / LOG).read_text()


def table(result: TaskResult, log: str) -> list[str]:
    """Each page: when it was rendered, and when its first answer was sent."""
    rendered = re.findall(r"rendered in (\S+) s", log)
    lines = ["| page | rendered | first answer | state |", "|---|---|---|---|"]
    for page, seconds in zip(result.pages, rendered, strict=True):
        name = urlsplit(page.url).path.strip("/")
        first = page.submissions[0].t
        mark = "" if first <= FIRST else " ✗"
        lines.append(f"| {name} | {seconds} s | {first:.2f} s{mark} | {page.state} |")
    return lines


def main() -> None:
    """Print the table of the last run, and a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    for _ in range(parser.parse_args().runs):
        result, seconds, log = asyncio.run(measured())
        first = [page.submissions[0].t for page in result.pages]
        said = f"{result.state}: chain {seconds:.1f} s (at most {WHOLE:g}); first answers"
        said += (
            f" median {statistics.median(first):.2f} s, max {max(first):.2f} s (at most {FIRST:g})"
        )
        print(said, flush=True)
    print("\n".join(table(result, log)))


if __name__ == "__main__":
    main()

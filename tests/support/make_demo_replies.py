"""Records the replies that `quizlog demo-server --solve` plays: `python -m tests.support.make_demo_replies`.

They come from the script that solves the pages in tests, with slips written by hand so that there is
something to vote on; no model was asked, and the recordings say so. To be run again when a prompt or
a page changes (a test tells).
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from quizlog_tui.sandbox import run_code
from quizlog_tui.solver.models.cassettes import CassetteShelf, Recorder
from quizlog_tui.solver.models.transport import ModelClient, Prompt, TransportReply, Voter
from quizlog_tui.solver.redaction import Redaction
from quizlog_tui.solver.solve import Panel
from quizlog_tui.webquiz.demo_server.grader import EMAIL
from quizlog_tui.webquiz.demo_server.web import FOLDER, AtHome, quiz_server
from quizlog_tui.webquiz.task.settings import TaskSettings
from quizlog_tui.webquiz.task.task import TaskRequest, TaskResult
from quizlog_tui.webquiz.task.task_context import Budget
from quizlog_tui.webquiz.task.task_runner import TaskRunner
from tests.webquiz.solver_of_pages import think

LABEL = "made by a script to show how a quiz on web pages is worked; no model was asked"
VOTERS = (
    Voter("ada", "first", primary=True),
    Voter("bea", "second"),
    Voter("cyd", "third"),
)
SLIPS: dict[str, dict[str, Any]] = {
    "Title Case": {"cyd": "quick"},
    "median": {"bea": True},
    "2^10": {"cyd": 1034},
    "vowels": {"ada": 6, "cyd": 8},
    "Concatenate the words": {"bea": "amber harbor linden"},
}
"""What a voter says first to a question with these words in it."""


class Scripted:
    """A transport that solves pages as the script of the tests does, but for its slips."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        data = json.loads(prompt.messages[-1].content)
        said = think(data)
        if "model_outputs" in data:
            said |= {"confidence": 0.9, "explanation": "Counted once more."}
        for words, slips in SLIPS.items():
            if words in data.get("question", "") and self._name in slips:
                said["answer"] = slips[self._name]
        return TransportReply(json.dumps(said, ensure_ascii=False), "live", 0.0)


async def record(folder: Path) -> TaskResult:
    shelf = CassetteShelf(folder, LABEL)
    with tempfile.TemporaryDirectory() as base, quiz_server() as server:

        def client(voter: Voter) -> ModelClient:
            inner = Recorder(voter, Scripted(voter.name), shelf, Redaction(), clock=lambda: 0.0)
            return ModelClient(voter, AtHome(inner, server.url), Redaction())

        settings = TaskSettings(task_basedir=Path(base), quiz_private_hosts=("127.0.0.1",))
        panel = Panel([client(voter) for voter in VOTERS], run_code)
        shop = TaskRunner(settings, panel, budget=Budget(least_gap=0.0))
        try:
            return await shop.work(TaskRequest(EMAIL, "hush-hush", server.first(EMAIL)))
        finally:
            await shop.close()


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    worked = asyncio.run(record(FOLDER))
    print(worked.state, sum(page.state == "correct" for page in worked.pages), len(worked.pages))

"""What tests that make episodes share: a quiz, a scripted solver, its records."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from quizlog_tui.episodes.runs.asking import WantedRun
from quizlog_tui.episodes.runs.instance import Instance
from quizlog_tui.episodes.runs.runs import SolverRun
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.solver.models.transport import (
    ModelClient,
    NoReplyError,
    Prompt,
    TransportReply,
    Voter,
)
from quizlog_tui.solver.redaction import Redaction
from quizlog_tui.solver.solve import Panel
from tests.support.build import Build

QUIZ = """
#hint: it is even
print("start")
n = input("2+2? ")
if n.strip() != "4":
    raise Exception("wrong")
m = input("name? ")
print("hi", m)
"""


def told(doing: str, done: int, count: int) -> None:
    pass


def record(build: Build, name: str, *inputs: str, **more: Any) -> Path:
    build.script(QUIZ)
    path = build.folder / name
    extras = {"execution_id": name, "start_time": "2026-01-01T00:00:00+00:00"}
    made = Record("quiz.py", 7, AppendOnlyList(inputs), len(inputs), extras=extras)
    RecordFile(path).create(replace(made, **more))
    return path


class Scripted:
    """A model that knows both answers, and loses its connection at one of its questions."""

    def __init__(self, lost_at: int = 99) -> None:
        self.prompts: list[str] = []
        self.lost_at = lost_at

    async def complete(self, prompt: Prompt[Any]) -> TransportReply:
        self.prompts.append(prompt.messages[-1].content)
        if len(self.prompts) == self.lost_at:
            raise NoReplyError("error", "no network")
        answer = "ada" if "name?" in self.prompts[-1].split("question")[-1] else 4
        return TransportReply(
            json.dumps({"code": None, "answer": answer, "explanation": "so"}), "live"
        )


def panel_of(**voices: Scripted) -> Panel:
    async def no_code(code: str, folder: Path | None) -> Any:
        raise AssertionError(code)

    clients = [
        ModelClient(Voter(name, primary=name == "y"), voice, Redaction())
        for name, voice in voices.items()
    ]
    return Panel(clients, no_code)


def ignored(run: SolverRun) -> None:
    pass


def want_of(script: Path, sample: int = 1, hint: str | None = None) -> WantedRun:
    return WantedRun(Instance(read_source(script), 7, ()), sample, hint)

"""Writes the recorded replies that are shipped beside the examples: `python -m tests.support.make_cassettes`.

The texts below were written by hand; no model was asked, and the recordings say so. To be run again
when a prompt or an example changes (a test tells).
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from quizlog_tui.files.paths import shipped
from quizlog_tui.sandbox.result import ExecResult
from quizlog_tui.session.session import Session
from quizlog_tui.solver.autopilot import run_autopilot
from quizlog_tui.solver.models.cassettes import CassetteShelf, Recorder
from quizlog_tui.solver.models.transport import ModelClient, Prompt, TransportReply, Voter
from quizlog_tui.solver.redaction import Redaction
from quizlog_tui.solver.solve import Panel
from tests.support.examples import fresh_example

LABEL = "written by hand to show how a decision is made; no model was asked"
VOTERS = (
    Voter("ada", "first", primary=True),
    Voter("bea", "second"),
    Voter("cyd", "third"),
)


def solution(answer: Any = None, code: str | None = None, explanation: str = "") -> dict[str, Any]:
    return {"code": code, "answer": answer, "explanation": explanation, "language": "python"}


def final(
    answer: Any, confidence: float, explanation: str, code: str | None = None
) -> dict[str, Any]:
    return {
        "final_answer": answer,
        "confidence": confidence,
        "explanation": explanation,
        "corrected_code": code,
    }


_A = "import numpy as np\nA = np.array([[4, 6], [6, 13]])\n"
_ROWS = "import csv\nwith open('rainfall.csv') as file:\n    rows = list(csv.DictReader(file))\n"
_HILL = _ROWS + "hill = [float(row['millimetres']) for row in rows if row['station'] == 'Hill']\n"
_SUMS = (
    "sums = {}\nfor row in rows:\n"
    "    sums[row['station']] = sums.get(row['station'], 0) + float(row['millimetres'])\n"
)

SCRIPTS: dict[str, dict[str, dict[str, Any]]] = {
    "linear-algebra": {
        "Is A symmetric?": {
            "ada": solution("yes", _A + "answer = bool((A == A.T).all())", "A equals its transpose."),
            "bea": solution("yes", None, "The entries off the diagonal are equal."),
            "cyd": solution("yes", None, "6 = 6."),
        },
        "What is the determinant of A?": {
            "ada": solution(16, _A + "answer = round(float(np.linalg.det(A)), 6)", "ad - bc."),
            "bea": solution("16", None, "52 - 36."),
            "cyd": solution(46, "answer = 4 * 13 - 6", "The product of the diagonal less 6."),
        },
        "So A is positive": {
            "ada": solution("definite", None, "All leading minors are positive."),
            "bea": solution("definite", None, "Sylvester's criterion."),
            "cyd": solution("semidefinite", None, "No eigenvalue is negative."),
        },
        "Give a lower triangular L": {
            "ada": solution(
                None, _A + "answer = np.linalg.cholesky(A).T.tolist()", "The Cholesky factor."
            ),
            "bea": solution(
                [[2, 0], [3, 2]], _A + "answer = np.linalg.cholesky(A).tolist()", "numpy gives L."
            ),
            "cyd": solution([[2, 0], [3, 3]], None, "2 * 2 = 4, 2 * 3 = 6, 13 - 9 = 4."),
        },
        "Give a lower triangular L (again)": {
            "ada": final(
                [[2, 0], [3, 2]], 0.97, "I had transposed it.",
                _A + "answer = np.linalg.cholesky(A).tolist()",
            ),
            "bea": final([[2, 0], [3, 2]], 0.95, "The product gives A."),
            "cyd": final([[2, 0], [3, 2]], 0.9, "The last entry is the root of 4, which is 2."),
        },
    },
    "survey": {
        "How many stations": {
            "ada": solution(3, _ROWS + "answer = len({row['station'] for row in rows})", "Counted."),
            "bea": solution("3", None, "There are three of them."),
            "cyd": solution(
                None, _ROWS + "names = sorted({row['station'] for row in rows})\nanswer = len(names)",
            ),
        },
        "Which had most rain?": {
            "ada": solution("Hill", _ROWS + _SUMS + "answer = max(sums, key=sums.get)", "The largest sum."),
            "bea": solution("coast", None, "The coast is wet."),
            "cyd": solution("Hill", None, "Rain falls on hills."),
        },
        "What is the mean": {
            "ada": solution(
                None, _HILL + "answer = round(sum(hill) / len(hill), 1)",
            ),
            "bea": solution(
                None, _HILL + "import statistics\nanswer = statistics.mean(hill)",
            ),
            "cyd": solution(88.0, None, "About 88."),
        },
        "Say in a sentence": {
            "ada": solution("I would look at the same months of other years."),
            "bea": solution("How the seasons differ between the stations."),
            "cyd": solution("Whether the wettest month is the same everywhere."),
        },
    },
    "adventure": {
        "": {
            "ada": solution("no", None, "The gold is a trap: taking it closes the gate."),
            "bea": solution("no", None, "One came for the map."),
            "cyd": solution("yes", None, "Gold is gold."),
        },
    },
}  # fmt: skip
_ASKED_WHERE_IT_STANDS = ("adventure",)
"""Examples whose models are asked from the shipped record's pointer on, not from the start."""


class Scripted:
    """A transport that says what was written for a question."""

    def __init__(self, name: str, script: dict[str, dict[str, Any]]) -> None:
        self.name = name
        self.script = script

    async def complete(self, call: Prompt[Any]) -> TransportReply:
        data = json.loads(call.messages[-1].content)
        asked = data["question"] if call.turn == "solve" else data["context"]["question"]
        ending = " (again)" if call.turn == "reconcile" else ""
        key = next(
            key for key in self.script
            if key.endswith(" (again)") == bool(ending) and asked.startswith(key.removesuffix(ending))
        )  # fmt: skip
        return TransportReply(
            json.dumps(self.script[key][self.name], ensure_ascii=False), "live", 0.0
        )


async def run_here(code: str, folder: Path | None) -> ExecResult:
    """Runs code written above, in this process: it is our own."""
    names: dict[str, Any] = {}
    import os

    before = os.getcwd()
    os.chdir(folder or before)
    try:
        exec(code, names)
    finally:
        os.chdir(before)
    return ExecResult("ok", names["answer"], "", "", None, 0.0, "none")


def example_to_ask(name: str, folder: Path) -> Path:
    """A copy of an example that stands at the first question its models are asked."""
    if name in _ASKED_WHERE_IT_STANDS:
        return shutil.copytree(shipped("records") / name, folder / name) / "record.yaml"
    return fresh_example(name, folder)


async def record(example: str) -> None:
    folder = shipped("records") / example
    shelf = CassetteShelf(folder / "cassettes", LABEL)
    shutil.rmtree(shelf.folder, ignore_errors=True)
    clients = [
        ModelClient(
            voter,
            Recorder(
                voter, Scripted(voter.name, SCRIPTS[example]), shelf, Redaction(), clock=lambda: 0.0
            ),
            Redaction(),
        )
        for voter in VOTERS
    ]
    with (
        tempfile.TemporaryDirectory() as copy,
        Session(example_to_ask(example, Path(copy))) as session,
    ):
        flight = await run_autopilot(session, Panel(clients, run_here))
    print(example, flight.ended, [one.verdict.why for one in flight.decisions])


if __name__ == "__main__":
    for name in SCRIPTS:
        asyncio.run(record(name))

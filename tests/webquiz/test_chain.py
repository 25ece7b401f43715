"""Whole tasks: a real browser, the quiz server, scripted models behind a real endpoint."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from quizlog_tui.files.paths import decisions_path
from quizlog_tui.proof.verify import verify
from quizlog_tui.record.store import RecordFile
from quizlog_tui.solver.decision_text import read_decisions
from quizlog_tui.tui.player.known_steps import decisions_by_step
from quizlog_tui.webquiz.demo_server.grader import Options, all_pages
from quizlog_tui.webquiz.demo_server.web import quiz_server
from quizlog_tui.webquiz.task.task import TaskResult
from quizlog_tui.webquiz.task.workspace import LOG, RESULT, record_of
from tests.webquiz.conftest import (
    DORA,
    JON,
    QUICK,
    SECRET,
    Lab,
    lab,
    needs_browser,
    needs_sandbox,
    open_contexts,
)
from tests.webquiz.solver_of_pages import think

pytestmark = [pytest.mark.early, needs_browser(), needs_sandbox()]
MODELS = {"ada": think, "bea": think}
ALL = [page.id for page in all_pages().values()]
SOME = ["q01-start", "q15-canvas", "q19-rmse", "q21-flaky", "q22-skip", "q35-final"]
"""Pages with a file, a canvas, an answer that is refused, a server that is busy, a skip."""


def pages_of(running: Lab, email: str) -> dict[str, list]:
    rows = [row for row in running.server.grader.log() if row["email"] == email]
    return {page.id: [row for row in rows if row["page"] == page.id]
            for page in running.server.grader.pages}  # fmt: skip


def check_record(path: Path, result: TaskResult, pages: list[str]) -> None:
    """The record is what happened, and the screens find the decision behind each answer."""
    record = RecordFile(path).read()
    assert len(record.inputs) == len(result.pages)
    assert record.last_error is not None
    right = f"{len(pages) - 1} of {len(pages)} pages right"
    assert record.last_error.message == f"{right}; not q22-skip"
    assert f"page-{pages.index('q19-rmse') + 1}-try-1" in record.names
    kept = read_decisions(decisions_path(path))
    assert kept.faults == []
    assert set(decisions_by_step(kept.decisions, record)) == set(range(len(result.pages)))
    assert verify(path).verdict == "reproducible"


@pytest.mark.parametrize(
    "pages", [SOME, pytest.param(ALL, marks=pytest.mark.long)], ids=["some pages", "all pages"]
)
async def test_a_chain_for_two_people_at_once(pages: list[str], tmp_path: Path) -> None:
    with quiz_server(Options(deadline_seconds=QUICK.stop, chain=tuple(pages))) as server:
        async with lab(server, tmp_path, MODELS) as running:
            results = await asyncio.gather(running.work(JON), running.work(DORA))
            assert open_contexts(running.runner.browser) == 0
        for result in results:
            states = {page.url.split("/")[3].split("?")[0]: page.state for page in result.pages}
            log = (tmp_path / result.id / LOG).read_text()
            assert result.state == "finished", log
            expected = dict.fromkeys(pages, "correct")
            assert states == expected | {"q22-skip": "skipped"}, log
        for email in (JON, DORA):
            rows = pages_of(running, email)
            right = [name for name, sent in rows.items() if sent and sent[-1]["correct"]]
            assert len(right) == len(pages) - 1
            assert [row["answer"] for row in rows["q19-rmse"]] == [1.77, 1.89]
            assert len(rows["q22-skip"]) == 1
        ids = [row["id"] for row in server.grader.log()]
        assert len(ids) == len(set(ids))
        flaky = [hit for hit in server.hits if hit["method"] == "POST"]
        assert len(flaky) == len(ids) + 4
        assert not [hit for hit in server.hits if hit["path"] == "/steal"]
        assert SECRET.encode() not in running.artefacts()
        for result in results:
            assert result.refused == ()
            kept = json.loads((tmp_path / "results" / result.id / RESULT).read_text())
            assert kept["right"] == len(pages) - 1
            check_record(record_of(tmp_path, result.id), result, pages)
            own = (tmp_path / result.id / LOG).read_text()
            assert (DORA if result.email == JON else JON) not in own

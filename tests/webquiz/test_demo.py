"""The whole loop with the shipped replies: no key, no network, and nothing that was not recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.files.paths import decisions_path
from quizlog_tui.proof.verify import verify
from quizlog_tui.sandbox import run_code
from quizlog_tui.sandbox.result import ExecResult, SandboxLimits
from quizlog_tui.solver.decision_text import read_decisions
from quizlog_tui.webquiz.demo_server.grader import EMAIL
from quizlog_tui.webquiz.demo_server.web import FOLDER, demo_panel, quiz_server
from quizlog_tui.webquiz.task.settings import TaskSettings
from quizlog_tui.webquiz.task.task import TaskRequest
from quizlog_tui.webquiz.task.task_runner import TaskRunner
from quizlog_tui.webquiz.task.workspace import record_of
from tests.webquiz.conftest import QUICK, needs_browser, needs_sandbox

HONEST = "recorded replies: made by a script to show how a quiz on web pages is worked; no model was asked"


async def run_patiently(code: str, workspace: Path | None) -> ExecResult:
    """Run code for as long as a machine needs that is busy with other tests."""
    return await run_code(code, workspace, SandboxLimits(wall=100))


@needs_browser()
@needs_sandbox()
async def test_every_page_has_its_recorded_replies(tmp_path: Path) -> None:
    """The guide on quizzes on web pages shows the same, and is run.

    If it fails after a change of prompts or pages: `python -m tests.support.make_demo_replies`.
    """
    settings = TaskSettings(task_basedir=tmp_path, quiz_private_hosts=("127.0.0.1",))
    with quiz_server() as server:
        runner = TaskRunner(settings, demo_panel(server.url, run_patiently), budget=QUICK)
        try:
            result = await runner.work(TaskRequest(EMAIL, "hush-hush", server.first(EMAIL)))
        finally:
            await runner.close()
    path = record_of(tmp_path, result.id)
    kept = decisions_path(path)
    assert "no reply to this request was recorded" not in kept.read_text()
    assert (result.state, sum(page.state == "correct" for page in result.pages)) == ("finished", 23)
    decisions = read_decisions(kept).decisions
    assert {one.label for one in decisions} == {HONEST}
    assert any(one.reconciliation for one in decisions)
    assert {one.verdict.why for one in decisions} >= {"unanimous", "majority"}


@needs_browser()
@needs_sandbox()
def test_the_command_shows_the_loop_and_leaves_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TASK_BASEDIR", str(tmp_path))
    pages = ["--page", "q20-case", "--page", "q32-command"]
    assert main(["demo-server", "--solve", "--port", "0", "--json", *pages]) == 0
    out, err = capsys.readouterr()
    said = json.loads(out)
    assert (said["state"], said["right"]) == ("finished", 2)
    assert HONEST in err
    assert f"quizlog tui {said['record']}" in err
    assert verify(Path(said["record"])).verdict == "reproducible"


def test_the_replies_say_how_they_came_about() -> None:
    labels = {json.loads(path.read_bytes())["label"] for path in FOLDER.glob("*.json")}
    assert [f"recorded replies: {label}" for label in labels] == [HONEST]

"""What tests of web quizzes share: a browser or the reason why there is none, a server, models."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
import pytest_asyncio

from quizlog_tui.sandbox import run_code
from quizlog_tui.solver.models.choice import live_panel
from quizlog_tui.solver.models.models import Models
from quizlog_tui.solver.solve import Shares
from quizlog_tui.webquiz.demo_server.web import QuizServer
from quizlog_tui.webquiz.page.browser import Browser, executable
from quizlog_tui.webquiz.task import task_runner
from quizlog_tui.webquiz.task.settings import TaskSettings
from quizlog_tui.webquiz.task.task import TaskRequest, TaskResult
from quizlog_tui.webquiz.task.task_context import Budget
from quizlog_tui.webquiz.task.task_runner import TaskRunner
from tests.support.fake_models import BEHAVIOURS, Exchange, Fake, fake_models
from tests.webquiz import small_site

T = TypeVar("T", bound=Callable[..., Any])
JON, DORA = "jon@quiz.test", "dora@quiz.test"
SECRET = "hush-hush-4711"
QUICK = Budget(
    render=120.0,
    download=120.0,
    thinking=Shares(model=300.0, second=300.0),
    submissions=(900.0, 1200.0, 1500.0),
    stop=1800.0,
    least_gap=0.0,
)
"""No answer has to wait for its second, and a busy machine has all the time it needs."""


def needs_browser() -> pytest.MarkDecorator:
    missing = executable() is None
    return pytest.mark.skipif(
        missing, reason="no Chromium on this machine (apt install chromium-headless-shell)"
    )


def needs_sandbox() -> pytest.MarkDecorator:
    missing = shutil.which("bwrap") is None
    return pytest.mark.skipif(missing, reason="no bubblewrap on this machine")


def open_contexts(browser: Browser) -> int:
    """Number of contexts that a browser has open."""
    return len(browser._chromium.contexts) if browser._chromium else 0


class SharedBrowser(Browser):
    """Goes on when a test closes it."""

    async def close(self) -> None:
        """Leave it to the fixture."""

    async def end(self) -> None:
        """End it."""
        await super().close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_browser() -> AsyncIterator[Browser]:
    """The browser of all tests of a module, as starting one takes longer than most visits."""
    browser = SharedBrowser()
    with pytest.MonkeyPatch.context() as patch:
        for module in (task_runner, small_site):
            patch.setattr(module, "Browser", lambda *given: browser)
        yield browser
    await browser.end()


def shares_browser(test: T) -> T:
    """A test in the loop and with the browser of its module."""
    marks = (needs_browser(), pytest.mark.asyncio(loop_scope="module"))
    for mark in (*marks, pytest.mark.usefixtures("shared_browser")):
        test = mark(test)
    return test


Thought = Callable[[dict[str, Any], int], dict[str, Any]]
"""What a scripted model says to the data of a prompt, the nth time it is asked."""


def thinking(thought: Thought) -> Any:
    """A behaviour of the fake server that reads what it is asked."""

    async def behave(x: Exchange) -> None:
        data = json.loads(x.body["messages"][-1]["content"])
        await x.say(json.dumps(thought(data, x.nth)))

    return behave


@dataclass
class Lab:
    """All that a task of the tests needs, running."""

    server: Any
    """A `QuizServer`, or None where the pages are of another site."""
    fake: Fake
    runner: TaskRunner
    base: Path

    async def work(self, email: str = JON, url: str | None = None) -> TaskResult:
        request = TaskRequest(email, SECRET, url or self.server.first(email))
        return await self.runner.work(request)

    def artefacts(self) -> bytes:
        """All that was written or told to models."""
        files = [path.read_bytes() for path in sorted(self.base.rglob("*")) if path.is_file()]
        return b"\0".join([*files, bytes(self.fake.raw)])


@asynccontextmanager
async def lab(
    server: QuizServer | None,
    base: Path,
    thoughts: dict[str, Thought],
    budget: Budget = QUICK,
    browser: Any = None,
    **settings: Any,
) -> AsyncIterator[Lab]:
    """A lab whose browser is a real one, unless another is given."""
    async with fake_models() as fake:
        behaviours = {name: thinking(thought) for name, thought in thoughts.items()}
        before = dict(BEHAVIOURS)
        BEHAVIOURS.update(behaviours)
        voters = [
            {"name": name, "base_url": fake.url, "model": name, "primary": index == 0}
            for index, name in enumerate(thoughts)
        ]
        chosen = TaskSettings(
            task_basedir=base,
            debug_keep_workspaces=True,
            **{"quiz_private_hosts": ("127.0.0.1",)} | settings,
        )
        async with live_panel(Models(models=voters), run_code) as panel:  # type: ignore[arg-type]
            runner = TaskRunner(chosen, panel, budget=budget)
            runner.browser = browser or runner.browser
            try:
                yield Lab(server, fake, runner, base)
            finally:
                await runner.close()
                BEHAVIOURS.clear()
                BEHAVIOURS.update(before)

"""A task that is cut off at any of its acts, and taken up again."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.webquiz.demo_server.grader import Options
from quizlog_tui.webquiz.demo_server.web import quiz_server
from quizlog_tui.webquiz.task.task import TaskRequest, TaskResult
from quizlog_tui.webquiz.task.task_context import Budget
from quizlog_tui.webquiz.task.tasks import durable
from tests.webquiz.api_site import Answer, Seen, api_site
from tests.webquiz.conftest import SECRET, Lab, lab
from tests.webquiz.graded_site import ASKS, RIGHT, graded_site, says
from tests.webquiz.stand_in import StandIn


class Killed(BaseException):
    """The process ends here."""


@dataclass
class Journal:
    """What was kept of a task, and where its process ends."""

    kept: list[tuple[str, str]] = field(default_factory=list)
    cut: int = -1
    """The act at which the process ends."""
    done: bool = False
    """Whether it ends after the act was done, before it is kept."""
    at: int = 0
    late: float = 0.0
    """How far the clock has moved on."""

    async def step(self, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        at, self.at = self.at, self.at + 1
        if at == len(self.kept):
            if at == self.cut and not self.done:
                raise Killed
            value = await act()
            if at == self.cut:
                raise Killed
            self.kept.append((name, json.dumps(value)))
        assert self.kept[at][0] == name
        return json.loads(self.kept[at][1])

    def wall(self) -> float:
        return 1_000_000.0 + self.late + len(self.kept) / 100


def rmse_then_case(data: dict[str, Any], nth: int) -> dict[str, Any]:
    if "RMSE" not in data["question"]:
        return {"answer": "Brown"}
    return {"answer": 1.89 if "1.89" in str(data.get("refused", "")) else 1.77}


@asynccontextmanager
async def solving(base: Path, *chain: str) -> AsyncIterator[Lab]:
    with quiz_server(Options(chain=chain)) as server:
        budget = Budget(least_gap=0.0)  # tests turn the clock past its seconds
        async with lab(server, base, {"ada": rmse_then_case}, budget, StandIn()) as running:
            yield running


async def run(
    running: Lab, journal: Journal, email: str, waited: float = 0.0, url: str = ""
) -> TaskResult:
    journal.at = 0
    task = email.encode().hex()
    url, triggered = url or running.server.first(email), journal.wall() - waited
    request = TaskRequest(email, SECRET, url, task, triggered)
    keep = partial(durable, step=journal.step, wall=journal.wall)
    return await running.runner.work(request, make_durable=keep)


async def cut_off(
    running: Lab, cut: int, email: str, *, done: bool = True, url: str = ""
) -> Journal:
    """What is kept of a task whose process ended at an act; it may be taken up again."""
    journal = Journal(cut=cut, done=done)
    with pytest.raises(Killed):
        await run(running, journal, email, url=url)
    journal.cut = -1
    return journal


def answers(running: Lab, email: str) -> list[Any]:
    return [row.answer for row in running.server.grader.rows if row.email == email]


def once_each(sent: list[Any]) -> list[Any]:
    """Answers without those that repeat the one before."""
    return [answer for answer, _ in groupby(sent)]


async def test_cut_off_at_any_act_it_goes_on_and_repeats_only_what_may_be_lost(
    tmp_path: Path,
) -> None:
    async with solving(tmp_path, "q19-rmse", "q20-case") as running:
        whole = Journal()
        result = await run(running, whole, "whole@q.t")
        assert result.state == "finished"
        assert answers(running, "whole@q.t") == [1.77, 1.89, "Brown"]
        names = [name for name, _ in whole.kept]
        assert names.count("send") == names.count("announce") == 3
        for cut, name in enumerate(names):
            for done in (False, True) if name in ("announce", "send") else (True,):
                email = f"c{cut}{'d' if done else ''}@q.t"
                journal = await cut_off(running, cut, email, done=done)
                again = await run(running, journal, email)
                sent = answers(running, email)
                assert (again.state, once_each(sent)) == ("finished", [1.77, 1.89, "Brown"])
                assert [page.state for page in again.pages] == ["correct", "correct"]
                listed = [one for page in again.pages for one in page.submissions]
                assert [one.answer for one in listed] == [1.77, 1.89, "Brown"]
                repeated = [one for one in listed if one.tries == 2]
                assert len(repeated) == (name == "send")
                assert len(sent) == 3 + (name == "send" and done)  # nobody else knows it arrived
                log = (tmp_path / email.encode().hex() / "task.log").read_text()
                assert log.count("page 1:") == 1 or cut <= 1
                assert log.count("the identical answer is sent once more") == len(repeated)
        assert SECRET.encode() not in running.artefacts()


async def test_after_a_long_break_nobody_is_asked_and_nothing_is_sent_or_listed(
    tmp_path: Path,
) -> None:
    async with solving(tmp_path, "q19-rmse") as running:
        for cut in (1, 2, 3):
            for done in (False, True) if cut < 3 else (False,):
                email = f"late{cut}{done}@q.t"
                journal = await cut_off(running, cut, email, done=done)
                asked, rendered = len(running.fake.bodies), len(running.server.hits)
                journal.late = 300.0
                result = await run(running, journal, email)
                assert (result.state, answers(running, email)) == ("late", [])
                assert result.pages[0].submissions == ()
                assert [note.count("time was over") for note in result.pages[0].notes] == [1]
                assert (len(running.fake.bodies), len(running.server.hits)) == (asked, rendered)


async def test_what_may_have_arrived_is_not_repeated_when_the_time_is_over(tmp_path: Path) -> None:
    async with solving(tmp_path, "q20-case") as running:
        journal = await cut_off(running, 4, "over@q.t")
        journal.late = 300.0
        result = await run(running, journal, "over@q.t")
        assert (result.state, answers(running, "over@q.t")) == ("in_doubt", ["Brown"])
        assert [one.outcome for one in result.pages[0].submissions] == ["in_doubt"]


async def test_what_is_cut_off_twice_while_it_is_sent_stays_in_doubt(tmp_path: Path) -> None:
    async with solving(tmp_path, "q20-case") as running:
        journal = await cut_off(running, 4, "two@q.t")
        journal.cut = 6
        with pytest.raises(Killed):
            await run(running, journal, "two@q.t")
        journal.cut = -1
        result = await run(running, journal, "two@q.t")
        assert (result.state, answers(running, "two@q.t")) == ("in_doubt", ["Brown", "Brown"])


async def test_the_first_pages_time_runs_while_a_task_waits_for_its_turn(tmp_path: Path) -> None:
    async with solving(tmp_path, "q19-rmse") as running:
        result = await run(running, Journal(), "soon@q.t", waited=100.0)
        assert (result.state, answers(running, "soon@q.t")) == ("finished", [1.77, 1.89])
        assert [round(one.t) for one in result.pages[0].submissions] == [100, 100]
        asked = len(running.fake.bodies)
        result = await run(running, Journal(), "over@q.t", waited=173.0)
        assert (result.state, answers(running, "over@q.t")) == ("late", [])
        assert result.pages[0].notes == ("its time was over before it was looked at: 173 s",)
        assert len(running.fake.bodies) == asked
        ahead = await run(running, Journal(), "ahead@q.t", waited=-50.0)  # another host's clock
        assert (ahead.state, ahead.pages[0].submissions[0].t >= 0) == ("finished", True)


@pytest.mark.parametrize("again", [(409, {"error": "answered already"}), {"ok": True}])
async def test_where_the_same_answer_is_not_graded_again_the_doubt_stays(
    tmp_path: Path, again: Any
) -> None:
    with graded_site({"/q": ASKS}, lambda payload, nth: RIGHT if nth == 1 else again) as site:
        async with lab(None, tmp_path, {"ada": says(42)}, browser=StandIn()) as running:
            journal = await cut_off(running, 4, "once@q.t", url=f"{site.url}/q")
            result = await run(running, journal, "once@q.t", url=f"{site.url}/q")
    assert (result.state, site.answers()) == ("in_doubt", [42, 42])


async def test_what_models_asked_for_is_not_sent_again(tmp_path: Path) -> None:
    def thought(data: dict[str, Any], nth: int) -> dict[str, Any]:
        if "fetched" not in data:
            return {"fetch": [{"method": "POST", "url": "/orders", "body": {"n": 1}}]}
        return {"answer": json.loads(data["fetched"][0]["begins"])}

    def posts() -> list[Seen]:
        return [seen for seen in site.seen if seen.method == "POST"]

    asks = "POST n = 1 to /orders. POST its number to /submit"
    with api_site(asks, 1, lambda seen: Answer(len(posts()))) as site:
        async with lab(None, tmp_path, {"ada": thought}, browser=StandIn()) as running:
            journal = await cut_off(running, 2, "order@q.t", url=f"{site.url}/q")
            result = await run(running, journal, "order@q.t", url=f"{site.url}/q")
    assert (result.state, site.sent, len(posts())) == ("finished", [1], 1)


async def test_where_its_files_are_gone_they_are_fetched_again(tmp_path: Path) -> None:
    async with solving(tmp_path, "q12-top3") as running:
        email = "moved@q.t"
        journal = await cut_off(running, 2, email, done=False)
        file = tmp_path / email.encode().hex() / "files" / "01-q12-top3" / "q12.csv"
        whole = file.read_bytes()
        shutil.rmtree(file.parents[2])
        await run(running, journal, email)
        assert file.read_bytes() == whole
        assert [name for name, _ in journal.kept].count("look") == 1

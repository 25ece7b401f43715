"""What goes wrong at single pages, and what the solver does, with scripted models.

A real browser renders where the page matters; elsewhere a stand-in fetches it.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.webquiz.demo_server.grader import Options
from quizlog_tui.webquiz.demo_server.web import QuizServer, quiz_server
from quizlog_tui.webquiz.net import submit as submit_module
from quizlog_tui.webquiz.task.task import TaskResult
from quizlog_tui.webquiz.task.task_context import Budget
from tests.webquiz.conftest import SECRET, Thought, lab, shares_browser
from tests.webquiz.graded_site import ASKS, graded_site
from tests.webquiz.stand_in import StandIn


def says(*answers: Any) -> Thought:
    """A model that answers in turn; the last answer stays."""

    def thought(data: dict[str, Any], nth: int) -> dict[str, Any]:
        key = "final_answer" if "model_outputs" in data else "answer"
        return {key: answers[min(nth, len(answers)) - 1], "explanation": "so it is"}

    return thought


async def worked(
    server: QuizServer | None, base: Path, *thoughts: Thought, url: str | None = None, **more: Any
) -> TaskResult:
    """The result of the task of a server, or of a page, fetched by a stand-in unless told."""
    models = dict(zip(["ada", "bea", "cyd"], thoughts, strict=False))
    async with lab(server, base, models, **{"browser": StandIn()} | more) as running:
        result = await running.work(url=url)
        assert SECRET.encode() not in running.artefacts()
        return result


def only(*ids: str) -> AbstractContextManager[QuizServer]:
    return quiz_server(Options(chain=ids))


def sent(server: QuizServer) -> list[Any]:
    return [row.answer for row in server.grader.rows]


@shares_browser
async def test_wrong_then_right_and_the_second_counts(tmp_path: Path) -> None:
    with only("q20-case", "q35-final") as server:
        answers = says("brown fox", "Brown", {"run_id": "run2", "macro_f1": 0.7917})
        result = await worked(server, tmp_path, answers, browser=None)
        assert sent(server)[:2] == ["brown fox", "Brown"]
        assert [page.state for page in result.pages] == ["correct", "correct"]
        assert result.state == "finished"


async def test_a_right_answer_is_never_overwritten(tmp_path: Path) -> None:
    with only("q20-case") as server:
        result = await worked(server, tmp_path, says("Brown"), says("brown dog"), says("Fox"))
        assert sent(server)[-1] == "Brown"
        assert server.grader.score()["last"] == server.grader.score()["max"]
        assert result.state == "finished"


async def test_the_other_candidates_follow_in_order_and_none_twice(tmp_path: Path) -> None:
    with only("q07-api") as server:
        result = await worked(server, tmp_path, says(472.0), says("472"), says(11))
        answers = sent(server)
        assert answers[:2] == [472.0, 11] or answers[:2] == ["472", 11]
        assert len(answers) == len({str(float(one)) for one in answers})
        assert result.state == "wrong"
        assert result.pages[0].submissions[0].next is None


async def test_what_the_server_says_goes_back_to_the_models(tmp_path: Path) -> None:
    def reads(data: dict[str, Any], nth: int) -> dict[str, Any]:
        said = str(data.get("refused", ""))
        return {"answer": 1.89 if "1.89" in said else 1.77, "final_answer": 1.77}

    with only("q19-rmse") as server:
        result = await worked(server, tmp_path, reads, reads, reads)
        assert sent(server) == [1.77, 1.89]
        assert result.state == "finished"


async def test_failures_are_never_sent(tmp_path: Path) -> None:
    with only("q20-case") as server:
        failures = "Error: Max iterations reached", "Unable to solve", None
        result = await worked(server, tmp_path, *map(says, failures))
        assert sent(server) == []
        assert result.state == "no_answer"


async def test_a_late_page_is_left_alone(tmp_path: Path) -> None:
    with only("q01-start", "q12-top3", "q35-final") as server:

        def slow(data: dict[str, Any], nth: int) -> dict[str, Any]:
            if "customer_id" in data["question"]:
                server.grader.clock = lambda: time.time() + 181
            return {"answer": [{"customer_id": "L", "total": 120}]}

        result = await worked(server, tmp_path, slow)
        assert [page.state for page in result.pages] == ["correct", "late"]
        assert result.state == "late"
        assert len(server.grader.rows) == 2


async def test_a_busy_grader_is_asked_again_with_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[str] = []

    def wait(told: str, usual: float) -> float:
        waits.append(told)
        return 0.0

    monkeypatch.setattr(submit_module, "retry_delay", wait)
    with only("q21-flaky") as server:
        result = await worked(server, tmp_path, says(1048))
        posts = [hit for hit in server.hits if hit["method"] == "POST"]
        assert (len(posts), sent(server)) == (3, [1048])
        assert (result.pages[0].submissions[0].tries, waits) == (3, ["1"])
        assert result.state == "finished"


async def test_a_grader_that_stays_broken_is_no_wrong_answer(tmp_path: Path) -> None:
    budget, started = Budget(least_gap=0.0), time.time()

    def nearly_late(data: dict[str, Any], nth: int) -> dict[str, Any]:
        object.__setattr__(budget, "stop", time.time() - started + 1.0)
        return {"answer": 42}

    with graded_site({"/q": ASKS}, lambda payload, nth: (500, {"error": "Internal"})) as site:
        result = await worked(None, tmp_path, nearly_late, url=f"{site.url}/q", budget=budget)
    assert result.state == "no_reply"
    assert [one.outcome for one in result.pages[0].submissions] == ["no_reply"]
    assert set(site.answers()) == {42}


async def test_a_skip_is_taken_when_no_other_answer_is_left(tmp_path: Path) -> None:
    with only("q22-skip", "q20-case") as server:
        result = await worked(server, tmp_path, says("noise", "noise", "Brown"))
        assert [page.state for page in result.pages] == ["skipped", "correct"]


async def test_a_picture_that_is_too_big_is_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submit_module, "_MAX_PAYLOAD", 5_000)  # models' replies may be longer
    with only("q17-chart") as server:
        result = await worked(server, tmp_path, says("data:image/png;base64," + "A" * 4_950))
        assert sent(server) == []
        assert "1 MB" in result.pages[0].submissions[0].reason


@shares_browser
async def test_an_injection_reaches_nobody(tmp_path: Path) -> None:
    with only("q28-inject") as server:
        result = await worked(server, tmp_path, says(7), browser=None)
        assert result.state == "finished"
        assert not [hit for hit in server.hits if hit["path"] == "/steal"]
        assert "SYSTEM" not in result.pages[0].question


@shares_browser
async def test_linked_pages_are_followed_but_not_away_nor_in_circles(tmp_path: Path) -> None:
    def reads(data: dict[str, Any], nth: int) -> dict[str, Any]:
        words = [word for word in ("amber", "linden", "harbor") if word in data["context"]]
        return {"answer": " ".join(words)}

    with only("q25-links") as server:
        result = await worked(server, tmp_path, reads, browser=None)
        assert result.state == "finished"
        assert result.refused == ()
        # each part is asked for its type, then rendered
        assert all(
            len([h for h in server.hits if h["path"] == f"/q25/{n}"]) == 2 for n in (1, 2, 3)
        )
        assert any("HTTP 404" in note for note in result.pages[0].notes)


async def test_no_answer_is_sent_sooner_than_may_count(tmp_path: Path) -> None:
    with only("q20-case", "q35-final") as server:
        answers = says("Brown", {"run_id": "run2", "macro_f1": 0.7917})
        await worked(server, tmp_path, answers, budget=Budget())
        assert server.grader.rows[-1].delay >= 1  # type: ignore[operator]


@shares_browser
async def test_a_page_that_is_not_there_is_an_end(tmp_path: Path) -> None:
    with only("q20-case") as server:
        gone = f"{server.url}/nowhere"
        result = await worked(server, tmp_path, says("Brown"), url=gone, browser=None)
    assert (result.state, result.pages[0].notes) == ("unreachable", ("HTTP 404",))


@shares_browser
async def test_a_private_address_is_not_visited_unless_allowed(tmp_path: Path) -> None:
    with only("q20-case") as server:
        more: dict[str, Any] = {"browser": None, "quiz_private_hosts": ()}
        result = await worked(server, tmp_path, says("Brown"), **more)
        assert result.state == "unreachable"
        assert "private address" in result.refused[0]
        assert server.hits == []


async def test_a_next_page_on_another_site_is_refused(tmp_path: Path) -> None:
    with only("q20-case", "q35-final") as server:
        own = server.url
        server.url = "http://127.0.0.1:9"  # what the grader says the next page's origin is
        result = await worked(server, tmp_path, says("Brown"), url=f"{own}/q20-case")
        assert result.state == "refused"
        assert result.pages[0].state == "correct"

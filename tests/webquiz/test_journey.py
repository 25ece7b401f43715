"""From page to page as a grader's replies lead, without a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.webquiz.task.orchestrate import following
from quizlog_tui.webquiz.task.task import (
    PageResult,
    Submission,
    TaskResult,
    with_history,
    without_history,
)
from tests.webquiz.conftest import SECRET, Thought, lab
from tests.webquiz.graded_site import ASKS, RIGHT, Graded, graded_site, says
from tests.webquiz.stand_in import StandIn


async def led(
    base: Path, site: Graded, start: str, thought: Thought, **settings: Any
) -> TaskResult:
    async with lab(None, base, {"ada": thought}, browser=StandIn(), **settings) as running:
        result = await running.work(url=f"{site.url}{start}")
        assert SECRET.encode() not in running.artefacts()
        return result


def states(result: TaskResult) -> list[str]:
    return [page.state for page in result.pages]


async def test_pages_that_differ_in_their_query_only_are_no_loop(tmp_path: Path) -> None:
    def grade(payload: dict[str, Any], nth: int) -> Any:
        step = int(payload["url"].partition("step=")[2][0])
        after = f"{site.url}/q?step={step + 1}&email=a%40b.c&id={step}"
        return {"correct": True, "url": after if step < 3 else None}

    with graded_site({"/q": ASKS}, grade) as site:
        result = await led(tmp_path, site, "/q?step=1", says(42))
    assert (result.state, states(result)) == ("finished", ["correct"] * 3)


async def test_the_same_page_under_another_id_is_a_loop(tmp_path: Path) -> None:
    def grade(payload: dict[str, Any], nth: int) -> Any:
        return {"correct": True, "url": f"{site.url}/q?step=1&email=a%40b.c&id={len(site.sent)}"}

    with graded_site({"/q": ASKS}, grade) as site:
        result = await led(tmp_path, site, "/q?step=1", says(42))
    assert (result.state, states(result)) == ("loop", ["correct"])


async def test_a_next_page_once_told_is_not_lost_by_a_later_reply(tmp_path: Path) -> None:
    def grade(payload: dict[str, Any], nth: int) -> Any:
        if payload["url"].endswith("/q2"):
            return RIGHT
        told = {"correct": False, "reason": "no", "url": f"{site.url}/q2"}
        return told if nth == 1 else (400, {"error": "Missing field answer"})

    with graded_site({"/q1": ASKS, "/q2": ASKS}, grade) as site:
        result = await led(tmp_path, site, "/q1", says(41, 43, 42))
    assert (result.state, states(result)) == ("finished", ["skipped", "correct"])


async def test_a_relative_next_page_is_one_of_the_same_site(tmp_path: Path) -> None:
    def grade(payload: dict[str, Any], nth: int) -> Any:
        return RIGHT if payload["url"].endswith("/b/q2") else {"correct": True, "url": "q2"}

    with graded_site({"/b/q1": ASKS, "/b/q2": ASKS}, grade) as site:
        result = await led(tmp_path, site, "/b/q1", says(42))
    assert [page.url for page in result.pages] == [f"{site.url}/b/q1", f"{site.url}/b/q2"]
    assert result.state == "finished"


@given(st.text())
def test_whatever_a_reply_gives_is_followed_or_refused(given: str) -> None:
    after = following("https://quiz.site/a/q1", given)
    assert bool(after) is bool(given)


async def test_a_page_that_wants_the_secret_elsewhere_gets_none_and_is_told_of(
    tmp_path: Path,
) -> None:
    with graded_site({}, lambda payload, nth: RIGHT) as other:
        asks = ASKS.replace("{site}", other.url)
        with graded_site({"/q": asks}, lambda payload, nth: RIGHT) as site:
            listed = {"quiz_allowed_origins": (other.url,)}
            result = await led(tmp_path, site, "/q", says(42), **listed)
    assert (result.state, other.sent, site.answers()) == ("no_answer", [], [])
    assert result.refused == (f"{other.url}/submit: no answer is sent to another site",)
    assert result.pages[0].notes[-1] == "names no address of its site for answers: none was sent"


async def test_a_page_may_build_on_the_answers_to_those_before_it(tmp_path: Path) -> None:
    pages = {
        "/a": "What is 40 + 2? POST the answer to {site}/submit",
        "/b": "Add 11 to your answer to the previous page.",
        "/c": "Which answers were right so far?",
    }
    right = {"/a": 42, "/b": 53, "/c": [42]}
    after = {"/a": "/b", "/b": "/c", "/c": None}

    def grade(payload: dict[str, Any], nth: int) -> Any:
        page = payload["url"].removeprefix(site.url)
        correct = payload["answer"] == right[page] and page != "/b"
        return {"correct": correct, "reason": "" if correct else "no", "url": after[page]}

    def think(data: dict[str, Any], nth: int) -> dict[str, Any]:
        told = re.findall(r"Answer: (\d+) \((right|not accepted)\)", data["context"])
        if "Add 11" in data["question"]:
            return {"answer": int(told[-1][0]) + 11}
        if "right so far" in data["question"]:
            return {"answer": [int(answer) for answer, how in told if how == "right"]}
        return {"answer": 42}

    with graded_site(pages, grade) as site:
        result = await led(tmp_path, site, "/a", think)
    assert (result.state, site.answers()) == ("finished", [42, 53, [42]])
    assert states(result) == ["correct", "skipped", "correct"]


def test_the_history_is_short_however_long_a_task_is() -> None:
    sent = Submission(1.0, "y" * 5000, "graded", 200, True, "", None, None, 1)
    page = PageResult("https://quiz.site/q", "correct", "x" * 5000, submissions=(sent,))
    told = with_history("context", [page] * 90)
    assert len(told) < 10_000
    assert "Page 90, /q: xxx" in told
    assert "Page 82" not in told
    assert without_history(told) == with_history("context", []) == "context"

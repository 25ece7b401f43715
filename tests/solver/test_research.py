"""A model may ask for requests before it answers, where who asks it can send them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quizlog_tui.solver.contract import MAX_FETCHES, BadReplyError, Research, Solution, parse_reply
from quizlog_tui.solver.decisions.decision import Fetched, ModelQuestion
from quizlog_tui.solver.decisions.decision_text import from_data, to_data
from quizlog_tui.solver.models.transport import Prompt
from quizlog_tui.solver.prompts import Offer, solve_prompt
from quizlog_tui.solver.solve import ROUNDS, FetchTool, solve
from tests.solver.panels import calls, panel, saying

QUESTION = ModelQuestion("How many orders are there?")
WISH = {"url": "/orders"}


def read(reply: dict[str, Any]) -> Research:
    found = parse_reply(json.dumps(reply), Research, lambda value: value)
    assert isinstance(found, Research)
    return found


async def asking(prompt: Prompt) -> str:
    """Asks for orders, for as long as that is offered."""
    data = json.loads(prompt.messages[-1].content)
    return json.dumps({"fetch": [WISH]} if "sites" in data else {"answer": len(data["fetched"])})


def tool(begins: str = "") -> FetchTool:
    async def fetch(model: str, wish: Any) -> tuple[Fetched, ...]:
        found = Fetched(wish.method, wish.url, status=200, file="orders.json", begins=begins)
        return (found,)

    return FetchTool(("https://quiz.site",), fetch)


async def test_a_model_is_asked_again_with_what_came_of_its_requests() -> None:
    asked = panel(ada=asking)
    decision = await solve(QUESTION, asked, tool=tool("[1, 2]"))
    assert decision.verdict.answer == ROUNDS
    data = [json.loads(prompt.messages[-1].content) for prompt in calls(asked, "ada")]
    assert [len(one.get("fetched", ())) for one in data] == list(range(ROUNDS + 1))
    assert [one.get("sites") for one in data] == [["https://quiz.site"]] * ROUNDS + [None]
    assert data[1]["fetched"] == [
        {"method": "GET", "url": "/orders", "status": 200, "size": 0, "file": "orders.json",
         "begins": "[1, 2]"}
    ]  # fmt: skip
    assert len(decision.models[0].fetched) == ROUNDS
    assert from_data(json.loads(json.dumps(to_data(decision))), "here") == decision


async def test_without_a_tool_nothing_is_offered_and_the_request_is_as_it_was() -> None:
    asked = panel(ada=saying({"fetch": [WISH]}))
    decision = await solve(QUESTION, asked)
    assert decision.models[0].status == "invalid"
    system = calls(asked, "ada")[0].messages[0].content
    assert "fetch" not in system
    assert solve_prompt(QUESTION, (), ()).contract is Solution
    assert "fetched" not in to_data(decision)["models"][0]


def test_the_replies_shown_fit_into_a_prompt() -> None:
    found = tuple(Fetched("GET", f"/{n}", begins="x" * 2000) for n in range(60))
    prompt = solve_prompt(QUESTION, (), (), Offer(("https://quiz.site",), 1, found))
    assert len(prompt.messages[-1].content) < 30_000


def test_a_wish_is_read_as_models_write_it() -> None:
    said = {"fetch": [{"method": "post", "url": "/x", "headers": {"n": 7}, "body": [1]}]}
    (wish,) = read(said).fetch
    assert (wish.method, wish.headers, wish.body) == ("POST", {"n": "7"}, [1])
    (wish,) = read({"fetch": [{"url": "/x", "headers": None, "body": None}], "code": None}).fetch
    assert (wish.method, wish.headers, wish.body) == ("GET", {}, None)
    assert read({"fetch": None, "answer": 4}).fetch == ()


@pytest.mark.parametrize(
    "reply",
    [
        {"fetch": []},
        {"fetch": None},
        {"fetch": [{}]},
        {"fetch": [{"url": ""}]},
        {"fetch": [{"url": "/" * 3000}]},
        {"fetch": [{"url": "/x", "method": "CONNECT"}]},
        {"fetch": [{"url": "/x", "headers": {"a": ["b"]}}]},
        {"fetch": [{"url": "/x", "headers": {str(n): "" for n in range(30)}}]},
        {"fetch": [{"url": "/x", "body": "\ud800"}]},
        {"fetch": [{"url": "/x"}] * (MAX_FETCHES + 1)},
        {"fetch": "/x"},
    ],
)
def test_wishes_that_cannot_be_meant_are_asked_for_again(reply: dict[str, Any]) -> None:
    with pytest.raises(BadReplyError):
        read(reply)

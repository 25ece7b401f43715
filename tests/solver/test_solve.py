"""One question, several voters: all at once, each told of, reconciled once, cancelled cleanly.

A model may ask for requests before it answers, where who asks it can send them.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.sandbox.result import ExecResult
from quizlog_tui.solver.contract import MAX_FETCHES, BadReplyError, Research, Solution, parse_reply
from quizlog_tui.solver.decision import Fetched, ModelQuestion, Refusal
from quizlog_tui.solver.decision_text import from_data, from_line, to_data, to_line
from quizlog_tui.solver.models.transport import ModelClient, Prompt, TransportReply, Voter
from quizlog_tui.solver.prompts import Offer, solve_prompt
from quizlog_tui.solver.redaction import Redaction
from quizlog_tui.solver.solve import ROUNDS, UNSHARED, FetchTool, Progress, Shares, solve
from quizlog_tui.solver.voting.decide import decide
from tests.solver.panels import calls, failing, never, panel, run_here, saying

QUESTION = ModelQuestion("What is 6 * 7? ", input_type="integer")
CODE = {"code": "answer = 6 * 7"}


async def test_a_run_a_claim_and_a_failure() -> None:
    asked = panel(a=saying(CODE), b=saying({"answer": "42"}), c=failing("timeout", "slow"))
    decision = await solve(QUESTION, asked)
    assert (decision.verdict.answer, decision.verdict.why) == (42, "majority")
    assert [model.name for model in decision.models] == ["a", "b", "c"]
    assert decision.models[0].executed
    assert decision.models[0].executed.answer == 42
    assert decision.models[2].error == "slow"
    assert decision.reconciliation == ()


async def test_a_decision_is_written_read_and_decided_alike() -> None:
    asked = panel(
        a=saying({"code": "answer = 1"}, {"final_answer": 42, "confidence": 0.7}),
        b=saying({"answer": 42}, {"final_answer": 42, "corrected_code": "answer = 6 * 7"}),
    )
    decision = await solve(QUESTION, asked)
    assert decision.verdict.why == "unanimous"
    assert from_line(to_line(decision), "x") == decision
    assert decide(decision) == decision


async def test_all_are_asked_at_once() -> None:
    waiting = 0
    all_there = asyncio.Event()

    async def script(prompt: Any) -> str:
        nonlocal waiting
        waiting += 1
        if waiting == 5:
            all_there.set()
        await all_there.wait()
        return '{"answer": 42}'

    decision = await solve(QUESTION, panel(**dict.fromkeys("abcde", script)))
    assert decision.verdict.classes[0].members == ("a", "b", "c", "d", "e")


async def test_progress_tells_each_step_with_the_vote_as_it_stands() -> None:
    heard: list[Progress] = []
    asked = panel(
        a=saying({"code": "answer = 41"}, {"final_answer": 42, "confidence": 1}),
        b=saying({"answer": 42}, {"final_answer": 42, "confidence": 1}),
    )
    decision = await solve(QUESTION, asked, tell=heard.append)
    steps = [(one.what, one.name) for one in heard]
    assert steps[:2] == [("asked", "a"), ("asked", "b")]
    assert set(steps[2:5]) == {("replied", "a"), ("ran", "a"), ("replied", "b")}
    assert steps[5] == ("reconciling", None)
    assert set(steps[6:8]) == {("reconsidered", "a"), ("reconsidered", "b")}
    assert steps[8:] == [("decided", None)]
    assert heard[-1].decision == decision
    weights = [sum(c.weight for c in one.decision.verdict.classes) for one in heard[:6]]
    assert weights == sorted(weights)


async def test_the_second_round_is_anonymous_and_shows_results_and_refusals() -> None:
    asked = panel(
        alice=saying({"code": "answer = 41"}, {"final_answer": 42}),
        bob=saying({"code": "1 / 0", "answer": 7}, {"final_answer": 42}),
    )
    await solve(QUESTION, asked, refused=[Refusal("40", "too small")])
    first, second = calls(asked, "alice")
    assert [one.messages for one in calls(asked, "bob")] == [first.messages, second.messages]
    assert "too small" in first.messages[1].content
    shown = json.loads(second.messages[1].content)
    assert [one["model"] for one in shown["model_outputs"]] == ["A", "B"]
    assert shown["model_outputs"][0]["exec_result"]["answer"] == 41
    assert (
        shown["model_outputs"][1]["exec_result"]["error"] == "ZeroDivisionError: division by zero"
    )
    assert shown["model_outputs"][1]["claimed_answer"] == 7
    assert shown["candidates"] == [{"answer": 41, "models": ["A"], "weight": 1.0}]
    assert shown["refused"] == [{"answer": "40", "reason": "too small"}]
    assert "alice" not in second.messages[1].content
    assert "bob" not in second.messages[1].content


async def test_who_did_not_answer_is_not_asked_again() -> None:
    asked = panel(
        a=saying({"answer": 1}, {"final_answer": 1}),
        b=saying({"answer": 2}, {"final_answer": 2}),
        c=failing("timeout"),
        d=failing("error"),
    )
    decision = await solve(QUESTION, asked)
    assert [one.name for one in decision.reconciliation] == ["a", "b"]
    assert decision.verdict.why == "primary"


async def test_a_person_is_not_asked_again_and_keys_are_not_kept() -> None:
    class Person:
        async def complete(self, prompt: Any) -> TransportReply:
            return TransportReply('{"answer": 7}', "human")

    key = "sk-0123456789"
    one = panel(
        a=saying({"answer": 1}, {"final_answer": 7}),
        b=saying({"code": f"raise Exception('{key}')"}),
    )
    me = ModelClient(Voter("me"), Person(), Redaction())
    asked = replace(one, clients=(*one.clients, me), redaction=Redaction([key]))
    decision = await solve(ModelQuestion(f"Is it {key}? "), asked)
    assert "me" not in [again.name for again in decision.reconciliation]
    assert decision.verdict.answer == 7
    assert decision.models[1].executed
    assert decision.models[1].executed.error == "Exception: [key]"
    assert decision.question.text == "Is it [key]? "


async def test_a_second_round_that_fails_leaves_the_first() -> None:
    async def script(prompt: Any) -> str:
        return '{"answer": 1}' if prompt.turn == "solve" else "what?"

    asked = panel(a=script, b=saying({"answer": 2}, {"final_answer": 2}))
    decision = await solve(QUESTION, asked)
    assert [one.status for one in decision.reconciliation] == ["invalid", "ok"]
    assert (decision.verdict.answer, decision.verdict.why) == (1, "primary")


async def test_nobody_answers() -> None:
    decision = await solve(QUESTION, panel(a=failing("error"), b=failing("rate_limited")))
    assert (decision.verdict.answer, decision.verdict.why) == (None, None)
    assert decision.verdict.candidates == ()


@pytest.mark.parametrize(
    "answer",
    [float("nan"), float("inf"), 10**5000, {1: 2}, b"x", object(), [[float("nan")]], "\ud83d"],
    ids=["nan", "inf", "huge", "keys", "bytes", "object", "inside", "half"],
)
async def test_a_run_with_an_impossible_answer_is_an_abstention(answer: Any) -> None:
    async def run(code: str, folder: Path | None) -> ExecResult:
        return ExecResult("ok", answer, "x" * 100_000, "", None, 0.0, "none")

    decision = await solve(QUESTION, panel(run, a=saying(CODE), b=saying({"answer": 42})))
    assert decision.models[0].executed
    assert decision.models[0].executed.status == "bad_result"
    assert len(decision.models[0].executed.stdout) == 4_000
    assert decision.verdict.answer == 42
    to_line(decision)


async def test_code_finds_the_files_and_the_prompt_names_them(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("1,2,3")
    asked = panel(a=saying({"code": "answer = (FOLDER / 'data.csv').read_text()"}))
    decision = await solve(QUESTION, asked, folder=tmp_path)
    assert decision.verdict.answer == "1,2,3"
    assert json.loads(calls(asked, "a")[0].messages[1].content)["files"] == ["data.csv"]


async def test_cancelling_ends_all_of_it() -> None:
    ended = []

    async def script(prompt: Any) -> str:
        try:
            return await never(prompt)
        finally:
            ended.append(prompt)

    asked = panel(a=script, b=script, c=saying({"answer": 1}))
    heard = asyncio.Event()
    work = asyncio.create_task(
        solve(QUESTION, asked, tell=lambda one: heard.set() if one.what == "replied" else None)
    )
    async with asyncio.timeout(60):
        await heard.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert len(ended) == 2
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_listener_that_fails_ends_all_of_it() -> None:
    def tell(progress: Progress) -> None:
        if progress.what == "replied":
            raise RuntimeError("the listener's own fault")

    with pytest.raises(RuntimeError, match="own fault"):
        await solve(QUESTION, panel(a=never, b=saying({"answer": 1})), tell=tell)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_with_a_budget_votes_that_change_nothing_are_not_waited_for() -> None:
    asked = panel(a=saying({"answer": 1}), b=saying(CODE), c=saying(CODE), d=never, e=saying(CODE))
    decision = await solve(QUESTION, asked, budget=1000)
    assert (decision.verdict.answer, decision.verdict.why) == (42, "majority")
    assert decision.models[3].status == "timeout"
    assert decision.models[3].error == "not waited for: the vote was settled"


async def test_a_budget_ends_the_waiting() -> None:
    asked = panel(a=saying({"answer": 1}), b=never, weights={"b": 5})
    decision = await solve(QUESTION, asked, budget=0.05)
    assert [model.status for model in decision.models] == ["ok", "timeout"]
    assert decision.verdict.why == "only_candidate"


async def test_code_that_hangs_leaves_those_who_differ_time_to_agree() -> None:
    async def run(code: str, folder: Path | None) -> ExecResult:
        if "hang" in code:
            await asyncio.Event().wait()
        return await run_here(code, folder)

    asked = panel(
        run,
        a=saying({"code": "'hang'"}),
        b=saying({"answer": 1}, {"final_answer": 2}),
        c=saying({"answer": 2}, {"final_answer": 2}),
    )
    decision = await solve(QUESTION, asked, budget=1.5)
    assert [model.status for model in decision.models] == ["timeout", "ok", "ok"]
    assert decision.models[0].error == "not waited for: others differ, and need time to agree"
    assert [one.name for one in decision.reconciliation] == ["b", "c"]
    assert (decision.verdict.answer, decision.verdict.why) == (2, "majority")


async def test_who_is_alone_waits_for_the_others_to_the_end() -> None:
    decision = await solve(QUESTION, panel(a=never, b=saying({"answer": 1})), budget=0.3)
    assert decision.models[0].status == "timeout"
    assert decision.models[0].seconds >= 0.25
    assert decision.reconciliation == ()


async def test_without_a_budget_everybody_is_waited_for() -> None:
    answered = asyncio.Event()

    async def late(prompt: Any) -> str:
        await answered.wait()
        return '{"answer": 2}'

    asked = panel(a=saying({"answer": 1}), b=saying({"answer": 2}), c=late)
    heard = lambda one: answered.set() if len(one.decision.models) == 2 else None  # noqa: E731
    decision = await solve(QUESTION, asked, tell=heard)
    assert [model.status for model in decision.models] == ["ok", "ok", "ok"]
    assert decision.verdict.why == "majority"


async def test_a_model_and_the_second_round_have_their_shares() -> None:
    async def script(prompt: Any) -> str:
        return '{"answer": 2}' if prompt.turn == "solve" else await never(prompt)

    asked = panel(a=script, b=saying({"answer": 1}, {"final_answer": 2}), c=never)
    shares = Shares(model=0.3, second=0.2)
    decision = await solve(QUESTION, asked, budget=1000, shares=shares)
    assert decision.models[2].error == "no reply within 0.3 s"
    assert [one.status for one in decision.reconciliation] == ["timeout", "ok"]


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_both_rounds_have_time(budget: float, second: float) -> None:
    first = Shares(second=second).first(budget)
    assert 0 <= budget - first <= second + 1e-6
    assert first >= budget * 0.6
    assert Shares(second=second).first(math.inf) == UNSHARED.first(math.inf) == math.inf


async def test_who_gave_no_usable_answer_twice_is_not_asked_a_third_time() -> None:
    async def babble(prompt: Any) -> str:
        return "I think so."

    asked = panel(
        a=saying({"answer": 1}, {"final_answer": 1}),
        b=saying({"answer": 2}, {"final_answer": 2}),
        c=babble,
    )
    decision = await solve(QUESTION, asked)
    assert [one.name for one in decision.reconciliation] == ["a", "b"]
    assert len(calls(asked, "c")) == 2


async def test_a_budget_also_bounds_the_second_round() -> None:
    async def script(prompt: Any) -> str:
        return '{"answer": 2}' if prompt.turn == "solve" else await never(prompt)

    asked = panel(a=script, b=saying({"answer": 1}, {"final_answer": 2}))
    decision = await solve(QUESTION, asked, budget=0.3)
    assert [one.status for one in decision.reconciliation] == ["timeout", "ok"]
    assert decision.verdict.answer == 2


async def test_models_take_turns_whatever_question_they_are_asked() -> None:
    turns, waiting, most = asyncio.Semaphore(2), 0, 0

    async def script(prompt: Any) -> str:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        await asyncio.sleep(0)
        waiting -= 1
        return '{"answer": 42}'

    asked = replace(panel(a=script, b=script, c=script), turns=turns)
    decisions = await asyncio.gather(*(solve(QUESTION, asked) for _ in range(4)))
    assert most == 2
    assert [len(one.verdict.contributors) for one in decisions] == [3] * 4


async def test_waiting_for_a_turn_takes_of_the_budget() -> None:
    started = time.monotonic()
    asked = replace(panel(a=never, b=never), turns=asyncio.Semaphore(1))
    decisions = await asyncio.gather(*(solve(QUESTION, asked, budget=0.3) for _ in range(20)))
    assert time.monotonic() - started < 3
    assert {model.status for one in decisions for model in one.models} == {"timeout"}


async def test_free_texts_are_not_reconciled() -> None:
    essay = ModelQuestion("Say in a sentence: ", input_type="textarea")
    decision = await solve(essay, panel(a=saying({"answer": "One."}), b=saying({"answer": "Two."})))
    assert (decision.verdict.answer, decision.verdict.why) == ("One.", "primary")
    assert decision.reconciliation == ()


ROWS = ModelQuestion("How many orders are there?")
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
    decision = await solve(ROWS, asked, tool=tool("[1, 2]"))
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
    decision = await solve(ROWS, asked)
    assert decision.models[0].status == "invalid"
    system = calls(asked, "ada")[0].messages[0].content
    assert "fetch" not in system
    assert solve_prompt(ROWS, (), ()).contract is Solution
    assert "fetched" not in to_data(decision)["models"][0]


def test_the_replies_shown_fit_into_a_prompt() -> None:
    found = tuple(Fetched("GET", f"/{n}", begins="x" * 2000) for n in range(60))
    prompt = solve_prompt(ROWS, (), (), Offer(("https://quiz.site",), 1, found))
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

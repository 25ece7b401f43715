"""The script that a task becomes: run as it is, it shows and raises what was told."""

from __future__ import annotations

import json
import traceback
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.webquiz.task.task import TaskResult
from quizlog_tui.webquiz.task.task_record import TaskScript, describe_task, typed
from tests.support.task_results import RIGHT, SKIPPED, page, sent, task


def run(script: TaskScript, *answers: str) -> tuple[list[str], str | None, int | None]:
    """What a plain run prints, and what it raises where; `asks` if it wants one answer more."""
    shown: list[str] = []
    given_answers = iter(answers)
    names = {"print": shown.append, "input": lambda prompt: next(given_answers)}
    try:
        exec(compile(script.text, "quiz.py", "exec"), names)
    except StopIteration:
        return shown, "asks", None
    except Exception as error:
        return shown, str(error), traceback.extract_tb(error.__traceback__)[-1].lineno
    return shown, None, None


def test_a_quiz_that_was_all_right_ends_without_an_exception() -> None:
    script = describe_task(task("finished", RIGHT, RIGHT))
    assert script.answers == ("4", "4")
    assert (script.ended, script.message) == (True, None)
    assert run(script, "4", "4") == (list(script.print), None, None)
    assert script.print[-1] == "The quiz is over: all 2 pages right."


def test_the_open_page_waits_for_its_answer() -> None:
    script = describe_task(task("running", RIGHT, page("open", sent(1, "too few"), sent(2))))
    assert (script.answers, script.ended) == (("4",), False)
    assert run(script, "4") == (list(script.print), "asks", None)
    assert [(one.at, one.answer) for one in script.tries] == [(1, "1")]


def test_a_refused_answer_raises_with_what_the_server_said_and_the_share_so_far() -> None:
    script = describe_task(task("finished", RIGHT, replace(SKIPPED, state="correct")))
    shown, message, line = run(script, "4", "1")
    assert message == "refused: no"
    assert script.text.splitlines()[line - 1].endswith("#score = 0.5")  # type: ignore[operator]
    assert script.tries[0].score == 0.5
    assert shown == list(script.print)[: len(shown)]


def test_an_answer_that_was_never_sent_has_no_reply() -> None:
    script = describe_task(task("finished", RIGHT))
    assert run(script, "5")[1] == (
        "this answer was never sent: what the server would say is not known"
    )


@pytest.mark.parametrize(
    ("ended", "answers", "message", "score"),
    [
        (task("finished", RIGHT, SKIPPED, RIGHT), ("4", "2", "4"),
         "2 of 3 pages right; not q", 0.6667),
        (task("wrong", RIGHT, page("wrong", sent(1, "no"))), ("4", "1"), "refused: no", 0.5),
        (task("wrong", page("wrong", sent(1))), ("1",), "refused", 0),
        (task("no_answer", RIGHT, page("no_answer")), ("4",),
         "no answer was found that could be sent", 0.5),
        (task("unreachable", page("unreachable", question="", notes=("HTTP 404",))), (),
         "the page could not be had: HTTP 404", 0),
        (task("cancelled", RIGHT, page("open")), ("4",), "the task was cancelled", 0.5),
        (task("cancelled", page("open", sent(1, "no"))), ("1",), "the task was cancelled", 0),
        (task("refused", RIGHT, error="not visited: http://elsewhere"), ("4",),
         "refused: not visited: http://elsewhere", 0.5),
        (task("failed", error="a defect"), (), "failed: a defect", 0),
    ],
)  # fmt: skip
def test_every_other_end_is_told(
    ended: TaskResult, answers: tuple[str, ...], message: str, score: float
) -> None:
    script = describe_task(ended)
    assert (script.answers, script.message, script.score) == (answers, message, score)
    assert run(script, *answers) == (list(script.print), message, script.line)


def test_the_script_only_grows_while_a_task_runs() -> None:
    asked = describe_task(task("running", RIGHT, page("open")))
    later = describe_task(task("running", RIGHT, RIGHT, page("open")))
    assert later.print[: len(asked.print)] == asked.print
    assert later.answers[: len(asked.answers)] == asked.answers


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(values, values)
def test_no_two_answers_are_typed_alike(one: Any, other: Any) -> None:
    if json.dumps(one) != json.dumps(other):
        assert typed(one) != typed(other)


def test_plain_texts_are_typed_as_they_are() -> None:
    assert [typed("Brown"), typed("007"), typed("4"), typed(4)] == ["Brown", "007", '"4"', "4"]


@given(st.text(), st.text(), values, st.text(max_size=20))
def test_whatever_pages_and_servers_say_it_stays_data(
    question: str, reason: str, answer: Any, kind: str
) -> None:
    asked = page("skipped", sent(answer, reason), question=question, kind=kind)
    script = describe_task(task("finished", asked))
    assert run(script, *script.answers) == (list(script.print), script.message, script.line)

"""A record and the models: what is asked, what is kept, which branch an answer lands on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.errors import UsageError
from quizlog_tui.files.paths import decisions_path, shipped
from quizlog_tui.record.who import on_branch
from quizlog_tui.session.session import Session
from quizlog_tui.solver.autopilot import (
    accept,
    agreed,
    ask,
    question_files,
    question_of,
    refusals,
    run_autopilot,
)
from quizlog_tui.solver.decision import ModelQuestion
from quizlog_tui.solver.decision_text import answer_text, read_decisions
from quizlog_tui.solver.models.choice import recorded_panel
from quizlog_tui.solver.voting.decide import decide
from tests.solver.panels import calls, failing, panel, saying
from tests.solver.votes import asked, failed, ran, said, silent
from tests.support.build import Build
from tests.support.make_cassettes import SCRIPTS, VOTERS, example_to_ask, run_here

QUIZ = """
    print("Two sums.")
    if int(input("2 + 2 = ")) != 4:
        raise Exception("count again")  #score = 0.2
    print("Right.")
    if int(input("3 + 3 = ")) != 6:
        raise Exception("no")  #score = 0.6
"""
TWO = {
    "a": saying({"answer": 4}, {"final_answer": 4}),
    "b": saying({"answer": "4"}, {"final_answer": 4}),
}


def test_what_is_asked(build: Build) -> None:
    with Session(build.record(QUIZ, "4")) as session:
        question = question_of(session)
    assert (question.text, question.pointer, question.branch) == ("3 + 3 = ", 1, "main")
    assert question.context == "Two sums.\n2 + 2 = 4\nRight.\n"
    assert (question.input_type, question.record) == ("integer", "record.yaml")


def test_after_an_error_the_same_question_is_asked_and_its_answer_refused(build: Build) -> None:
    with Session(build.record(QUIZ, "5")) as session:
        question = question_of(session)
        assert (question.text, question.pointer) == ("2 + 2 = ", 0)
        [refused] = refusals(session, question)
        assert (refused.answer, refused.reason) == ("5", "count again")
        session.answer("7")
        assert {one.answer: one.reason for one in refusals(session, question)} == {
            "5": "count again",
            "7": "count again",
        }


@pytest.mark.parametrize("hide", [False, True])
def test_answers_found_wrong_stay_refused_with_their_errors_wherever_they_lie(
    build: Build, hide: bool
) -> None:
    with Session(build.record(QUIZ, "4", "5")) as session:
        session.answer("7")
        session.rewind(0)
        session.fork(0, "4")
        session.fork(1, "6", name="right")
        if hide:
            session.delete("main")
        session.rewind(1)
        found = {one.answer: one.reason for one in refusals(session, question_of(session))}
        assert found == {"5": "no", "7": "no"}
        session.rewind(0)
        assert refusals(session, question_of(session)) == ()


async def test_a_wrong_answer_rewound_over_is_not_given_again(build: Build) -> None:
    with Session(build.record(QUIZ, "5")) as session:
        session.rewind(0)
        voters = panel(a=saying({"answer": 5}, {"final_answer": 5}), b=saying({"answer": 4}))
        decision = await ask(session, voters)
        assert (decision.verdict.answer, decision.verdict.why) == (4, "reason_feedback")
        assert "count again" in calls(voters, "a")[0].messages[1].content


def test_nothing_is_asked(build: Build) -> None:
    for source in ("print('done')", "raise Exception('at once')"):
        path = build.record(source, name=f"{len(source)}.yaml")
        with Session(path) as session, pytest.raises(UsageError, match="asks nothing"):
            question_of(session)


async def test_asking_keeps_the_decision_and_leaves_the_record(build: Build) -> None:
    path = build.record(QUIZ)
    before = path.read_bytes()
    with Session(path) as session:
        decision = await ask(session, panel(**TWO))
    assert path.read_bytes() == before
    assert read_decisions(decisions_path(path)).decisions == [decision]
    assert str(build.folder) not in decisions_path(path).read_text()


async def test_accepting_answers(build: Build) -> None:
    with Session(build.record(QUIZ)) as session:
        decision = await ask(session, panel(**TWO))
        reply = accept(session, decision)
        assert (reply.pointer, reply.branch, session.record.inputs) == (1, "main", ("4",))
        given = on_branch(session.record, "main")[0]
        assert (given.by, given.name, given.door) == ("decision", "a, b", "api")
        with pytest.raises(UsageError, match="asks another question now"):
            accept(session, decision)


async def test_what_a_person_answered_stays_on_its_own_branch(build: Build) -> None:
    with Session(build.record(QUIZ, "4", "6")) as session:
        session.rewind(0)
        three = {"a": saying({"answer": 3}), "b": saying({"answer": 3})}
        reply = accept(session, await ask(session, panel(**three)))
        assert (reply.branch, reply.status) == ("agent-1", "error")
        assert session.record.path_of("main") == ("4", "6")
        session.switch("main")
        session.rewind(0)
        assert accept(session, await ask(session, panel(**TWO))).branch == "main"
        assert session.record.path_of("main") == ("4", "6")


async def test_a_wrong_answer_is_not_given_again(build: Build) -> None:
    with Session(build.record(QUIZ, "5")) as session:
        five = {"a": saying({"answer": 5}), "b": saying({"answer": 5}), "c": saying({"answer": 4})}
        scripts = {k: v for k, v in five.items()}
        stubborn = panel(
            a=scripts["a"], c=scripts["c"], b=saying({"answer": 5}, {"final_answer": 5})
        )
        decision = await ask(session, stubborn)
        assert (decision.verdict.answer, decision.verdict.why) == (4, "reason_feedback")
        assert "count again" in calls(stubborn, "a")[0].messages[1].content
        assert accept(session, decision).pointer == 1


def test_nothing_decided_cannot_be_accepted(build: Build) -> None:
    with Session(build.record(QUIZ)) as session:
        undecided = decide(asked(said(4), said(5), question=question_of(session)))
        with pytest.raises(UsageError, match="the models decided nothing"):
            accept(session, undecided)


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (asked(), False),
        (asked(ran(4)), True),
        (asked(ran(4), silent("timeout")), False),
        (asked(ran(4), ran(4)), True),
        (asked(ran(4), ran(4), ran(5)), True),
        (asked(ran(4), said(5)), False),
        (asked(ran(4), ran(5, primary=True)), False),
        (asked(ran(4), ran(4), ran(5), ran(5), ran(6, primary=True)), False),
        (asked(ran(4), ran(4), ran(5), ran(5), refused=[4]), True),
        (asked(failed("error"), failed("error")), False),
        (
            asked(
                said("x", primary=True),
                said("y"),
                question=ModelQuestion("?", input_type="textarea"),
            ),
            True,
        ),
        (asked(said("x"), said("y"), question=ModelQuestion("?", input_type="textarea")), False),
    ],
)
def test_when_an_autopilot_goes_on(decision: Any, expected: bool) -> None:
    assert agreed(decide(decision)) is expected


def by_question(**answers: Any) -> Any:
    async def script(prompt: Any) -> str:
        data = json.loads(prompt.messages[1].content)
        text = data.get("question") or data["context"]["question"]
        answer = answers["first" if text.startswith("2") else "second"]
        return json.dumps({"answer": answer, "final_answer": answer})

    return script


async def test_to_the_end(build: Build) -> None:
    right = by_question(first=4, second=6)
    with Session(build.record(QUIZ)) as session:
        flight = await run_autopilot(session, panel(a=right, b=right, c=failing("error")))
        assert (flight.ended, flight.reply.status, len(flight.decisions)) == (
            "finished",
            "success",
            2,
        )
    with Session(build.folder / "record.yaml") as session:
        assert session.record.inputs == ("4", "6")


async def test_a_disagreement_pauses(build: Build) -> None:
    one, other = by_question(first=4, second=6), by_question(first=4, second=7)
    with Session(build.record(QUIZ)) as session:
        flight = await run_autopilot(session, panel(a=one, b=other))
        assert (flight.ended, flight.reply.pointer, session.record.inputs) == (
            "disagreement",
            1,
            ("4",),
        )
        assert flight.decisions[-1].reconciliation


async def test_a_wrong_answer_and_silence_end_it(build: Build) -> None:
    wrong = by_question(first=4, second=7)
    with Session(build.record(QUIZ)) as session:
        flight = await run_autopilot(session, panel(a=wrong, b=wrong))
        assert (flight.ended, flight.reply.score) == ("raised", 0.6)
        session.rewind(0)
        flight = await run_autopilot(session, panel(a=failing("error"), b=failing("timeout")))
        assert (flight.ended, flight.reply.pointer) == ("undecided", 0)


def test_only_files_that_were_named_are_given(build: Build) -> None:
    for name in ("data.csv", "other.csv", "data.csv.bak", "helper.py", "answers.yaml", ".env"):
        (build.folder / name).write_text(name)
    (build.folder / "link.csv").symlink_to("/etc/passwd")
    (build.folder / "folder.csv").mkdir()
    source = "print('see data.csv, helper.py, answers.yaml, link.csv, folder.csv, quiz.py, record.yaml, .env')\ninput()"
    with Session(build.record(source)) as session:
        with question_files(build.folder, question_of(session)) as folder:
            assert {path.name for path in folder.iterdir()} == {"data.csv"}
            assert (folder / "data.csv").read_text() == "data.csv"
        assert not folder.exists()


@pytest.mark.parametrize("example", sorted(SCRIPTS))
async def test_the_shipped_recordings_play_to_the_end(example: str, tmp_path: Path) -> None:
    with Session(example_to_ask(example, tmp_path)) as session:
        flight = await run_autopilot(
            session, recorded_panel(tmp_path / example / "cassettes", run_here)
        )
    assert flight.ended == "finished"
    for decision in flight.decisions:
        assert "no model was asked" in (decision.label or "")
        assert [(m.name, m.source, m.status) for m in decision.models] == [
            (voter.name, "recorded", "ok") for voter in VOTERS
        ]
        assert all(one.status == "ok" for one in decision.reconciliation)


def test_a_recording_is_needed_for_each_shipped_request_and_none_is_left_over() -> None:
    names = {path.name for path in shipped("records").glob("*/cassettes/*.json")}
    per_example = {
        name: len(list((shipped("records") / name / "cassettes").iterdir())) for name in SCRIPTS
    }
    assert per_example == {
        name: sum(len(replies) for replies in script.values()) for name, script in SCRIPTS.items()
    }
    assert names


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        ("  raw ", "text", "  raw "),
        (4, "integer", "4"),
        (4.0, "integer", "4"),
        (4.0, "number", "4.0"),
        (4.5, "integer", "4.5"),
        (True, "yesno", "yes"),
        (False, "yesno", "no"),
        (True, "text", "True"),
        ([[1, 0], [0, 1]], "matrix", "[[1, 0], [0, 1]]"),
        ({"ä": None}, "json", '{"ä": null}'),
    ],
)
def test_an_answer_as_it_is_typed(answer: Any, kind: str, text: str) -> None:
    assert answer_text(answer, ModelQuestion("?", input_type=kind)) == text

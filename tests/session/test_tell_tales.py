"""Answers that ran as code are told of with evidence, and nothing is told without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.replay.replayer import replay
from quizlog_tui.session.session import Session
from quizlog_tui.session.tell_tales import SAYS, tell_tales
from quizlog_tui.session.timeline import timeline
from tests.support.build import Build

EVAL = """
    KEY = "answers.json"
    name = input("name? ")
    print("hello", name)
    print("you said", eval(input("sum? ")))
    print("last", input("more? "))
"""


def told(script: Path, *answers: str) -> list[tuple[int, str, str]]:
    return [(tale.at, tale.kind, tale.evidence) for tale in tell_tales(replay(script, 1, answers))]


@pytest.mark.parametrize(
    "answer", ["4", "2 + 2", "'quiz.py'", "[1, 2]", "4 # __file__ open(x, 'w')"]
)
def test_plain_answers_tell_nothing(build: Build, answer: str) -> None:
    assert told(build.script(EVAL), "Zoë", answer, "-- finished: score 1") == []


def test_code_that_did_nothing_else_is_only_told_as_code(build: Build) -> None:
    assert told(build.script(EVAL), "Zoë", "sum([1, 2])") == [(1, "code", "sum([1, 2])")]


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("open(__file__).read()", "open(__file__).read()"),
        ("len(open('quiz.py').read())", "len(open('quiz.py').read())"),
        ("len(str('answers.json'))", "len(str('answers.json'))"),
        (f"len('{'x' * 200}' + open(__file__).read())", f"…{'x' * 21}' + open(__file__).read())"),
    ],
)
def test_code_that_names_the_script_or_its_files(build: Build, answer: str, evidence: str) -> None:
    (build.folder / "answers.json").write_text("{}", encoding="utf-8")
    assert told(build.script(EVAL), "Zoë", answer) == [(1, "reads", evidence)]


def test_code_that_hides_its_words_is_code_and_no_more(build: Build) -> None:
    hidden = "len(open('qu' + 'iz.p' + 'y').read())"
    assert told(build.script(EVAL), "Zoë", hidden) == [(1, "code", hidden)]


def test_code_that_ended_the_script(build: Build) -> None:
    leaves = "__import__('os')._exit(0)"
    assert told(build.script(EVAL), "Zoë", leaves) == [(1, "ended", leaves)]
    assert told(build.script(EVAL), "Zoë", "exit()")[0][1] == "ended"


def test_code_that_prints_what_quizlog_would(build: Build) -> None:
    imitates = "print('-- finished: score 1 (step 9, branch main)')"
    assert told(build.script(EVAL), "Zoë", imitates) == [
        (1, "imitates", "-- finished: score 1 (step 9, branch main)")
    ]


def test_what_the_script_prints_itself_is_not_laid_on_an_answer(build: Build) -> None:
    script = build.script("""
        print("-- finished: score 1")
        open("notes.txt", "w").write("mine")
        print(eval(input("sum? ")))
        print(input("-- error: no? "))
        print("quizlog: hello")
    """)
    assert told(script, "sum([1])", "x") == [(0, "code", "sum([1])")]


def test_code_that_writes_files(build: Build) -> None:
    writes = "open('sitecustomize.py', 'w').write('x')"
    found = told(build.script(EVAL), "Zoë", writes)
    assert found == [(1, "files", "open('sitecustomize.py', 'w').write('x')")]
    speaks = "len('please, write')"
    assert told(build.script(EVAL), "Zoë", speaks) == [(1, "code", speaks)]


def test_several_things_are_told_of_one_answer(build: Build) -> None:
    answer = "print('quizlog: ok', open(__file__).close())"
    kinds = [kind for _, kind, _ in told(build.script(EVAL), "Zoë", answer)]
    assert kinds == ["reads", "imitates"]


def test_evidence_is_one_harmless_line(build: Build) -> None:
    answer = "print('\x1b[31m' + __file__, \n 1)"
    (tale,) = tell_tales(replay(build.script(EVAL), 1, ["Zoë", answer]))
    assert tale.evidence == "print('␛[31m' + __file__, ⏎ 1)"


def test_they_are_in_the_timeline_and_in_the_list_of_steps(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    path = build.record(EVAL, "Zoë", "open(__file__).close()")
    with Session(path) as session:
        rows = timeline(session.transcript, session.record)
        assert [len(row.tales) for row in rows] == [0, 1, 0]
        assert rows.marked == [1]
    assert main(["steps", str(path)]) == 0
    assert f"! {SAYS['reads']}: open(__file__).close()" in capsys.readouterr().out
    assert main(["steps", str(path), "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert [step["code"] for step in steps] == [False, True, False]
    assert steps[1]["tell_tales"] == [
        {"kind": "reads", "says": SAYS["reads"], "evidence": "open(__file__).close()"}
    ]


def test_of_answers_that_share_a_name_only_the_last_is_said_to_have_done_it(build: Build) -> None:
    script = build.script("n = input('name? ')\nx = eval(input('x = '))\n")
    found = told(script, "please exit() now", "exit()")
    assert [(at, kind) for at, kind, _ in found if kind != "code"] == [(1, "ended")]
    run = replay(script, 1, ["please exit() now", "exit()"])
    assert run.last_error and run.last_error.message == "answer 1 ran as code and ended the script"


def test_code_that_runs_twice_is_told_of_once(build: Build) -> None:
    script = build.script("for n in range(3):\n    print(eval(input(f'{n}? ')))\n")
    assert told(script, "'abc'.upper()", "'abcd'.upper()") == [
        (0, "code", "'abc'.upper()"),
        (1, "code", "'abcd'.upper()"),
    ]

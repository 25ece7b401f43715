"""`quizlog find`: words in a record's branches, and in the records of a folder."""

from __future__ import annotations

import json
import signal

import pytest

from quizlog_tui.record.who import Giver
from quizlog_tui.session.session import Session
from tests.cli.conftest import Run
from tests.support.build import Build

QUIZ = """
name = input("Who are you? ")
print("Hello", name)
if input("How old? ") == "old":
    raise Exception("too old")  #score = 0.5
"""


def test_words_are_found_in_all_branches_of_a_record(run: Run, build: Build) -> None:
    with Session(build.record(QUIZ, "Ada", "28")) as session:
        session.fork(1, "old", "aged")
    code, out, err = run("find", "OLD", "record.yaml")
    assert code == 0 and not err
    assert out.splitlines()[:2] == [
        "step 1 of aged, question: How old?",
        "step 1 of aged, answer: old",
    ]
    assert out.splitlines()[-1] == "step 2 of aged, error: too old"
    code, out, _ = run("find", "2.$", "record.yaml", "--regex", "--json")
    (hit,) = json.loads(out)["hits"]
    assert code == 0 and (hit["branch"], hit["step"], hit["part"]) == ("main", 1, "answer")
    assert (hit["line"], hit["matches"]) == ("28", [[0, 2]])


def test_the_records_of_a_folder_are_searched_and_nothing_is_run(run: Run, build: Build) -> None:
    with Session(build.record(QUIZ, "Ada", "28")) as session:
        session.save()
    (build.folder / "quiz.py").unlink()
    (build.folder / "broken.yaml").write_text("script: [seed", encoding="utf-8")
    code, out, err = run("find", "ada")
    assert code == 0
    assert (
        out
        == "record.yaml: step 0 of main, answer: Ada\nrecord.yaml: step 1 of main, output: Hello Ada\n"
    )
    assert "not searched: 1 record that cannot be read" in err


def test_what_is_not_found_is_told(run: Run, build: Build) -> None:
    build.record(QUIZ)
    code, out, err = run("find", "zebra", "record.yaml")
    assert (code, out) == (0, "") and err.endswith("not found: zebra\n")
    err = run("find", "zebra", ".")[2]
    assert "not found: zebra (output and errors of other branches" in err
    code, out, err = run("find", "(", ".", "--regex")
    assert (code, out) == (2, "") and "not a regular expression" in err
    assert run("find", "x", "nowhere.yaml")[0] == 2


def test_output_found_in_a_folder_is_at_its_step_though_a_line_was_left_open(
    run: Run, build: Build
) -> None:
    source = """
    for n in range(3):
        print("pear", n)
        print("apple", n, end=": ")
        input("? ")
        print()
    """
    with Session(build.record(source)) as session:
        session.answer("a")
        session.answer("b")
    for word in ("pear", "apple"):
        found = run("find", f"{word} 1", ".")[1]
        assert found.startswith(f"record.yaml: step 1 of main, output: {word} 1")


def test_what_a_terminal_shows_is_found_across_colours_and_redrawn_lines(
    run: Run, build: Build
) -> None:
    source = """
    print("\\033[31mred\\033[0m apple")
    print("10%\\r100% done")
    input("\\033[1mWhich\\033[0m one? ")
    """
    with Session(build.record(source)) as session:
        session.save()
    for where in ("record.yaml", "."):
        prefix = "" if where == "record.yaml" else "record.yaml: "
        for words, line in (
            ("red apple", "output: red apple"),
            ("100% done", "output: 100% done"),
            ("which one", "question: Which one?"),
        ):
            assert run("find", words, where)[1] == f"{prefix}step 0 of main, {line}\n"
        assert run("find", "10%", where)[1] == ""


def test_no_words_are_a_wrong_call(run: Run, build: Build) -> None:
    build.record(QUIZ)
    for words in (("find", ""), ("find", "", "record.yaml", "--regex")):
        code, out, err = run(*words)
        assert (code, out) == (2, "") and "no words to find" in err


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
@pytest.mark.parametrize("where", ["record.yaml", "."])
def test_an_endless_expression_ends_at_a_limit(where: str, run: Run, build: Build) -> None:
    with Session(build.record(f"print('{'a' * 60}!')\ninput('? ')\n")) as session:
        session.save()
    code, out, err = run("find", "(a+)+$", where, "--regex")
    assert (code, out) == (4, "") and "this expression takes too long" in err


def test_found_text_steers_no_terminal(run: Run, build: Build) -> None:
    build.record("print('\\x1b(0lq \\x1b]0;title\\x07 word')\ninput('? ')\n")
    _, out, _ = run("find", "word", "record.yaml")
    assert "\x1b" not in out and "␛(0lq  word" in out


@pytest.mark.parametrize("where", ["record.yaml", "."])
def test_words_are_found_in_the_answers_of_one_giver(where: str, run: Run, build: Build) -> None:
    build.record("input('empty? ')\n", name="other.yaml")
    with Session(build.record(QUIZ), giver=Giver("screen", "person", "ann")) as session:
        session.answer("old Ada")
        session.answer("28")
        session.fork(1, "old", "aged", giver=Giver("http", "agent"))
    prefix = "" if where == "record.yaml" else "record.yaml: "
    for wanted, line in (
        ("Ann", "step 0 of aged, answer: old Ada"),
        ("agent", "step 1 of aged, answer: old"),
        ("http", "step 1 of aged, answer: old"),
    ):
        code, out, err = run("find", "old", where, "--by", wanted)
        assert (code, out, err) == (0, f"{prefix}{line}\n", "")
    code, out, err = run("find", "old", where, "--by", "bob")
    assert (code, out) == (2, "")
    assert "no answer is by 'bob'" in err
    assert 'answers are by: "agent", "ann", "http", "person", "screen"' in err

"""diff, drift and migrate, as a shell sees them."""

from __future__ import annotations

import json

import pytest

from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.who import Giver
from quizlog_tui.session.session import Session
from tests.cli.conftest import Run
from tests.proof.drift.quiz import edited, recorded
from tests.support.build import Build


@pytest.fixture
def run(run: Run, build: Build) -> Run:
    """Runs one command line in a folder with a record of three branches."""
    recorded(build)
    return run


def test_a_branch_that_is_not_in_the_file_yet_is_told(run: Run, build: Build) -> None:
    build.record("input('a? ')\n", "x", name="edited.yaml")
    run("migrate", "edited.yaml")
    build.script("input('A? ')\n")
    code, out, err = run("branches", "edited.yaml")
    assert code == 0 and "main-1  1 answer, from the start, success" in out
    assert "the branch main-1 is not in the file yet; the next change writes it" in err
    run("migrate", "edited.yaml")
    assert run("branches", "edited.yaml")[1:] == (out, "")


def test_diff_of_branches_names_the_first_difference_and_marks_words(run: Run) -> None:
    code, out, _ = run("diff", "record.yaml@main", "@blue")
    assert code == 3
    assert out.splitlines()[:4] == [
        "A  record.yaml@main: 5 answers, success, score 1",
        "B  record.yaml@blue: 4 answers, in_progress",
        "first difference: the printed text at step 3",
        "first different answer: at step 2",
    ]
    assert "    - Red or blue? [-red-]\n    + Red or blue? {+blue+}\n" in out
    assert "    - [-Warm-].\n    + {+Cool+}.\n" in out
    assert "- step 5\n    - Bye.\n    - (finished, score 1)\n" in out


def test_diff_tells_who_gave_answers_that_differ(run: Run, build: Build) -> None:
    quiz = "for n in range(3):\n    input(f'{n}? ')\n"
    path = build.record(quiz, "x", name="givers.yaml")
    with Session(path, giver=Giver("screen", "person", "ann\n")) as session:
        session.answer("same")
        session.answer("old")
        session.fork(0, "y", "other", giver=Giver("http", "agent"))
        session.answer("same", giver=Giver("shell"))
        session.answer("new", giver=Giver("shell"))
    code, out, _ = run("diff", "givers.yaml@main", "@other")
    told = [line for line in out.splitlines() if "answered by" in line]
    assert code == 3
    assert told == ["    answered by agent (B)", "    answered by ann⏎ (A)"]
    assert "    + 2? {+new+}\n    answered by ann⏎ (A)\n" in out


def test_diff_as_json_has_the_keys_of_the_design(run: Run, build: Build) -> None:
    code, out, _ = run("diff", "record.yaml@main", "record.yaml@hot", "--json")
    data = json.loads(out)
    assert code == 3 and data["schema_version"] == 1
    assert (data["equal"], data["step"], data["what"]) == (False, 4, "print")
    assert (data["a"], data["b"], data["answer"]) == ("Last one.", None, 3)
    assert data["steps"][0] == {"kind": "same", "a": 0, "b": 0}
    code, out, _ = run("diff", "record.yaml", "record.yaml", "--json")
    data = json.loads(out)
    assert code == 0
    assert [data[key] for key in ("equal", "step", "what", "a", "b")] == [True] + [None] * 4
    code, out, _ = run("diff", "record.yaml", "--json")
    assert code == 0 and json.loads(out)["equal"] is True


def test_one_answer_is_told_as_one(run: Run, build: Build) -> None:
    build.record("input('remark? ')\n", "x", name="one.yaml")
    said = "one.yaml@main and its replay show the same (1 step)\n"
    assert run("diff", "one.yaml")[1] == said
    run("migrate", "one.yaml")  # which notes what it shows
    assert run("drift", "one.yaml")[1].splitlines()[1] == "main  its answer agrees"


def test_answers_that_change_nothing_are_a_difference_too(run: Run, build: Build) -> None:
    for name, answer in (("one", "x"), ("two", "y")):
        build.record("input('remark? ')\n", answer, name=f"{name}.yaml")
    code, out, _ = run("diff", "one.yaml", "two.yaml", "--json")
    data = json.loads(out)
    assert code == 3
    assert [data[key] for key in ("equal", "step", "what", "a", "b")] == [
        False, 0, "answer", "x", "y",
    ]  # fmt: skip


def test_a_record_is_compared_with_its_replay_under_the_present_script(
    run: Run, build: Build
) -> None:
    assert run("diff", "record.yaml")[:2] == (
        0,
        "record.yaml@main and its replay show the same (5 steps)\n",
    )
    build.script(edited(("How hot? ", "How warm? ")))
    code, out, _ = run("diff", "record.yaml", "--json")
    assert code == 3
    expected = {"equal": False, "step": 3, "what": "prompt", "a": "How hot? ", "b": "How warm? "}
    assert json.loads(out) == {"schema_version": 1} | expected
    code, out, err = run("diff", "record.yaml", "record.yaml")
    assert code == 3 and "compared up to step 3 only" in err


def test_drift_reports_every_branch_and_writes_nothing(run: Run, build: Build) -> None:
    before = (build.folder / "record.yaml").read_bytes()
    assert run("drift", "record.yaml")[0] == 0
    build.script(edited(("How hot? ", "How warm? ")))
    code, out, _ = run("drift", "record.yaml")
    said = "3 of 5 answers agree, then the question at step 3 was 'How hot? ', is 'How warm? '"
    assert code == 3 and f"main  {said}\nblue  all of 4 answers agree\n" in out
    code, out, _ = run("drift", "record.yaml", "--json")
    data = json.loads(out)
    assert (data["changed"], data["agrees"]) == (True, False)
    assert [(b["branch"], b["agreed"], b["step"]) for b in data["branches"]] == [
        ("main", 3, 3), ("blue", 4, None), ("hot", 3, 3),
    ]  # fmt: skip
    assert (build.folder / "record.yaml").read_bytes() == before


def test_migrate_writes_the_agreeing_answers_and_parks_the_rest(run: Run, build: Build) -> None:
    build.script(edited(("How hot? ", "How warm? ")))
    code, out, err = run("migrate", "record.yaml")
    assert (code, out) == (0, "") and "the answers as they were stay on the branch main-1" in err
    record = RecordFile(build.folder / "record.yaml").read()
    assert (record.pointer, list(record.inputs)[1:]) == (3, ["Ada", "red"])
    assert list(record.path_of("main-1"))[1:] == ["Ada", "red", "mild", "yes"]
    assert run("drift", "record.yaml")[1].splitlines()[1] == "main    all of 3 answers agree"
    again = (build.folder / "record.yaml").read_bytes()
    assert run("migrate", "record.yaml", "--json")[0] == 0
    assert (build.folder / "record.yaml").read_bytes() == again


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("diff", "record.yaml", "@nope"),
            "there is no branch 'nope' (there are: main, blue, hot)",
        ),
        (("diff", "nope.yaml"), "nope.yaml: the record does not exist"),
        (("diff",), "the following arguments are required"),
        (("drift", "nope.yaml"), "nope.yaml: the record does not exist"),
    ],
)
def test_wrong_calls_say_what_to_do(words: tuple[str, ...], said: str, run: Run) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1


def test_a_file_whose_name_has_an_at_sign_is_a_record(run: Run, build: Build) -> None:
    (build.folder / "record.yaml").rename(build.folder / "a@b.yaml")
    assert run("diff", "a@b.yaml", "a@b.yaml@main")[0] == 0


def test_nothing_a_script_says_steers_the_terminal(run: Run, build: Build) -> None:
    for name, evil in (("one", "\x1b[2J"), ("two", "\x1b]0;x\x07")):
        build.record(f"print({evil!r} + input())\ninput('\\x9b')\n", evil, name=f"{name}.yaml")
    code, out, err = run("diff", "one.yaml", "two.yaml")
    assert code == 3 and not set(out + err) & set("\x1b\x07\x9b")


def test_verify_names_a_changed_question_and_its_cause(run: Run, build: Build) -> None:
    build.script(edited(("How hot? ", "How warm? ")))
    code, out, _ = run("verify", "record.yaml", "--json")
    data = json.loads(out)
    assert (code, data["verdict"], data["step"]) == (3, "diverges", 3)
    assert (data["what"], data["cause"]) == ("prompt", "code-changed")
    assert (data["recorded"], data["replayed"]) == ("How hot? ", "How warm? ")

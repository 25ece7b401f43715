"""Finding words in all that a record holds: each text once, lines in the order of the steps."""

from __future__ import annotations

import pytest

from quizlog_tui.errors import QuizlogError, UsageError
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.session.find import (
    Hit,
    Passage,
    excerpt,
    find,
    hits_in,
    passages,
    recorded_passages,
    search_pattern,
)
from quizlog_tui.session.session import Session
from tests.support.build import Build

QUIZ = """
import sys
for n in range(3):
    print("The needle in line", n)
    print("needle", "needle", "warning", file=sys.stderr)
    if input(f"Which needle {n}? ") == "no needle":
        raise Exception("a NEEDLE was lost")  #score = 0.5
print("all needles found")
"""


def runs(session: Session, *names: str) -> dict[str, Transcript]:
    found: dict[str, Transcript] = {}
    for name, run in session.transcripts_of(names or [one.name for one in session.branches]):
        assert not isinstance(run, QuizlogError)
        found[name] = run
    return found


def places(hits: list[Hit]) -> list[tuple[int, str, str]]:
    return [(hit.passage.at, hit.passage.branch, hit.passage.part) for hit in hits]


def test_every_part_of_every_branch_is_found_once_by_step(build: Build) -> None:
    with Session(build.record(QUIZ, "a", "b", "my needle")) as session:
        session.fork(1, "no needle", "lost")
        session.comment(1, "this needle is odd", "wrong", "ann")
        session.note("lost", "where the needle went")
        session.switch("main")
        hits = list(find(search_pattern("needle"), passages(session.record, runs(session))))
    before_answer = ["output", "stderr", "question"]
    assert places(hits) == [
        *((0, "main", part) for part in before_answer),
        *((1, "main", part) for part in before_answer),
        (1, "lost", "answer"),
        (1, "lost", "note"),
        (1, "lost", "note"),
        *((2, "main", part) for part in before_answer),
        (2, "main", "answer"),
        (2, "lost", "error"),
        (3, "main", "output"),
    ]
    error = hits[-2]
    assert (error.line, error.matched) == ("a NEEDLE was lost", "NEEDLE")


ENDS = {
    "chained": (
        """
        try:
            raise ValueError("eel inside")
        except ValueError as error:
            raise Exception("eel lost") from error
        """,
        ["ValueError: eel inside", "eel lost"],
    ),
    "in handling": (
        """
        try:
            raise ValueError("eel inside")
        except ValueError:
            raise Exception("eel lost")
        """,
        ["ValueError: eel inside", "eel lost"],
    ),
    "two lines": ('raise Exception("eel one\\neel two")', ["eel one", "eel two"]),
    "exit": ('sys.exit("eel bad")', ["eel bad"]),
    "syntax": ("exec('eel eel = 3')", []),
    "told before": (
        """
        import traceback
        try:
            raise ValueError("eel first")
        except ValueError:
            traceback.print_exc()
        raise Exception("eel last")
        """,
        ['raise ValueError("eel first")', "ValueError: eel first", "eel last"],
    ),
}
"""Ends of a script, and the lines of its last stop that are found after one on stderr."""


@pytest.mark.parametrize("end", ENDS)
def test_an_error_is_found_once(end: str, build: Build) -> None:
    code, lines = ENDS[end]
    start = 'import sys\ninput("? ")\nprint("an eel", file=sys.stderr)\n'
    with Session(build.record(start + build.dedent(code), "a")) as session:
        texts = passages(session.record, runs(session))
        assert [hit.line.strip() for hit in find(search_pattern("eel"), texts)] == [
            "an eel",
            *lines,
        ]
        assert {p.part for p in texts if p.at == 1} == {"stderr", "error"}


def test_what_branches_share_belongs_to_the_active_one(build: Build) -> None:
    with Session(build.record(QUIZ, "a", "b")) as session:
        session.fork(1, "c", "other")
        hits = list(find(search_pattern("Which"), passages(session.record, runs(session))))
        assert places(hits) == [
            (0, "other", "question"),
            (1, "other", "question"),
            (2, "other", "question"),
            (2, "main", "question"),
        ]


def test_a_branch_of_a_hidden_branch_is_found_whole(build: Build) -> None:
    with Session(build.record(QUIZ, "a", "b")) as session:
        session.fork(0, "x", "parent")
        session.fork(1, "y", "child")
        session.switch("main")
        session.delete("parent")
        texts = passages(session.record, runs(session, "main", "child"))
        assert [(p.at, p.text) for p in texts if p.branch == "child" and p.part == "answer"] == [
            (0, "x"),
            (1, "y"),
        ]


def test_a_line_is_one_hit_with_all_its_matches() -> None:
    passage = Passage("main", 0, "output", "no\nan eel and an eel\neel")
    first, second = hits_in(search_pattern("EEL"), passage)
    assert (first.line, first.spans) == ("an eel and an eel", ((3, 6), (14, 17)))
    assert (second.line, second.spans) == ("eel", ((0, 3),))


@pytest.mark.parametrize(
    ("expression", "lines"),
    [
        (r"^b", ["bb"]),
        (r"a\nb", ["aa\nbb"]),
        (r"\d+$", ["cc 12"]),
        (r"x*", []),
        (r"a$\n", ["aa\n"]),
    ],
)
def test_regular_expressions_find_lines(expression: str, lines: list[str]) -> None:
    passage = Passage("main", 0, "output", "aa\nbb\ncc 12\n")
    found = hits_in(search_pattern(expression, regex=True), passage)
    assert [hit.line for hit in found] == lines


def test_plain_words_are_no_expression() -> None:
    assert not list(hits_in(search_pattern("a.c"), Passage("main", 0, "answer", "abc")))


@pytest.mark.parametrize("wrong", ["(", "*", "[", "a{99999999999}", "(?P<1>x)"])
def test_a_wrong_expression_is_told(wrong: str) -> None:
    with pytest.raises(UsageError, match="not a regular expression"):
        search_pattern(wrong, regex=True)


def test_a_long_line_is_cut_around_its_first_match() -> None:
    passage = Passage("main", 0, "output", "a" * 500 + "eel" + "b" * 500 + "eel")
    (hit,) = hits_in(search_pattern("eel"), passage)
    pieces = excerpt(hit, 30)
    assert pieces == [
        ("…", False),
        ("a" * 10, False),
        ("eel", True),
        ("b" * 17, False),
        ("…", False),
    ]
    assert excerpt(hit, 2000) == [
        ("a" * 500, False),
        ("eel", True),
        ("b" * 500, False),
        ("eel", True),
    ]


def test_a_record_is_searched_without_its_script(build: Build) -> None:
    with Session(build.record(QUIZ, "a", "b needle")) as session:
        session.save()
        session.fork(0, "a needle", "other")
        record = session.record
    (build.folder / "quiz.py").unlink()
    hits = list(find(search_pattern("needle"), recorded_passages(record)))
    assert (0, "other", "answer") in places(hits) and (1, "main", "answer") in places(hits)
    assert (1, "other", "question") in places(hits) and (0, "other", "output") in places(hits)

"""The partial score of a statement counts wherever a formatter puts its comment."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.proof.lint.check import lint
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.script.scores import score_in
from quizlog_tui.replay.script.source import Source
from quizlog_tui.replay.transcript import Transcript
from tests.support.build import Build
from tests.support.long_runs import few


def _run(build: Build, code: str, answer: str = "no") -> Transcript:
    return replay(build.script(code), 1, [answer])


BROKEN_UP = {
    "the last line of an assert": "assert (\n    x == 'yes'\n), 'it is yes'  #score = 0.4\n",
    "the first line of an assert": "assert (  #score = 0.4\n    x == 'yes'\n), 'it is yes'\n",
    "the test of an assert": "assert (\n    x == 'yes'  #score = 0.4\n), 'it is yes'\n",
    "the message of an assert": "assert x == 'yes', (\n    'it is '\n    'yes'  #score = 0.4\n)\n",
    "a line of its own in an assert": "assert (\n    # score = 0.4\n    x == 'yes'\n)\n",
    "after a backslash": "assert x == 'yes', \\\n    'it is yes'  #score = 0.4\n",
    "the last line of a raise": "raise Exception(\n    'a long '\n    'text'\n)  #score = 0.4\n",
    "the first line of a raise": "raise Exception(  #score = 0.4\n    'text'\n)\n",
    "the text of a raise": "raise Exception(\n    'text'  #score = 0.4\n)\n",
    "its cause": "raise Exception('text') from (\n    ValueError('x')\n)  #score = 0.4\n",
    "the last line of an exit": "import sys\nsys.exit(\n    'no'\n)  #score = 0.4\n",
    "in a block": "if x:\n    for i in 'ab':\n        assert (\n            not i\n        )  #score = 0.4\n",
    "one of two": "raise Exception(\n    'a'  #score = 0.4\n)  #score = 0.9\n",
}
"""Statements that end the run and hold their score on some line."""


@pytest.mark.parametrize("row", few(BROKEN_UP, *list(BROKEN_UP)[::3]))
def test_a_score_counts_on_any_line_of_its_statement_as_lint_says(row: str, build: Build) -> None:
    text = f"x = input('? ')\n{BROKEN_UP[row]}"
    ended = _run(build, text)
    assert ended.last_error and ended.last_error.score == 0.4
    (ending,) = lint(Source(Path("quiz.py"), text.encode())).endings
    assert ending.score == 0.4 and ending.scored


INNERMOST = [
    ("n = int(\n    x\n)  #score = 0.4\n", 0.4),
    ("t = [1, 2][\n    int(x)\n]  #score = 0.4\n", 0.4),
    ("def fail(m):\n    raise Exception(m)\nfail(\n    x,\n)  #score = 0.4\n", 0.4),
    ("if (\n    int(x)\n):  #score = 0.4\n    print()\n", 0.4),
    ("if int(x):\n    print()  #score = 0.4\n", 0.0),
    ("while int(x):\n    raise Exception('b')  #score = 0.4\n", 0.0),
    ("with open(\n    x\n) as f:  #score = 0.4\n    print()\n", 0.4),
    (
        "class A:\n    def f(self):\n        raise Exception  #score = 0.4\n    n = int(x)\n",
        0.0,
    ),
    ("def f():\n    int(x)\n    raise Exception  #score = 0.4\nf()\n", 0.0),
    (
        "c = [\n    lambda: 1,  #score = 0.1\n    lambda: int(x),  #score = 0.4\n]\nc[1]()\n",
        0.4,
    ),
    ("c = {\n    1: str(x),  #score = 0.1\n    2: int(x),  #score = 0.4\n}\n", 0.4),
    ("t = '''\n#score = 0.9\n''' + str(int(x))  #score = 0.4\n", 0.4),
]


@pytest.mark.parametrize("case", few(INNERMOST, *INNERMOST[::3]))
def test_the_score_is_that_of_the_innermost_statement(
    case: tuple[str, float], build: Build
) -> None:
    code, score = case
    ended = _run(build, f"x = input('? ')\n{code}")
    assert ended.last_error and ended.last_error.score == score


@pytest.mark.parametrize(
    "comment",
    [
        "# Score = 0.15", "#SCORE=0.15", "#sCoRe(0.15)", "# score = .15", "#score = 15e-2",
        "#score = 0.15#other", "#other #score = 0.15", "#score 0.3 #score = 0.15", "##score = 0.15",
        "# score = 0.15 as it is nearly right", "#score = 0.15 - nearly", "#score\t=\u00a00.15",
    ],
)  # fmt: skip
def test_a_score_is_read_in_any_spelling_of_the_convention(comment: str) -> None:
    found = score_in(comment, wanted=True)
    assert found and found.value == 0.15
    assert score_in(comment, wanted=False) == found


@pytest.mark.parametrize(
    "comment",
    [
        "# score 0.5", "#SCORE: 0.5", "# Score : .5", "#score = 50%", "#score = 50 %", "#score=0,5",
        "#score = 1/2", "#score = 1 / 2", "#score == 0.5", "#score := 0.5", "#score -> 0.5",
        "#score = (0.5)", "#score (= 0.5)", "#score = 0.5)", "#score[0.5]", "#scores = 0.5",
        "#partial score = 0.5", "#partial_score: 0.5", "#score =", "#score = half", "#score = 2",
        "#score = -0.1", "#score = nan", "#score0.5", "#score is 0.5", "#score\u200b = 0.5",
    ],
)  # fmt: skip
def test_nothing_near_to_a_score_is_ignored_in_silence(comment: str, build: Build) -> None:
    code = f"x = input('? ')\nraise Exception('no')  {comment}\n"
    ended = _run(build, code)
    assert ended.last_error and ended.last_error.score == 0
    assert any("quiz.py:2: " in warning for warning in ended.warnings)
    assert {trap.code for trap in lint(Source(Path("q.py"), code.encode())).traps} == {"score"}
    assert [trap.code for trap in lint(Source(Path("q.py"), f"x = 1  {comment}".encode())).traps]


@pytest.mark.parametrize(
    "code",
    [
        "# score = 0.5\nraise Exception('no')\n",
        "raise Exception('no')\n# score = 0.5\n",
        "if x:  #score = 0.5\n    raise Exception('no')\n",
        "raise Exception('no')  # half of the score, 0.5\n",
        "raise Exception('no')  # score: half\n",
    ],
)
def test_a_score_beside_the_statement_that_raises_is_told_of(code: str, build: Build) -> None:
    text = f"x = input('? ')\n{code}"
    ended = _run(build, text)
    assert ended.last_error and ended.last_error.score == 0
    assert len(ended.warnings) == 1
    assert [trap.code for trap in lint(Source(Path("q.py"), text.encode())).traps] == ["score"]


@pytest.mark.parametrize(
    "comment",
    ["# score 0.5 for a try", "# the score 3", "# score", "# underscore = 3", "# scoreboard: 3"],
)
def test_prose_about_scores_is_no_score(comment: str) -> None:
    assert score_in(comment, wanted=False) is None


@pytest.mark.parametrize("unit", ["score", "score ", "(", " ", "#score=", "1", ":"])
def test_time_is_bounded_for_any_comment(unit: str) -> None:
    start = time.process_time()
    score_in(f"#score{unit * 200_000}", wanted=True)
    score_in(f"#{unit * 200_000}", wanted=False)
    assert time.process_time() - start < 20


def test_a_score_of_a_neighbour_is_not_told_of(build: Build) -> None:
    code = (
        "x = input('? ')\nn = len(x)  #score = 0.2\nraise Exception('no')\ny = int(x)  #score = 1\n"
    )
    assert _run(build, code).warnings == ()


@given(st.text("#scoreSCORE =:()0.5%/ ", max_size=24), st.booleans())
def test_any_comment_is_a_legal_score_or_a_problem_or_nothing(text: str, wanted: bool) -> None:
    found = score_in(f"#{text}", wanted=wanted)
    if found:
        assert (found.value is None) == bool(found.problem)
        assert found.value is None or 0 <= found.value <= 1

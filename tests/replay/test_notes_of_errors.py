"""What a traceback says besides frames is shown with the error: notes, groups, causes."""

from __future__ import annotations

from html import unescape

import pytest

from quizlog_tui.proof.compare import align
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.transcript import stop_parts
from quizlog_tui.report.document import build_report
from quizlog_tui.report.html import to_html
from quizlog_tui.report.markdown import to_markdown
from quizlog_tui.session.find import passages
from quizlog_tui.session.reply_text import error_lines as show_error
from quizlog_tui.session.session import Session
from quizlog_tui.terminal_text import plain
from quizlog_tui.tui.draw.output import last_stop
from quizlog_tui.tui.draw.status import error_lines
from quizlog_tui.tui.screens.compare import Comparison, DrawnSide
from quizlog_tui.tui.screens.sweep import SweepAttempt, sweep_grid
from tests.support.build import Build

CODE = """
x = input("? ")
e = ValueError("base")
{}
raise e  #score = 0.5
"""
TOLD = {
    "e.add_note('see page 4'); e.add_note('or 5')": ["see page 4", "or 5"],
    "e.add_note('two\\n    lines')": ["two", "    lines"],
    "e.__notes__ = ['by hand', 5]": ["by hand", "5"],
    "e.__notes__ = {1: 'no list'}": ["{1: 'no list'}"],
    "e.__cause__ = KeyError('k')": ["KeyError: 'k'", "direct cause of the following"],
    "e = ExceptionGroup('all', [e, TypeError('t')]); e.add_note('three')": [
        "  | three", "    | ValueError: base", "    | TypeError: t", "2 ---",
    ],
    "e = ExceptionGroup('a', [ExceptionGroup('b', [e])]); e.exceptions[0].add_note('deep')": ["deep"],
}  # fmt: skip


@pytest.mark.parametrize(("code", "told"), TOLD.items(), ids=list(TOLD))
def test_notes_groups_and_causes_are_shown_where_the_error_is(
    code: str, told: list[str], build: Build
) -> None:
    path = build.record(CODE.format(code))
    with Session(path) as session:
        reply = session.answer("x")
        run, source = session.transcript, session.source
        page = to_markdown(build_report(session)) + unescape(to_html(build_report(session)))
        shell = "\n".join(show_error(session, reply))
    assert reply.last_error and reply.last_error.message == run.last_error.message
    assert "note" not in reply.last_error.message and reply.score == 0.5
    panel = "\n".join(line.text for line in error_lines(run, source))
    for text in told:
        assert text in run.exit_text and text in panel and text in shell
    assert f"<pre>\n{run.exit_text}" in page and f"```text\n{run.exit_text}" in page
    assert 'File "' not in run.exit_text and "raise e" not in run.exit_text


def test_an_error_that_says_no_more_is_shown_once(build: Build) -> None:
    for raised in ("e", "KeyError('k')", "ValueError('one\\n    two\\n\\nthree')", "1 / 0"):
        run = replay(build.script(f"e = Exception('text')\nraise {raised}\n"), 1, [])
        assert run.last_error and run.exit_text == ""


def test_what_stood_before_a_group_is_all_that_is_left_of_stderr(build: Build) -> None:
    code = "import sys\nprint('log', file=sys.stderr)\nraise ExceptionGroup('g', [ValueError(1)])\n"
    run = replay(build.script(code), 1, [])
    assert last_stop(run).stderr == "log\n"


SAID = {
    "Exception('not 4')": "not 4",
    "SystemExit('gone')": "gone",
    "ValueError('not 4')": "ValueError: not 4",
    "ValueError()": "ValueError",
    "Exception('\\x1b[31mred\\x1b[0m')": "red",
}


@pytest.mark.parametrize(("raised", "said"), SAID.items(), ids=list(SAID))
def test_an_error_is_said_alike_everywhere(raised: str, said: str, build: Build) -> None:
    path = build.record(f"input('? ')\nraise {raised}  #score = 0.5\n")
    with Session(path) as session:
        reply = session.answer("x")
        run, source = session.transcript, session.source
        shell = next(show_error(session, reply))
        found = [p.text for p in passages(session.record, {"main": run}) if p.part == "error"]
    asked = run.upto(0)
    row = next(row for row in align(run, asked) if row.a and row.a.prompt is None)
    side = Comparison(DrawnSide("a", run), DrawnSide("b", asked)).text(1)
    assert run.error_text() == said
    assert shell == f"-- error: quiz.py:2: {said} (score 0.5)"
    assert error_lines(run, source)[0].text == f"✗ {said}"
    assert error_lines(run, source)[1].text == "quiz.py, line 2, score 0.5"
    assert sweep_grid([SweepAttempt("x", run)]).text(0) == f"x ✗ error {said} "
    assert found == [said]
    assert row.a and stop_parts(row.a, run, plain)["end"] == f"error, score 0.5: {said}"
    assert side == f"✗ error, score 0.5: {said}"


def test_the_panel_names_the_file_that_raised_only_as_the_place(build: Build) -> None:
    build.script("def check(x):\n    raise ValueError('bad')\n", "helper.py")
    path = build.record("import helper\nhelper.check(input('? '))\n")
    with Session(path) as session:
        session.answer("x")
        first, second, *_ = error_lines(session.transcript, session.source)
    assert (first.text, second.text) == ("✗ ValueError: bad", "helper.py, line 2, score 0")

"""What a script leaves behind is shown as in a plain run: objects that go, handlers, threads, errors."""

from __future__ import annotations

from html import unescape
from itertools import product

import pytest

from quizlog_tui.cli.record.show import error_lines as show_error
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.interpreter import choose
from quizlog_tui.report.document import build_report
from quizlog_tui.report.html import to_html
from quizlog_tui.report.markdown import to_markdown
from quizlog_tui.session.session import Session
from quizlog_tui.tui.draw.error import error_lines
from quizlog_tui.tui.draw.stderr import last_stop
from tests.support.build import Build
from tests.support.interpreters import THIS, VERSIONS, python_of
from tests.support.long_runs import few
from tests.support.plain import equals_a_plain_run

LEAVES = """
import atexit, logging, os, sys, threading, time, weakref
class Room:
    def __init__(self, name): self.name = name
    def __del__(self): print("closing", self.name); print("closed", self.name, file=sys.stderr)
class Handler(logging.StreamHandler):
    def flush(self): print("flushed"); super().flush()
    def close(self): print("handler closed"); super().close()
def steps():
    try: yield 1
    finally: print("cleaned")
def later():
    time.sleep(0.05); room = Room("thread"); print("later")
def failing(*_): raise ValueError("in the hook")
def end(how):
    inner = Room("inner")
    if how == "error": raise Exception("stay out")
    if how == "exit": sys.exit("bye")
    if how == "exit 0": sys.exit(0)
    if how == "exit 3": sys.exit(3)
    if how == "interrupt": raise KeyboardInterrupt
    if how == "assert": assert False
    if how == "hook": sys.excepthook = lambda kind, error, trace: print("hook", error); raise Exception("x")
    if how == "bad hook": sys.excepthook = failing; raise Exception("x")
    if how == "hook that exits": sys.excepthook = lambda *_: sys.exit(5); raise Exception("x")
    if how == "handled":
        try: raise KeyError("inner")
        except KeyError: raise Exception("outer")
def play(how):
    cellar, begun = Room("cellar"), steps()
    next(begun)
    end(how)
how, what = input("how? "), input("what? ")
hall, begun = Room("hall"), steps()
next(begun)
if what == "at exit": atexit.register(lambda: print("at exit", hall.name)); atexit.register(Room, "attic")
if what == "question": atexit.register(lambda: print(input("last? ")))
if what == "logging": logging.getLogger().addHandler(Handler()); logging.warning("hi")
if what == "thread": threading.Thread(target=later).start()
if what == "circle": hall.hall = hall; Room.last = Room("of the class")
if what == "finalize": end_of = weakref.finalize(hall, print, "finalized")
if what == "part": sys.stdout.write("part")
play(how)
print("end")
"""
HOW = (
    *("success", "error", "exit", "exit 0", "exit 3", "interrupt", "assert", "hook", "bad hook"),
    *("hook that exits", "handled"),
)
WHAT = ("nothing", "at exit", "question", "logging", "thread", "circle", "finalize", "part")
ENDS = {f"{how}, {what}": (how, what) for how, what in product(HOW, WHAT)}


@pytest.mark.parametrize("end", few(ENDS, "error, nothing", "exit 3, thread", "success, logging"))
def test_what_goes_at_the_end_says_so_as_in_a_plain_run(build: Build, end: str) -> None:
    equals_a_plain_run(build.script(LEAVES), [*ENDS[end], "wish"][: 2 + ("question" in end)])


@pytest.mark.parametrize("version", [one for one in VERSIONS if one not in (THIS, "3.14")])
def test_so_it_does_under_other_versions(build: Build, version: str) -> None:
    script, python = build.script(LEAVES), str(python_of(version))
    choose(script, python)
    equals_a_plain_run(script, ["error", "at exit"], python)


def test_what_goes_late_belongs_to_the_last_step_and_changes_no_outcome(build: Build) -> None:
    script = build.script(
        """
        class Room:
            def __del__(self): print("closed")
        room = Room()
        if input("in? ") == "no":
            raise Exception("stay out")  #score = 0.2
        """
    )
    ended = replay(script, 1, ["no"])
    assert (ended.status, ended.last_error and ended.last_error.score) == ("error", 0.2)
    assert [entry for entry in ended.print if "closed" in entry]


def test_what_asks_after_the_end_finds_the_end_of_input(build: Build, replayer: Replayer) -> None:
    script = build.script(
        """
        class Room:
            def __del__(self):
                try: print("heard", input("bye? "))
                except EOFError: print("nobody there")
        room = Room()
        input("in? ")
        """
    )
    for answers in (["yes"], ["yes", "left over"]):
        ended = replayer.replay(script, 1, answers)
        assert (ended.status, len(ended.steps)) == ("success", 1)
        assert ended.stdout.endswith("bye? nobody there\n")


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

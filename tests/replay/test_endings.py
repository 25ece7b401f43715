"""What a script leaves behind is shown as in a plain run: objects that go, exit handlers, threads."""

from __future__ import annotations

from itertools import product

import pytest

from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.interpreter import choose
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


@pytest.mark.parametrize("version", few([one for one in VERSIONS if one not in (THIS, "3.14")]))
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

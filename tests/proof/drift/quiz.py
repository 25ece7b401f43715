"""A quiz with branches, and its record, for edits to be tried on."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

from quizlog_tui.replay.replayer import replay
from quizlog_tui.session.session import Session
from tests.support.build import Build

QUIZ = '''
"""Sums and colours."""
import random


def check(answer, expected):
    if int(answer) != expected:
        raise Exception(f"not {answer}")  #score = 0.5


print("Welcome.")
a, b = random.randint(1, 9), random.randint(1, 9)
check(input(f"{a} + {b} = "), a + b)
print("Right.")
name = input("Your name? ")
print(f"Hello {name}.")
colour = input("Red or blue? ")
if colour == "blue":
    print("Cool.")
    depth = input("How deep? ")
else:
    print("Warm.")
    heat = input("How hot? ")
    if heat == "boiling":
        raise Exception("too hot")  #score = 0.7
print("Last one.")
done = input("Done? ")
if done != "yes":
    raise Exception("not done")  #score = 0.9
print("Bye.")
'''


def edited(*changes: tuple[str, str]) -> str:
    """The quiz with some of its text replaced; each piece occurs once."""
    text = QUIZ
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def recorded(build: Build) -> Path:
    """A record with three branches: main (finished), blue (asking), hot (raised)."""
    path = build.record(QUIZ)
    path.write_bytes(_record())
    return path


@cache
def _record() -> bytes:
    with TemporaryDirectory() as folder:
        return _branched(Build(Path(folder), dedent).record(QUIZ)).read_bytes()


def _branched(path: Path) -> Path:
    with Session(path) as session:
        a, b = (int(word) for word in (session.reply().next_prompt or "").split() if word.isdigit())
        for answer in (str(a + b), "Ada", "red", "mild", "yes"):
            session.answer(answer)
        assert session.reply().status == "success"
        session.fork(2, "blue", name="blue")
        session.answer("3")
        session.switch("main")
        session.fork(3, "boiling", name="hot")
        session.switch("main")
    return path


def asked_of(script: Path, inputs: list[str]) -> list[tuple[str | None, str | None]]:
    """Each question of a run with the answer it got."""
    return [(step.prompt, step.input) for step in replay(script, 7, inputs).steps]

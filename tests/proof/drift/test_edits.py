"""Edits of a script: the harmful ones are named at the right step, the harmless ones pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.errors import UsageError
from quizlog_tui.proof.drift import drift_report
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.script.source import Source, read_source
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.session.session import Session
from tests.proof.drift.quiz import edited, recorded
from tests.support.build import Build
from tests.support.long_runs import few

Found = dict[str, tuple[int, str, Any, Any]]

HARMFUL: dict[str, tuple[str, Found]] = {
    "prompt text": (
        edited(("Your name? ", "Your full name? ")),
        {name: (1, "prompt", "Your name? ", "Your full name? ") for name in ("main", "blue", "hot")},
    ),
    "a space in a prompt": (
        edited(("Done? ", "Done?")),
        {"main": (4, "prompt", "Done? ", "Done?"), "blue": (4, "prompt", "Done? ", "Done?")},
    ),
    "numbers": (
        edited(("a, b = random.randint(1, 9)", "a, b = random.randint(11, 99)")),
        {name: (0, "prompt", ..., ...) for name in ("main", "blue", "hot")},
    ),
    "use of the seed": (
        edited(("a, b =", "random.random()\na, b =")),
        {name: (0, "prompt", ..., ...) for name in ("main", "blue", "hot")},
    ),
    "question inserted": (
        edited(('colour = input("Red', 'age = input("Age? ")\ncolour = input("Red')),
        {name: (2, "prompt", "Red or blue? ", "Age? ") for name in ("main", "blue", "hot")},
    ),
    "question inserted in front": (
        edited(('print("Welcome.")', 'input("Ready? ")\nprint("Welcome.")')),
        {"main": (0, "print", "Welcome.", None)}
        | {name: (0, "prompt", ..., "Ready? ") for name in ("blue", "hot")},
    ),
    "question removed": (
        edited(('name = input("Your name? ")', 'name = "you"')),
        {"main": (1, "print", None, "Hello you."), "blue": (1, ..., ..., ...), "hot": (1, ..., ..., ...)},
    ),
    "questions swapped": (
        edited(("Your name? ", "Red or blue?"), ("Red or blue? ", "Your name? ")),
        {name: (1, "prompt", "Your name? ", "Red or blue?") for name in ("main", "blue", "hot")},
    ),
    "in a branch that main did not take": (
        edited(("How deep? ", "How far down? ")),
        {"blue": (3, "prompt", "How deep? ", "How far down? ")},
    ),
    "printed in a branch that main did not take": (
        edited(("Cool.", "Cold.")),
        {"blue": (3, "print", None, "Cold.\n")},
    ),
    "validation only": (
        edited(('done != "yes"', 'done != "YES"')),
        {"main": (5, "outcome", "success", "error")},
    ),
    "validation earlier": (
        edited(('print(f"Hello', 'assert len(name) > 5\nprint(f"Hello')),
        {name: (2, "outcome", "in_progress", "error") for name in ("main", "blue", "hot")},
    ),
    "validation gone": (
        edited(('        raise Exception("too hot")  #score = 0.7', "        pass")),
        {"hot": (4, "outcome", "error", "in_progress")},
    ),
    "score only": (
        edited(("#score = 0.7", "#score = 0.2")),
        {"hot": (4, "outcome", 0.7, 0.2)},
    ),
    "text of an exception": (
        edited(("too hot", "far too hot")),
        {"hot": (4, "error", None, "far too hot")},
    ),
    "printed text": (
        edited(('"Right."', '"Correct."')),
        {"main": (1, "print", "Right.", "Correct."), "blue": (1, ..., ..., ...), "hot": (1, ..., ..., ...)},
    ),
    "printed text moved behind a question": (
        edited(('print("Last one.")\n', ""), ('"Done? ")\n', '"Done? ")\nprint("Last one.")\n')),
        {"main": (4, "print", "Last one.", None), "blue": (4, ..., ..., ...)},
    ),
    "end of a printed line": (
        edited(('"Warm."', '"Warm.", end=""')),
        {"main": (3, "print", ..., ...), "hot": (3, "print", ..., ...)},
    ),
    "ends early": (
        edited(('print("Last one.")', 'print("Last one.")\nraise SystemExit')),
        {"main": (4, "outcome", "in_progress", "success"), "blue": (4, "outcome", "in_progress", "success")},
    ),
    "asks on": (
        edited(('print("Bye.")', 'print("Bye.")\ninput("More? ")')),
        {"main": (5, "outcome", "success", "in_progress")},
    ),
    "broken": (
        edited(("import random", "import random as")),
        {name: (0, ..., ..., ...) for name in ("main", "blue", "hot")},
    ),
}  # fmt: skip

HARMLESS = {
    "comments": edited(("import random", "import random  # for the sums"), ("    depth", "    # deep\n    depth")),
    "names": edited(("colour = input", "chosen = input"), ("if colour ==", "if chosen ==")),
    "formatting": edited(('check(input(f"{a} + {b} = "), a + b)', "check(\n    input(f'{a} + {b} = '),\n    a + b,\n)")),
    "docstring": edited(('"""Sums and colours."""', '"""All about sums."""')),
    "helper moved": edited(
        ('def check(answer, expected):\n    if int(answer) != expected:\n        raise Exception(f"not {answer}")  #score = 0.5\n', ""),
        ('print("Welcome.")', 'print("Welcome.")\ndef check(answer, expected):\n    if int(answer) != expected:\n        raise Exception(f"not {answer}")  #score = 0.5'),
    ),
    "blank lines": edited(("import random", "\n\n\nimport random\n\n")),
    "type annotations": edited(("def check(answer, expected):", "def check(answer: str, expected: int) -> None:")),
    "concatenation": edited(('print(f"Hello {name}.")', 'print("Hello " + name + ".")')),
    "a helper for asking": edited(('name = input("Your name? ")', 'def ask(text):\n    return input(text)\nname = ask("Your name? ")')),
    "an import that draws nothing": edited(("import random", "import random, math, json")),
    "a score nobody got": edited(("#score = 0.9", "#score = 0.8")),
    "an exception nobody met": edited(("not done", "you are not done")),
    "line endings": edited().replace("\n", "\r\n"),
    "a tag": edited(('"How deep? ")', '"How deep? ")  #textarea #rows=4')),
    "bytes before a comment": "# -*- coding: utf-8 -*-\n" + edited(),
}  # fmt: skip


class Watched(Replayer):
    """Notes each question and the answer it was given."""

    given: set[tuple[str | None, str]]

    def __init__(self) -> None:
        super().__init__()
        self.given = set()

    def extend(self, transcript: Transcript, answer: str) -> Transcript | None:
        self.given.add((transcript.next_prompt, answer))
        return super().extend(transcript, answer)

    def replay(self, script: str | Path | Source, seed: int, inputs: Sequence[str]) -> Transcript:
        run = super().replay(script, seed, inputs)
        self.given |= {(step.prompt, step.input or "") for step in run.steps}
        return run


@pytest.fixture
def watched() -> Iterator[Watched]:
    with Watched() as replayer:
        yield replayer


def verify_branches(path: Path, text: str, replayer: Replayer) -> Found:
    """What is found in a record after an edit of its script."""
    (path.parent / "quiz.py").write_bytes(text.lstrip("\n").encode())
    record = RecordFile(path).read()
    report = drift_report(record, read_source(path.parent / "quiz.py"), replayer)
    assert report.changed
    for branch in report.branches:
        if branch.difference:
            assert len(branch.run.steps) == branch.agreed == branch.difference.step
    found = [(branch.branch, branch.difference) for branch in report.branches]
    return {name: (d.step, d.what, d.a, d.b) for name, d in found if d}


@pytest.mark.parametrize("name", HARMFUL)
def test_a_harmful_edit_is_named_at_the_right_step(
    name: str, build: Build, replayer: Replayer
) -> None:
    text, expected = HARMFUL[name]
    found = verify_branches(recorded(build), text, replayer)
    assert set(found) == set(expected)
    for branch, wanted in expected.items():
        for told, want in zip(found[branch], wanted, strict=True):
            assert want is ... or told == want, (branch, found[branch])


@pytest.mark.parametrize("name", few(HARMFUL, *list(HARMFUL)[::5]))
def test_no_answer_meets_another_question_and_none_is_lost(
    name: str, build: Build, replayer: Replayer, watched: Watched
) -> None:
    path = recorded(build)
    before = RecordFile(path).read()
    lines = {tuple(before.path_of(branch)) for branch in before.names}
    with Session(path, watched) as session:
        for branch in before.names:
            session.switch(branch)
        session.switch("main")
        right = set(watched.given)
    watched.given = set()
    build.script(HARMFUL[name][0])
    with Session(path, watched) as session:
        for branch in session.record.names:
            try:
                session.switch(branch)
            except UsageError as refused:
                assert "which is of an older script: " in str(refused)
        assert watched.given <= right
    after = RecordFile(path).read()
    assert lines <= {tuple(after.path_of(branch)) for branch in after.names}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_edit_passes(name: str, build: Build, replayer: Replayer) -> None:
    path = recorded(build)
    assert verify_branches(path, HARMLESS[name], replayer) == {}
    with Session(path, replayer) as session:
        assert (session.pointer, session.reply().status) == (5, "success")
        assert len(session.warnings) == 1 and "all that it shows is the same" in session.warnings[0]

"""The values of expressions at every step, whatever they do, and the steps at which a line ran."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quizlog_tui.debug import watching
from quizlog_tui.debug.watching import StopWalk, Watched, reads_of, watched
from quizlog_tui.errors import CancelledError, ProtocolError, UsageError
from quizlog_tui.proof.verify import verify
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.script.source import Source
from quizlog_tui.replay.world import World
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.hostile_json import others
from tests.support.long_runs import examples

ROUNDS = """\
    class Player:
        kind, limits = "human", [5]
        def __init__(self): self.points, self.kind = [], "tall"
        def __repr__(self): return f"Player({self.points})"
        @property
        def score(self):
            self.points.append(0)
            return len(self.points)

    def ask(number):
        secret = [number, number * 2]
        word = input(f"word {number}? ")
        secret.append(word)
        return secret, input("more? ")

    player, numbers, items, ratio = Player(), iter(range(100)), [], 1.5
    for number in range(3):
        values, word = ask(number)
        items.append(word)
        ratio *= 2
        player.points.append(next(numbers))
        print(items, player.points)
    raise Exception("wrong at the end")  #score = 0.5
    """
ANSWERS = ("a", "b", "c", "d", "e", "f")
PLAIN = [
    "len(items)",
    "items",
    "ratio > 2",
    "number + len(items) * 2",
    "secret[-1]",
    "nobody",
    "''.join(items)",
    "1 / len(items)",
    "1 if items else None",
    "{'a': items}",
    "max(secret, default=0)",
]
NOT_PLAIN = ["items.append(9)", "next(numbers)", "player.score", "[(a, b) for a in items for b in items]", "player", "print('x')", "values.clear()", "2 ** 3", "exit(3)", "input('x')", "nobody()"]  # fmt: skip


def watch(path: Path, *expressions: str) -> Watched:
    with Session(path) as session:
        return session.watch(*expressions)


def texts(found: Watched) -> list[list[str]]:
    return [[value.error or value.text for value in step.values] for step in found.steps]


def check_values(session: Session, expressions: list[str]) -> None:
    """The values are those that a look at each step finds in a process of its own."""
    found = session.watch(*expressions)
    assert [step.step for step in found.steps] == [*range(len(session.record.inputs) + 1)]
    for step in found.steps:
        for text, value in zip(expressions, step.values, strict=True):
            look = session.evaluate(step.step, text)
            assert (value.text or None) == (look.value and look.value.text), (step.step, text)
            assert value.error == (look.error and look.error.message), (step.step, text)


@pytest.mark.parametrize("expressions", [PLAIN, NOT_PLAIN])
def test_values_are_those_of_a_look_at_each_step(expressions: list[str], build: Build) -> None:
    with Session(build.record(ROUNDS, *ANSWERS)) as session:
        check_values(session, expressions)


LEAVES = [
    "items",
    "number",
    "ratio",
    "secret",
    "player",
    "numbers",
    "word",
    "nobody",
    "0",
    "2",
    "'b'",
    "None",
]
FORMS = ["({} + {})", "({} * {})", "({} < {})", "({} and {})", "{}[{}]", "[{}, {}]", "({} if {} else 1)", "max({}, {})", "({}, next({}))", "[x for x in ({}, {})]", "({} in {})"]  # fmt: skip
EXPRESSIONS = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.builds(
        str.format, st.sampled_from([*FORMS, "len({})", "{}.append(3)"]), inner, inner
    ),
    max_leaves=5,
)


@settings(deadline=None, max_examples=examples(8))
@given(expressions=st.lists(EXPRESSIONS, min_size=1, max_size=3))
def test_no_value_depends_on_what_was_evaluated_before(expressions: list[str]) -> None:
    with TemporaryDirectory() as name:
        path = Build(Path(name), dedent).record(ROUNDS, *ANSWERS[:3])
        with Session(path) as session:
            check_values(session, expressions)


def test_expressions_are_known_to_be_plain_by_their_text() -> None:
    for text in (*PLAIN, "player", "-x // y % 2", "a.strip().count('x')"):
        assert reads_of(text) is not None, text
    for text in (
        "items.append(9)",
        "next(x)",
        "a().b",
        "a[0].b",
        "[x for x in y for y in z]",
        "[[x for x in y] for y in z]",
        "[x async for x in y]",
        "x ** 2",
        "x << y",
        "f'{x}'",
        "lambda: 0",
        "~x",
        "(x := 1)",
        "[*x]",
        "f(x)()",
        "print(x)",
    ):
        assert reads_of(text) is None, text
    assert reads_of("a.b + len(a.c.d)") == {"values": ["a.b"], "sized": ["a.c.d"], "calls": ["len"]}
    assert reads_of("len(a) + len(b + 1)") == {"values": ["b"], "sized": ["a"], "calls": ["len"]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("len(", "len(: not an expression: '(' was never closed at character 4"),
        ("x = 1", "x = 1: not an expression: invalid syntax"),
        ("", "not an expression: invalid syntax"),
        ("\0", "null bytes"),
    ],
)
def test_what_is_no_expression_is_refused_before_anything_runs(
    text: str, said: str, build: Build
) -> None:
    path = build.record("while True: pass")
    walk = StopWalk(Source(path, b""), World(1), Limits(), [])
    with pytest.raises(UsageError) as refused:
        watched(walk, ["1", text])
    assert said in str(refused.value)


def test_numbers_are_plain_and_finite(build: Build) -> None:
    expressions = [
        "True",
        "2.5",
        "10 ** 400",
        "float('nan')",
        "float('-inf')",
        "'3'",
        "Level(3)",
        "10 ** 20",
    ]
    script = "import enum\nclass Level(enum.IntEnum):\n    HIGH = 3\ninput('? ')\n"
    [step] = watch(build.record(script), *expressions).steps
    assert [value.number for value in step.values] == [1, 2.5, None, None, None, None, 3, 10**20]
    assert [type(value.number) for value in step.values[:2]] == [int, float]
    assert step.values[2].text == "<int of 1329 bits>"


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("x = 1\n", ["1"]),
        ("x = 1\nexit(3)\n", ["1"]),
        ("x = 1\nimport os; os._exit(0)\n", ["1"]),
        (
            "x = 1\nimport os; os.kill(os.getpid(), 9)\n",
            ["the script ended before it could be looked at"],
        ),
        ("x = 1\ninput('? ')\nx = 2\n", ["1", "2"]),
    ],
)
def test_the_end_is_a_stop(script: str, status: list[str], build: Build) -> None:
    path = build.record(script)
    walk = StopWalk(
        Source(build.folder / "quiz.py", script.encode()), World(1), Limits(), ["a", "b"]
    )
    assert [one for [one] in texts(watched(walk, ["x"]))] == status
    assert path.is_file()


KEEPS_LOCALS = """\
    class Loud:
        def __del__(self): print("gone")
    def ask():
        kept, one = locals(), Loud()
        kept["word"] = "kept"
        word = input("? ")
        print(kept.get("word"))
    def drop():
        one = Loud()
        word = input("? ")
        one = None
        found.append(len(found))
        input("? ")
    found = []
    ask()
    drop()
    """


@pytest.mark.parametrize(
    "keeps", ["keep = locals", "import sys\n    def keep(): return sys._getframe(1).f_locals"]
)
def test_a_watch_leaves_the_dictionary_that_a_call_holds(keeps: str, build: Build) -> None:
    script = f"""\
    {keeps}
    def ask():
        total = 0
        d = keep()
        for i in range(2):
            input("? ")
            seen = sorted(d)
        input("? ")
    ask()
    """
    found = texts(watch(build.record(script, "a", "b"), "seen"))
    assert found[1:] == [["['total']"]] * 2


def test_a_look_leaves_what_a_script_sees_of_its_own_calls(build: Build) -> None:
    written: list[bytes] = []
    with Session(build.record(KEEPS_LOCALS, "a", "b", "c")) as session:
        walk = session.stop_walk()

        def progress(done: int, of: int) -> None:
            written.append(walk._running[0].output.stdout(0))

        watched(walk, ["word", "found"], progress)
        assert session.transcript.stdout.encode() == written[-1]
        assert written[-2].endswith(b"gone\n? ")


def test_the_steps_of_a_line_are_those_whose_trace_has_it(build: Build) -> None:
    path = build.record(ROUNDS, *ANSWERS)
    with Session(path) as session:
        traced: dict[int, list[int]] = {}
        for step in range(7):
            for line in {event.line for event in session.trace(step).events}:
                traced.setdefault(line, []).append(step)
        file = str(build.folder / "quiz.py")
        found = {line: list(session.steps_of_line(file, line)) for line in range(1, 25)}
        assert {line: steps for line, steps in found.items() if steps} == traced
        assert session.steps_of_line(str(build.folder / "other.py"), 10) == ()


def test_lines_of_files_beside_the_script_have_their_steps(build: Build) -> None:
    beside = build.script("def ask(text):\n    return input(text)\n", "asking.py")
    path = build.record("import asking\nasking.ask('a? ')\nasking.ask('b? ')\n", "x", "y")
    with Session(path) as session:
        assert session.steps_of_line(str(beside), 2) == (0, 1, 2)


WRITES = """\
    import os
    input("a? ")
    input("b? ")
    print(os.path.exists("flag"))
    input("c? ")
    """


def test_what_an_expression_writes_is_not_there_at_later_steps(build: Build) -> None:
    path = build.record(WRITES, "x", "y", "z")
    found = watch(
        path, "open('flag', 'x').write('x') and os.listdir('.')", "os.path.exists('flag')"
    )
    assert {values[1] for values in texts(found)} == {"False"}
    assert {values[0].count("flag") for values in texts(found)} == {1}


HOLDS_A_FILE = """\
    import threading
    words = open("words.txt")
    total = 0
    for word in iter(words.readline, ""):
        total += int(input(word))
    """


def test_a_script_that_cannot_be_copied_is_run_again_for_what_is_not_plain(build: Build) -> None:
    (build.folder / "words.txt").write_text("a\nb\nc\n")
    found = watch(build.record(HOLDS_A_FILE, "1", "2", "3"), "words.readline()", "total")
    assert texts(found) == [["'b\\n'", "0"], ["'c\\n'", "1"], ["''", "3"], ["''", "6"]]


HOSTILE = """\
    import os, signal, sys, threading
    class Endless:
        def __repr__(self):
            while True: pass
    class Clinging:
        def __len__(self):
            while True:
                try:
                    while True: pass
                except BaseException: pass
    endless, clinging = Endless(), Clinging()
    len = lambda value: os._exit(9)
    real = print
    for number in range(3):
        input("? ")
    """


def test_hostile_expressions_have_their_line(build: Build) -> None:
    expressions = ["endless", "os.kill(os.getpid(), 9)", "os._exit(4)", "print('x' * 10**7)", "sys.exit()", "input()", "number", "len([])", "[os.fork() for _ in range(3)]"]  # fmt: skip
    path = build.record(HOSTILE, "a", "b", "c")
    stored = path.read_bytes()
    found = texts(watch(path, *expressions))
    ended = "the script ended before it could be looked at"
    assert found[1][:3] == ["<its repr takes too long>", ended, "SystemExit: 4"]
    assert found[1][3:6] == ["None", "SystemExit", "EOFError: an expression cannot ask"]
    assert found[1][6:8] == ["1", "SystemExit: 9"]
    assert found[1][8]
    assert path.read_bytes() == stored
    assert verify(path).verdict != "diverges"


def test_an_expression_that_takes_too_long_is_given_up(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_PATIENCE", 0.2)
    path = build.record(HOSTILE, "a", "b", "c")
    limits = Limits(seconds=1)
    with Session(path) as session:
        walk = StopWalk(session.source, World(7), limits, session.record.inputs)
        found = texts(watched(walk, ["clinging.__len__()", "number"]))
    assert found[0][0].startswith("the look was ended: ran 1 seconds")
    assert found[1:] == [["given up: it took too long at the steps before", text] for text in "122"]


def test_a_plain_expression_that_takes_too_long_leaves_the_others_their_values(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_PATIENCE", 0.2)
    long = "[x for x in 'c' * 200000000 if x * 9 < x]"
    assert reads_of(long) is not None
    with Session(build.record(HOSTILE, "a", "b", "c")) as session:
        walk = StopWalk(session.source, World(7), Limits(seconds=2), session.record.inputs)
        found = texts(watched(walk, [long, "number"]))
    assert found[0] == [found[0][0], "0"]
    assert found[0][0].startswith(("the look was ended: ran 2", "it takes longer than 5"))
    given_up = "given up: it took too long at the steps before"
    assert found[1:] == [[given_up, text] for text in "122"]


def test_a_watch_leaves_the_alarm_that_a_script_has_set(build: Build) -> None:
    script = """\
    import signal
    signal.setitimer(signal.ITIMER_REAL, 5000)
    for number in range(2):
        input("? ")
        armed = signal.getitimer(signal.ITIMER_REAL)[0] > 0
    input("? ")
    """
    found = texts(watch(build.record(script, "a", "b"), "number", "armed"))
    assert [step[1] for step in found[1:]] == ["True", "True"]


def test_a_walk_is_cancelled_while_an_expression_runs(build: Build) -> None:
    with Session(build.record(HOSTILE, "a", "b", "c")) as session:
        walk = session.stop_walk()

        def progress(done: int, of: int) -> None:
            threading.Timer(0.1, walk.cancel).start()

        with pytest.raises(CancelledError):
            watched(walk, ["number == 1 and clinging.__len__()"], progress)
        assert not walk._running


VALUES = {"values": [{"text": "1", "number": 1, "error": None}, {"text": "", "number": None, "error": "no"}, None]}  # fmt: skip


def test_forged_values_are_bounded_or_refused(tmp_path: Path) -> None:
    source, taken = Source(tmp_path / "quiz.py", b""), 0
    for text in others(VALUES):
        try:
            found = watching._values(text, 3, 0, source)
        except ProtocolError as error:
            assert "\n" not in str(error)
            continue
        taken += 1
        for value in found:
            assert value is None or len(value.text) <= 200
            assert value is None or len(value.error or "") <= 200
            json.dumps(value and value.number, allow_nan=False)
    assert taken > 10


def test_forged_lines_are_bounded_or_refused(tmp_path: Path) -> None:
    source, taken = Source(tmp_path / "quiz.py", b""), 0
    for text in others({"lines": [["", 1], ["other.py", 2]]}):
        try:
            found = watching._lines(text, 0, source)
        except ProtocolError as error:
            assert "\n" not in str(error)
            continue
        taken += 1
        assert all(0 <= line < 2**31 for _, line in found)
    assert taken > 3


ODD_OBJECTS = """\
    called = []
    class Slotted:
        __slots__ = ("points",)
        def __init__(self): self.points = 1
    class Answering:
        def __getattr__(self, name): called.append(name); return 2
    class Watching:
        points = 3
        def __getattribute__(self, name): called.append(name); return 3
    class Own:
        def __init__(self): self.points = 4
        @property
        def __dict__(self): called.append("dict"); return {}
    class Descriptor:
        def __get__(self, one, kind): called.append("get"); return 5
    class Described:
        points = Descriptor()
    class Meta(type):
        def __getattribute__(kind, name): called.append(name); return type.__getattribute__(kind, name)
    class Odd(metaclass=Meta):
        points = 6
    objects = Slotted(), Answering(), Watching(), Own(), Described(), Odd()
    one, two, three, four, five, six = objects
    import math
    called.clear()
    for number in range(2):
        input("? ")
    """


def test_no_code_of_an_object_runs_for_its_attributes(build: Build) -> None:
    names = ["one", "two", "three", "four", "five", "six"]
    path = build.record(ODD_OBJECTS, "a", "b")
    found = texts(watch(path, *(f"{name}.points" for name in names), "math.pi", "called"))
    assert found == [["1", "2", "3", "4", "5", "6", "3.141592653589793", "[]"]] * 3

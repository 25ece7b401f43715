"""An answer that ran as code is always seen, and one of literals and arithmetic is none."""

from __future__ import annotations

import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.errors import CancelledError, LimitError
from quizlog_tui.proof.verify import verify
from quizlog_tui.replay.live_run import answers_run, is_code, used_names
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.process.protocol import CodeRun
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.session.session import Session
from quizlog_tui.session.timeline import timeline
from tests.support.build import Build
from tests.support.long_runs import few

numbers = (
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none()
)
literals = st.recursive(
    numbers | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner),
)


@given(literals)
def test_literals_are_no_code(value: object) -> None:
    assert not is_code(repr(value))


@given(st.integers(), st.sampled_from("+-*/%@"), st.integers(1, 9))
def test_arithmetic_is_no_code(left: int, sign: str, right: int) -> None:
    assert not is_code(f"({left} {sign} {right}) ** 2")


@pytest.mark.parametrize(
    "answer",
    ["x", "f()", "a.b", "[i for i in (1,)]", "lambda: 0", "x := 1", "x = 1", "import os", "f'{x}'", "1 if 1 else 2",
     "__import__('os')", "a[0]", "(yield)", "1 < 2", "True and 1", "x" * 20_000 + "()"],
)  # fmt: skip
def test_everything_else_is_code(answer: str) -> None:
    assert is_code(answer)


def test_free_text_is_no_code_unless_it_calls_or_assigns() -> None:
    assert not is_code("the quick brown fox")
    assert used_names("see os.path or len(x)") == {"path", "len"}


def ran(source: str, *names: str, where: str = "script", used: int = 9) -> CodeRun:
    return CodeRun(used, where, list(names), source)  # type: ignore[arg-type]


def test_which_answers_ran_is_decided_by_their_text() -> None:
    answers = ["4", "len('abc')", "the name", "name", "__import__('os')"]
    run = lambda code, script="": list(answers_run(code, answers, script))  # noqa: E731
    assert run(ran("len('abc')", "len")) == [1]
    assert run(ran("  LEN( 'abc' ) + 1", "len")) == [1]
    assert run(ran("", "len")) == [1]
    assert run(ran("", "__import__", "_exit", where="package")) == [4]
    assert run(ran("Symbol('x')", "Symbol", where="package")) == []
    assert run(ran("name", "name")) == [3]
    assert run(ran("def f(name): return name", "name", where="library")) == []
    assert run(ran("name", "name"), "exec('name')") == []
    assert run(ran("len('abc')", "len", used=1)) == []


EVALUATES = "import os, sys\nwhile True:\n    print(eval(input('? ')))\n"
ENDS = [
    "__import__('os')._exit(0)", "exit(0)", "quit()", "sys.exit()", "(_ for _ in ()).throw(SystemExit)",
    "os.execv('/bin/true', ['true'])", "__import__('ctypes').CDLL(None)._exit(0)", "exec('raise SystemExit')",
]  # fmt: skip


@pytest.mark.parametrize("answer", few(ENDS, *ENDS[::2]))
def test_an_answer_that_ends_the_script_has_not_finished_it(build: Build, answer: str) -> None:
    found = replay(build.script(EVALUATES), 1, ["4", answer])
    assert (found.status, found.score) == ("error", 0.0)
    assert found.last_error is not None
    assert found.last_error.message == "answer 1 ran as code and ended the script"
    assert found.code_answers == {1}
    assert "code" in found.observed


@pytest.mark.parametrize(
    "end", few(["sys.exit(0)", "exit(0)", "os._exit(0)", "raise SystemExit", "exec('exit(0)')"])
)
def test_a_scripts_own_exit_stays_what_it_is(build: Build, end: str) -> None:
    script = build.script(f"import os, sys\nx = eval(input('? '))\n{end}\n")
    found = replay(script, 1, ["4"])
    assert (found.status, found.score, found.code) == ("success", 1.0, ())
    found = replay(script, 1, ["len('abc')"])
    assert found.code_answers == {0}


WAYS = {
    "eval": "print(eval(input('? ')))",
    "exec": "exec(input('? '))",
    "compile": "c = compile(input('? '), 'answer', 'eval')\nprint(eval(c))",
    "ast": "import ast\nt = ast.parse(input('? '), mode='eval')\nprint(eval(compile(t, 'x', 'eval')))",
    "changed": "print(eval('(' + input('? ').strip().replace('^', '**') + ')'))",
    "later": "a = input('? ')\ninput('more? ')\nprint(eval(a))",
    "in a function": "def f():\n    return eval(input('? '))\nprint(f())",
    "in a thread": "import threading\na = input('? ')\nt = threading.Thread(target=lambda: print(eval(a)))\n"
    "t.start()\nt.join()",
    "by a module": "import code\ncode.InteractiveInterpreter().runsource(input('? '))",
    "by timeit": "import timeit\ntimeit.timeit(input('? '), number=1)",
    "written and imported": "open('m.py', 'w').write(input('? '))\nimport m",
    "hidden": "print(eval(input('? ')))",
}


@pytest.mark.parametrize("way", WAYS)
def test_however_an_answer_is_run_it_is_seen(build: Build, way: str) -> None:
    answer = "len(str(4))"
    if way == "hidden":
        answer = "[setattr(__import__('sys').stdout.log.code, '_ran', set()), len(str(4))]"
    script = build.script(f"{WAYS[way]}\ninput('last? ')\n")
    assert replay(script, 1, [answer, "1", "2"]).code_answers == {0}
    assert replay(script, 1, ["4", "1", "2"]).code == ()


QUIET = {
    "literal_eval": "import ast\nprint(ast.literal_eval(input('? ')))",
    "int": "print(int(input('? ')))",
    "named tuples": "import collections\nx = input('? ')\nprint(collections.namedtuple('N', 'name len')(1, 2))",
    "dataclasses": "import dataclasses\nx = input('? ')\n@dataclasses.dataclass\nclass A:\n    name: str\nprint(A('x'))",
    "a late import": "x = input('? ')\nimport statistics\nprint(statistics.mean([1]))",
    "own code": "x = input('? ')\nexec('y = len(str(1))')\nprint(y)",
}


@pytest.mark.parametrize("way", few(QUIET, "literal_eval", "named tuples", "own code"))
def test_what_runs_no_answer_accuses_none(build: Build, way: str) -> None:
    script = build.script("try:\n" + "".join(f"    {line}\n" for line in QUIET[way].splitlines()) +
                          "except (ValueError, SyntaxError):\n    pass\ninput('last? ')\n")  # fmt: skip
    for answer in ("len(str(1))", "name", "the name of len", "4"):
        assert replay(script, 1, [answer, "2"]).code == ()


@pytest.mark.skipif(sys.platform != "linux", reason="checkpoints need Linux")
def test_marks_are_the_same_with_checkpoints_and_without(build: Build) -> None:
    script = build.script(EVALUATES)
    inputs = ["1", "len('a')", "2", "str(3)", "4"]
    with Replayer() as replayer:
        for count in (5, 2, 4, 1, 3, 5):
            kept = replayer.replay(script, 1, inputs[:count])
            assert kept.code == replay(script, 1, inputs[:count]).code
            assert kept.upto(count - 1).code == replay(script, 1, inputs[: count - 1]).code


def test_a_step_that_ran_as_code_is_marked_wherever_it_is_shown(build: Build) -> None:
    record = build.record(EVALUATES)
    with Session(record) as session:
        session.answer("1")
        session.answer("len('abc')")
        moments = timeline(session.transcript, session.record)
        assert [moment.code for moment in moments] == [False, True, False]
        assert 1 in moments.marked
    verdict = verify(record)
    assert verdict.verdict == "reproducible"
    assert "note: an answer ran as code" in "\n".join(verdict.remarks)


ENDLESS = {
    "code": "while True: eval('1')",
    "channel": """
import os
while True: os.write(100, b'\\x0c\\0\\0\\0["straying"]')
""",
}


@pytest.mark.parametrize("way", ENDLESS)
def test_messages_without_end_put_no_limit_off(way: str, build: Build) -> None:
    script = build.script(f"input('? ')\n{ENDLESS[way]}")
    with (
        Replayer(Limits(seconds=0.5), checkpoints=0) as replayer,
        pytest.raises(LimitError, match="without asking"),
    ):
        replayer.replay(script, 1, ["4"])


def test_a_script_that_runs_code_without_end_can_be_cancelled(build: Build) -> None:
    script = build.script(f"input('? ')\n{ENDLESS['code']}")
    with Replayer(Limits(seconds=60), checkpoints=0) as replayer:
        replayer.replay(script, 1, [])
        threading.Timer(0.2, replayer.cancel).start()
        with pytest.raises(CancelledError):
            replayer.replay(script, 1, ["4"])

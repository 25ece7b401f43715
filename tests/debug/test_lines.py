"""Lines are noted alike by `sys.settrace` and `sys.monitoring`, whose number is given back."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.debug import lines, marks, values
from quizlog_tui.debug.inspection import ValuePath
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.interpreters import VERSIONS, make_environment, python_of
from tests.support.long_runs import few

COMPARE = """
import json, sys, threading
names = {}
for path in sys.argv[1:]:
    exec(compile(open(path).read(), path, "exec"), names)

def traced(text, *, whole, settrace):
    real = names["_free_tool"]
    if settrace:
        names["_free_tool"] = lambda: None
    found = names["LineTrace"](
        lambda path: "" if path == "quiz.py" else None, lambda code: False
    )
    found.begin([], whole=whole)
    try:
        exec(compile(text, "quiz.py", "exec"), {"__name__": "__main__"})
    except Exception:
        pass
    found.end()
    names["_free_tool"] = real
    return found.events, [line for _, line in found.lines], found.truncated

results, texts = [], json.loads(sys.stdin.read())
for text in texts:
    for whole in (True, False):
        results.append([traced(text, whole=whole, settrace=one) for one in (True, False)])
tools = [sys.monitoring.get_tool(one) for one in range(6)]
first = json.loads(json.dumps(results[0][0]))
alike = []
for one in range(6):  # a script may hold some numbers, or all
    sys.monitoring.use_tool_id(one, "other")
    found = traced(texts[0], whole=True, settrace=False)
    alike.append(json.loads(json.dumps(found)) == first)
held = [sys.monitoring.get_tool(one) for one in range(6)]
print(json.dumps([results, tools, alike, held]))
"""
TEXTS = [
    "total = 0\nfor i in range(4):\n    total += i\nelse:\n    done = True\n",
    "x = 5\nwhile x: x -= 1\nfor y in range(3): x += y\n",
    "def f(n):\n    return n and f(n - 1) + [n]\nfound = f(5)\ndel found\nfound = f(0)\n",
    "def g():\n    try:\n        yield 1\n        yield 2\n    finally:\n        x = 3\n"
    "for a in g():\n    if a == 2: break\nb = g(); next(b); b.close()\nc = list(g())\n",
    "def g():\n    while True:\n        try:\n            got = yield 1\n        except KeyError:\n            got = 0\n"
    "b = g(); next(b); b.send(4); b.throw(KeyError('x')); b.close()\n",
    "def f():\n    try:\n        1 / 0\n    except ZeroDivisionError as error:\n        raise ValueError('x') from error\n"
    "try:\n    f()\nexcept ValueError: caught = 1\nf()\n",
    "import json\nfound = json.loads('[1, {\"a\": 2}]')\nok = json.dumps(found)\ntry:\n    json.loads('[')\nexcept ValueError:\n    ok = 0\n",
    "import asyncio\nasync def a(n):\n    await asyncio.sleep(0)\n    return n\n"
    "async def main():\n    x = await a(1)\n    y = await asyncio.gather(a(2), a(3))\n    return [x, *y]\nz = asyncio.run(main())\n",
    "import threading\ndef work():\n    for i in range(5):\n        seen.append(i)\nseen = []\n"
    "t = threading.Thread(target=work, name='t', daemon=True)\nt.start(); t.join(); del t\nwork()\n",
    "class A:\n    x = 1\n    def __init__(self):\n        self.y = [n for n in range(3)]\n    def __repr__(self):\n        return f'A{self.y}'\n"
    "a = A()\na.y.append(4)\nb = a\nb.y = 3\nf = lambda: a\nf()\n",
    "def outer():\n    n = 0\n    def inner():\n        nonlocal n\n        n += 1\n        return n\n    return [inner() for _ in range(3)]\nouter()\n",
    "with open('/dev/null') as file:\n    for line in file:\n        pass\nmatch 3:\n    case 3:\n        y = 1\n    case _:\n        y = 2\n",
    "x = (1,\n     2,\n     [str(3),\n      len('x')])\nassert x, \\\n    'no'\nexec('q = 1\\nw = 2')\n",
    "total = 0\ndef f():\n    global total\n    total += 1\n    return other(total)\ndef other(n):\n    return [n] * n\nv = w = f(); v.append(9)\n",
    "n = 0\nfor n in range(60_000):\n    n += 1\n",
]  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS[VERSIONS.index("3.12") :])
def test_both_ways_to_see_lines_note_the_same(version: str) -> None:
    command = [str(python_of(version)), "-c", COMPARE, *map(_path, (values, marks, lines))]
    ran = subprocess.run(
        command, input=json.dumps(TEXTS), capture_output=True, text=True, check=True
    )
    results, tools, alike, held = json.loads(re.sub(" at 0x[0-9a-f]+", "", ran.stdout))
    for at, (old, new) in enumerate(results):
        assert new == old, TEXTS[at // 2]
    assert [bool(events) for (events, _, _), _ in results] == [True, False] * len(TEXTS)
    assert results[-2][0][2]
    assert tools == [None] * 6
    assert (alike, held) == ([True] * 6, ["other"] * 6)


QUIZ = """
import json
class Pair:
    __slots__ = ("left", "right")
    def __init__(self, left):
        self.left = left
    def __repr__(self): return "pair"
def ask(number):
    pair = Pair(json.loads("[1]"))
    return input(f"{number}? "), pair
found = {}
for number in range(2):
    word, found[number] = ask(number)
raise ValueError(word) from KeyError("k")
"""


@pytest.mark.parametrize("version", few(VERSIONS, "3.9", "3.12"))
def test_a_look_is_alike_under_each_version(version: str, build: Build) -> None:
    make_environment(python_of(version), build.folder / ".venv")
    with Session(build.record(QUIZ, "a")) as session:
        events = [(one.line, one.depth, one.changed) for one in session.trace().events]
        found = session.inspect(
            opened=[ValuePath(None, "found", (0,)), ValuePath(0, "pair"), ValuePath(1, "nowhere")]
        )
        session.answer("b")
        error = session.inspect().error
    assert events == [
        (9, 1, {}),
        (12, 0, {"word": "'a'", "found": "{0: pair}"}),
        (11, 0, {"number": "1"}),
        (12, 0, {}),
        (8, 1, {"pair": "pair"}),
        (5, 2, {"self": "__main__.Pair, changed inside"}),
        (9, 1, {}),
    ]
    assert [line for _, line in found.lines] == [11, 12, 8, 5, 9]
    new = [(one.frame, one.name) for one in found.changed.new]
    assert sorted(new, key=str) == [(0, "number"), (0, "pair"), (None, "word")]
    assert [one.name for one in found.changed.changed] == ["found", "number"]
    first, second, third = found.opened
    assert [(one.name, one.text) for one in first.children] == [(".left", "[1]")]
    assert second.children == first.children
    assert third.error == "NameError: name 'nowhere' is not defined"
    assert error and error.cause
    assert (error.type, error.cause.type, error.relation) == ("ValueError", "KeyError", "cause")


def _path(module: Any) -> str:
    return str(Path(module.__file__))

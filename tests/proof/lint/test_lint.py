"""Reading a script without running it: questions, endings, traps."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.files.paths import shipped
from quizlog_tui.proof.lint.check import lint
from quizlog_tui.proof.lint.findings import LintReport
from quizlog_tui.replay.script.source import Source, read_source
from tests.support.build import Build
from tests.support.corpus import CORPUS


def linted(text: str) -> LintReport:
    return lint(Source(Path("/q/quiz.py"), dedent(text).lstrip("\n").encode()))


TRAPS = {
    "bare-except": [
        "while True:\n    try:\n        int(input('n '))\n        break\n    except:\n        print('no')\n",
        "try:\n    x = input()\nexcept Exception:\n    x = ''\n",
        "try:\n    x = input()\nexcept (ValueError, BaseException) as e:\n    x = ''\n",
    ],
    "own-seed": [
        "import random\nrandom.seed(7)\n",
        "import numpy as np\nnp.random.seed(0)\n",
        "from random import seed as start\nstart(1)\n",
        "from numpy.random import default_rng\nrng = default_rng(seed=5)\n",
        "from random import *\nseed(3)\n",
    ],
    "clock": [
        "import time\nprint(time.time())\n",
        "from datetime import datetime\nprint(datetime.now())\n",
        "import datetime as dt\nprint(dt.datetime.now(), dt.date.today())\n",
        "from time import strftime\nprint(strftime('%H'))\n",
        "import pandas as pd\nprint(pd.Timestamp.now())\n",
    ],
    "thread": [
        "import threading\nthreading.Thread(target=print).start()\n",
        "from concurrent.futures import ThreadPoolExecutor as Pool\nPool()\n",
        "import multiprocessing as mp\nmp.Pool(2)\n",
    ],
    "process": ["import subprocess\nsubprocess.run(['ls'])\n", "import os\nos.system('ls')\n"],
    "eval-input": [
        "eval(input('n '))\n",
        "n = input('n ')\nprint(eval(n))\n",
        "a, b = input().split(), 1\nexec(a[0])\n",
        "if (n := input()):\n    eval(n + '1')\n",
    ],
    "write": [
        "open('x', 'w').write('1')\n",
        "with open('x', mode='a') as f:\n    pass\n",
        "from pathlib import Path\nPath('x').write_text('1')\n",
        "p = x / 'y'\np.write_bytes(b'')\n",
        "import os\nos.makedirs('x')\n",
        "import numpy as np\nnp.save('x', [1])\n",
    ],
    "network": [
        "import requests\n",
        "from urllib.request import urlopen\n",
        "import http.client\n",
    ],
    "argv": [
        "import sys\nn = int(sys.argv[1])\n",
        "from sys import argv\nprint(argv[2])\n",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('n', type=int)\n",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', required=True)\n",
    ],
    "address": ["print(id(print))\n", "input(f'{id(x):x}? ')\n"],
    "unseeded": ["import os\nos.urandom(4)\n", "import uuid\nprint(uuid.uuid4())\n"],
    "environment": ["import os\nprint(os.environ['HOME'])\n", "import os\nos.getenv('X')\n"],
    "score": [
        "raise Exception('x')  #score = 1.5\n",
        "raise Exception('x')  #score = half\n",
        "raise Exception('x')  #score 0.5\n",
        "raise Exception('x')  # score: 0.5\n",
    ],
    "syntax": ["print('a'\n", "if x ==\n", "\0"],
}


@pytest.mark.parametrize(("code", "text"), [(c, t) for c, texts in TRAPS.items() for t in texts])
def test_each_trap_is_found_and_told_how_to_mend(code: str, text: str) -> None:
    found = linted(text).traps
    assert {trap.code for trap in found} == {code}
    assert all(trap.line and trap.reason and trap.mend for trap in found)


@pytest.mark.parametrize(
    "text",
    [
        "while True:\n    try:\n        int(input('n '))\n        break\n    except ValueError:\n        pass\n",
        "try:\n    input()\nexcept:\n    raise Exception('x')\n",
        "try:\n    int(x)\nexcept:\n    pass\ninput()\n",
        "import random\nrandom.seed()\nrandom.Random()\nrandom.random()\n",
        "import numpy as np\nrng = np.random.default_rng()\n",
        "import time\nprint(time.strptime)\n",
        "import time\nprint('wait')\ntime.sleep(1)\n",
        "from time import *\nprint(ctime(0), gmtime(5))\nsleep(1)\n",
        "import time\nprint(time.strftime('%H', time.strptime('12', '%H')))\n",
        "n = eval('1 + 1')\nx = input()\n",
        "print(open('data.csv').read(), open('x', 'rb'))\n",
        "import sys\nn = sys.argv[1] if len(sys.argv) > 1 else '3'\nprint(sys.argv[0], sys.argv[1:])\n",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', default=3)\np.add_argument('m', nargs='?')\n",
        "def open(a, b): return 1\nopen('x', 'w')\ndef eval(x): return 1\neval(input())\n",
        "class Clock:\n    def time(self): return 1\ntime = Clock()\nprint(time.time())\n",
        "import json\nprint(json.loads(input()))\nraise Exception('x')  #score = 0.5\n",
        "if False:\n    import requests\n    open('x', 'w')\n",
        "def unused():\n    eval(input())\n",
        "seen = {id(print)}\nprint(id in seen)\n",
        "x = 1  # score 0.5 for a try\ny = 2  # score\nz = 3  # the score 3\n",
    ],
)
def test_what_is_no_trap_is_not_called_one(text: str) -> None:
    assert linted(text).traps == ()


def test_questions_with_lines_kinds_and_tags() -> None:
    found = linted(
        """
        import sys, asyncio, getpass
        name = input("Name? ")
        n = int(input(f"{name}, how many? "))
        m = input("Matrix " + name + ": ")  #matrix #rows=3
        secret = getpass.getpass("Secret: ")
        line = sys.stdin.readline()
        for line in sys.stdin: pass
        asyncio.to_thread(input, "later? ")
        input()
        input(name)
        def asks():
            return input("never? ")
        """
    ).questions
    assert [(q.line, q.prompt, q.input_type, q.tags) for q in found] == [
        (2, "Name? ", "text", ()),
        (3, "{name}, how many? ", "integer", ()),
        (4, "Matrix {...}: ", "matrix", ("matrix", "rows=3")),
        (5, "Secret: ", "text", ()),
        (6, None, "text", ()),
        (7, None, "text", ()),
        (8, "later? ", "text", ()),
        (9, "", "text", ()),
        (10, None, "text", ()),
    ]


def test_questions_asked_by_prompt_libraries() -> None:
    found = linted(
        """
        import click, questionary, rich.prompt
        from questionary import select
        from rich.prompt import Confirm, IntPrompt, Prompt as Ask
        Ask.ask("Name", default="nobody")
        IntPrompt.ask(default=3, prompt="Age")
        rich.prompt.FloatPrompt.ask("Height")
        Confirm.ask("Right?")
        click.prompt("City", type=str)
        click.confirm(text="Sure?", default=True)
        questionary.text("Colour?").ask()
        select(message="Which?", choices=["a", "b"]).unsafe_ask()
        questionary.text("never asked")
        """
    ).questions
    assert [(q.line, q.prompt) for q in found] == [
        (4, "Name"),
        (5, "Age"),
        (6, "Height"),
        (7, "Right?"),
        (8, "City"),
        (9, "Sure?"),
        (10, "Colour?"),
        (11, "Which?"),
    ]


def test_a_handler_that_takes_everything_around_a_library_question_is_a_trap() -> None:
    text = "import click\ntry:\n    click.prompt('n')\nexcept Exception:\n    pass\n"
    assert [trap.code for trap in linted(text).traps] == ["bare-except"]


@pytest.mark.parametrize("comment", ["#score 0.5", "# score: 0.5  #text", "#text #score 0.5"])
def test_a_score_without_its_sign_is_told_how_to_be_written(comment: str) -> None:
    (trap,) = linted(f"raise Exception('x')  {comment}\n").traps
    assert trap.reason in ("`#score 0.5` is no score", "`# score: 0.5` is no score")
    assert trap.mend == "write `#score = 0.5`"


def test_endings_that_can_be_reached_with_their_scores() -> None:
    found = linted(
        """
        def check(x):
            if x:
                raise Exception(f"no {x}")  #score = 0.3
            return 1
            raise Exception("after return")  #score = 0.9
        def unused():
            raise Exception("nobody calls")  #score = 0.9
        check(input())
        try:
            raise ValueError("caught")  #score = 0.9
        except ValueError:
            pass
        try:
            raise KeyError("not caught")
        except ValueError:
            raise Exception("in a handler")  # score(0.4)
        assert input() == "x", "said"  #score=0.6
        if 0:
            raise Exception("never")  #score = 0.9
        """
    ).endings
    assert [(e.line, e.score, e.scored) for e in found] == [
        (3, 0.3, True),
        (14, 0.0, False),
        (16, 0.4, True),
        (17, 0.6, True),
    ]
    assert found[0].message == "Exception(f'no {x}')"


def test_exits_that_say_what_went_wrong_are_endings() -> None:
    found = linted(
        """
        import sys
        if input():
            sys.exit("no")  #score = 0.3
        try:
            exit(f"no {1}")
            sys.exit(2)
        except Exception:
            quit(0)
        try:
            sys.exit("caught")
        except SystemExit:
            print()
        sys.exit()
        sys.exit(main())
        """
    ).endings
    assert [(e.line, e.message, e.score) for e in found] == [
        (3, "sys.exit('no')", 0.3),
        (5, "exit(f'no {1}')", 0.0),
        (6, "sys.exit(2)", 0.0),
    ]


def test_the_shipped_examples_have_no_traps() -> None:
    scripts = sorted(shipped("records").glob("*/quiz.py"))
    assert len(scripts) == 4
    for script in scripts:
        report = lint(read_source(script))
        assert report.traps == () and report.questions and report.endings


@pytest.mark.parametrize("name", CORPUS)
def test_every_kind_of_script_can_be_linted(name: str) -> None:
    report = linted(CORPUS[name][0])
    codes = {trap.code for trap in report.traps}
    expected = {
        "bare except": {"bare-except"},
        "eval input": {"eval-input"},
        "thread": {"thread"},
        "syntax error": {"syntax"},
        "asyncio executor": {"thread"},
        "subprocess": {"process"},
        "multiprocessing": {"thread"},
        "forked child": {"thread"},
        "signal death": {"environment"},
        "signal death later": {"environment"},
    }
    assert codes == expected.get(name, set())


@given(
    st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "ignore"))
)
def test_lint_never_fails_whatever_the_file_holds(data: bytes) -> None:
    lint(Source(Path("/q/quiz.py"), data))


def test_a_deeply_nested_script_is_told_and_not_followed() -> None:
    assert linted("x = " + "1 + " * 20_000 + "1\nprint(input(" + "''+" * 20_000 + "''))\n").traps


READS_ITSELF = {
    "a stream of an event loop": """
        import asyncio, sys
        async def main():
            loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
            name = (await reader.readline()).decode()  # asks
            age = await asyncio.wait_for(reader.readuntil(b"."), 3)  # asks
            async for line in reader: print(line)  # asks
            program = await asyncio.create_subprocess_exec("true", stdout=-1)
            await program.stdout.readline()
        asyncio.run(main())
        """,
    "a stream that belongs to no standard input": """
        import asyncio
        async def main():
            reader, _ = await asyncio.open_connection("localhost", 80)
            print(await reader.readline())
        asyncio.run(main())
        """,
    "a callback of an event loop": """
        import asyncio, os, sys
        loop = asyncio.new_event_loop()
        loop.add_reader(0, lambda: print(os.read(sys.stdin.fileno(), 99)))  # asks
        loop.run_forever()
        """,
    "a method handed over": """
        import asyncio, sys
        asyncio.to_thread(sys.stdin.readline)  # asks
        for line in iter(sys.stdin.readline, ""): pass  # asks
        [line for line in sys.stdin]  # asks
        """,
    "copies of the descriptor": """
        import os
        other = os.fdopen(os.dup(0))
        other.readline()  # asks
        with open("/dev/stdin") as again: again.read()  # asks
        open(0).readline()  # asks
        open("file").read(), os.read(3, 9), open(False).read()
        """,
}


@pytest.mark.parametrize("case", READS_ITSELF)
def test_questions_are_found_where_standard_input_is_read_itself(build: Build, case: str) -> None:
    source = read_source(build.script(READS_ITSELF[case]))
    lines = source.data.decode().splitlines()
    asking = [number for number, line in enumerate(lines, 1) if "# asks" in line]
    assert [question.line for question in lint(source).questions] == asking

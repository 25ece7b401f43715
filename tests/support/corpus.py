"""Quiz scripts of every shape, each with answers that bring it to its end.

A script is (source, answers). They are compared with a plain interpreter byte for byte.
"""

from __future__ import annotations

from textwrap import dedent


def _script(text: str) -> str:
    return dedent(text).lstrip("\n")


CORPUS: dict[str, tuple[str, list[str]]] = {
    name: (_script(source), answers)
    for name, (source, answers) in {
        "nested functions": (
            """
            def outer(name):
                def inner():
                    return input(f"{name}? ")
                return inner()
            print(outer("a"), outer("b"))
            """,
            ["1", "2"],
        ),
        "classes": (
            """
            class Quiz:
                def __init__(self):
                    self.answers = []
                def ask(self, text):
                    self.answers.append(input(text))
                    return self
                def __str__(self):
                    return "-".join(self.answers)
            print(Quiz().ask("x ").ask("y "))
            """,
            ["p", "q"],
        ),
        "generators": (
            """
            def questions():
                for i in range(3):
                    yield input(f"{i}: ")
            for answer in questions():
                print("got", answer)
            """,
            ["a", "b", "c"],
        ),
        "recursion": (
            """
            def down(n):
                if n == 0:
                    return []
                return [input(f"{n}> ")] + down(n - 1)
            print(down(4))
            """,
            ["1", "2", "3", "4"],
        ),
        "retry loop": (
            """
            while True:
                if input("2+2? ") == "4":
                    break
                print("again")
            print("done")
            """,
            ["3", "5", "4"],
        ),
        "bare except": (
            """
            for _ in range(2):
                try:
                    value = input("n? ")
                    print(int(value))
                except:
                    print("bad")
            """,
            ["x", "7"],
        ),
        "try finally": (
            """
            try:
                input("a ")
            finally:
                print("cleaned")
                input("b ")
            """,
            ["1", "2"],
        ),
        "eval input": ("print(eval(input('expr: ')) + 1)\n", ["[1, 2][1] * 20"]),
        "thread": (
            """
            import threading
            def work():
                print("hello", input("name? "))
            t = threading.Thread(target=work)
            t.start(); t.join()
            print("joined")
            """,
            ["Ada"],
        ),
        "asyncio executor": (
            """
            import asyncio
            async def main():
                loop = asyncio.get_running_loop()
                a = await loop.run_in_executor(None, input, "first ")
                b = await asyncio.to_thread(input, "second ")
                print(a, b)
            asyncio.run(main())
            """,
            ["1", "2"],
        ),
        "cmd": (
            """
            import cmd
            class Shell(cmd.Cmd):
                prompt = "(q) "
                def do_add(self, line):
                    print(sum(map(int, line.split())))
                def do_quit(self, line):
                    return True
            Shell().cmdloop("welcome")
            """,
            ["add 1 2", "nope", "quit"],
        ),
        "cmd without raw input": (
            """
            import cmd
            class Shell(cmd.Cmd):
                use_rawinput = False
                def do_quit(self, line):
                    return True
            Shell().cmdloop()
            """,
            ["quit"],
        ),
        "getpass": (
            """
            import getpass
            print(len(getpass.getpass("Secret: ")))
            """,
            ["hunter2"],
        ),
        "stdin readline": (
            """
            import sys
            sys.stdout.write("name? ")
            sys.stdout.flush()
            line = sys.stdin.readline()
            print(repr(line))
            print(repr(input("mixed ")))
            """,
            ["Bob", "two"],
        ),
        "stdin iteration": (
            """
            import sys
            for line in sys.stdin:
                print("line", line.strip())
                if line.strip() == "end":
                    break
            """,
            ["one", "two", "end"],
        ),
        "stdin buffer": (
            "import sys\nprint(sys.stdin.buffer.readline())\nprint(sys.stdin.read(2))\n",
            ["bytes", "text"],
        ),
        "descriptor zero": (
            "import os\nprint(os.read(0, 4))\nprint(open(0).readline())\n",
            ["raw", "opened"],
        ),
        "fileinput": (
            """
            import fileinput
            for line in fileinput.input():
                print(line, end="")
                if "end" in line:
                    break
            """,
            ["x", "end"],
        ),
        "print options": (
            """
            import sys
            print("a", "b", sep="-", end="!")
            print()
            print("err", file=sys.stderr)
            print("out", file=sys.stdout, flush=True)
            print(*range(3), sep="\\n")
            print(end="no newline")
            input()
            """,
            ["x"],
        ),
        "logging": (
            """
            import logging, sys
            logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(message)s")
            logging.info("start")
            print("between")
            logging.warning(input("w? "))
            """,
            ["careful"],
        ),
        "descriptor writes": (
            """
            import os
            print("one")
            os.write(1, b"raw\\n")
            input("? ")
            print("two")
            os.write(1, b"raw again\\n")
            """,
            ["x"],
        ),
        "subprocess": (
            """
            import subprocess
            print("before")
            subprocess.run(["echo", "child"])
            print("after")
            input("? ")
            subprocess.run(["echo", "last"])
            """,
            ["x"],
        ),
        "forked child": (
            """
            import os, sys
            print("parent", flush=True)
            if os.fork() == 0:
                print("child")
                sys.stdout.flush()
                os._exit(0)
            os.wait()
            print(input("? "))
            """,
            ["x"],
        ),
        "multiprocessing": (
            """
            import multiprocessing as mp
            def square(x):
                return x * x
            if __name__ == "__main__":
                n = int(input("n? "))
                with mp.Pool(2) as pool:
                    print(pool.map(square, range(n)))
            """,
            ["4"],
        ),
        "ctypes puts": (
            """
            import ctypes
            libc = ctypes.CDLL(None)
            print("python", flush=True)
            libc.puts(b"c level")
            libc.fflush(None)
            input("? ")
            """,
            ["x"],
        ),
        "exit code": ("import sys\ninput('x')\nprint('bye')\nsys.exit(3)\n", ["1"]),
        "exit zero": ("import sys\ninput('x')\nsys.exit()\n", ["1"]),
        "hard exit": ("import os\nprint(input('x'))\nos._exit(0)\n", ["1"]),
        "hard exit flushed": ("import os\nprint(input('x'), flush=True)\nos._exit(4)\n", ["1"]),
        "exit text": ("input('x')\nraise SystemExit('text')\n", ["1"]),
        "keyboard interrupt": ("input('x')\nraise KeyboardInterrupt\n", ["1"]),
        "exception": ("input('x')\nraise Exception('wrong')  #score = 0.4\n", ["1"]),
        "chained exception": (
            """
            try:
                int(input("n? "))
            except ValueError as error:
                raise Exception("not a number") from error
            """,
            ["x"],
        ),
        "exception in print": (
            """
            class Odd:
                def __str__(self):
                    raise ValueError("cannot show")
            input("x")
            print("before", Odd())
            """,
            ["1"],
        ),
        "exception group": (
            "input('x')\nraise ExceptionGroup('many', [ValueError(1), TypeError(2)])\n",
            ["1"],
        ),
        "printed traceback": (
            """
            import traceback
            try:
                print(1 / int(input("n? ")))
            except ZeroDivisionError:
                print(traceback.format_exc())
            """,
            ["0"],
        ),
        "custom excepthook": (
            """
            import sys
            sys.excepthook = lambda kind, error, trace: print("hooked", kind.__name__, error)
            input("x")
            raise RuntimeError("boom")
            """,
            ["1"],
        ),
        "syntax error": ("print('never')\nif x ==\n", []),
        "missing import": ("print('start')\nimport no_such_module_anywhere\n", []),
        "unicode": (
            "print('Schöne Grüße 🎉 UᵀU ≠ A \\u202e')\nprint(input('名前? ').upper())\n",
            ["straße 🚀"],
        ),
        "prompt with newlines": ("print(input('line one\\nline two\\n> '))\n", ["x"]),
        "empty answers": ("print(repr(input()), repr(input('')))\n", ["", ""]),
        "five megabytes": (
            "input('go ')\nfor i in range(50000):\n    print('x' * 99)\ninput('stop ')\n",
            ["1", "2"],
        ),
        "no input": ("print('just this')\n", []),
        "empty script": ("", []),
        "atexit and del": (
            """
            import atexit
            class Last:
                def __del__(self):
                    print("deleted")
            last = Last()
            atexit.register(print, "at exit")
            input("x")
            print("end")
            """,
            ["1"],
        ),
        "redirected stdout": (
            """
            import contextlib, io
            buffer = io.StringIO()
            with contextlib.redirect_stdout(buffer):
                print("hidden")
                answer = input("also hidden")
            print(repr(buffer.getvalue()), answer)
            """,
            ["1"],
        ),
        "rewrapped stdout": (
            """
            import io, sys
            sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", line_buffering=True)
            print("wrapped ü")
            print(input("still? "))
            """,
            ["yes"],
        ),
        "binary stdout": (
            """
            import sys
            print("text")
            sys.stdout.flush()
            sys.stdout.buffer.write(b"\\xff\\xfe bytes\\n")
            sys.stdout.buffer.flush()
            input("? ")
            """,
            ["x"],
        ),
        "replaced stdin": (
            "import io, sys\nsys.stdin = io.StringIO('mine\\n')\nprint(input('p '))\n",
            [],
        ),
        "end of replaced stdin": (
            "import io, sys\nsys.stdin = io.StringIO('')\nprint(input('p '))\n",
            [],
        ),
        "wrong input call": ("input(1, 2)\n", []),
        "file and argv": (
            """
            import os, sys
            print(__name__, os.path.basename(__file__), sys.argv[1:], __doc__, __spec__)
            print(os.path.isabs(__file__), sys.path[0] == os.path.dirname(__file__))
            print(sys.stdin.isatty(), sys.stdout.isatty(), sys.stdin.fileno(), sys.stdout.fileno())
            input("x")
            """,
            ["1"],
        ),
        "seen by the script": (
            """
            import sys
            print(sys.stdout.encoding, sys.stdout.errors, sys.stdout.name, sys.stdout.mode)
            print(sys.stdout.line_buffering, sys.stdin.encoding, sys.stdin.name)
            print(print.__name__, input.__name__, sys.stdout is sys.__stdout__)
            print(sorted(name for name in globals() if name.startswith("__")))
            input("x")
            """,
            ["1"],
        ),
        "streams opened by their names": (
            """
            import os, sys
            if not os.path.exists("/dev/stdout"): sys.exit(input("? "))
            print("one", flush=True)
            print("first", file=sys.stderr, flush=True)
            with open("/dev/stdout", "w") as out: print("two", file=out)
            with open("/dev/stderr", "wb") as out: out.write(b"second")
            print("three", input("? "))
            """,
            ["a"],
        ),
        "signal death": (
            "import os, signal\ninput('x')\nos.kill(os.getpid(), signal.SIGTERM)\n",
            ["1"],
        ),
        "signal death later": (
            "import os, signal\nfor i in range(3): print(i, input('? '), flush=True)\nos.kill(os.getpid(), signal.SIGTERM)\n",
            ["a", "b", "c"],
        ),
        "nested print": (
            """
            class Loud:
                def __str__(self):
                    print("inner")
                    return "outer"
            print("a", Loud())
            input("x")
            """,
            ["1"],
        ),
    }.items()
}

"""What stands in place of the interpreter's own parts looks and fails like them."""

from __future__ import annotations

import codecs
import sys

import pytest

from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.script.interpreter import choose
from tests.support.build import Build
from tests.support.interpreters import THIS, VERSIONS, python_of
from tests.support.long_runs import few
from tests.support.plain import equals_a_plain_run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

LOOKS = {
    "shown": "print(print, input, open, os.read, type(print), print.__self__, print.__module__)",
    "signatures": """
        for one in (print, input, open):
            try: print(inspect.signature(one))
            except ValueError as error: print(error)
        """,
    "help": "help(print); help(input)",
    "pickled": "print(pickle.loads(pickle.dumps(print)) is print, pickle.dumps([input, open]))",
    "asked for": "print(inspect.isbuiltin(print), callable(input), open is io.open, {print: 1}[print])",
    "a function for a number": "int(input)",
    "a subscript": "print['hello']",
    "an old print": "print >> sys.stderr, 'hello'",
    "a sum": "print('Name: ' + input)",
    "a loop": "for one in input: pass",
    "a length": "len(print)",
    "a comparison": "input > 3",
    "a method": "input.strip()",
    "names for input": "input(prompt='a')",
    "two prompts": "input('a', 'b')",
    "unknown names": "print('a', foo=1)",
    "a bad separator": "print('a', 'b', sep=3)",
    "a bad file": "print('a', file=5)",
    "a bad mode": "open('x', 'q')",
    "a missing file": "open('/no/such')",
    "no such member": "sys.stdout.foo",
    "no such member of stdin": "sys.stdin.foo",
    "no text": "sys.stdout.write(5)",
    "kinds of streams": """
        print(type(sys.stdout), type(sys.stdout).__name__, type(sys.stdin), repr(sys.stdout), repr(sys.stdin))
        print(isinstance(sys.stdout, io.TextIOWrapper), sys.stdout is sys.__stdout__, sys.stdout.mode)
        print(sys.stdout.buffer, sys.stdin.buffer.name, sys.stdout.fileno(), sys.stdout.seekable())
        """,
    "threads' stacks": """
        def down(n):
            try: return down(n + 1)
            except RecursionError: return n
        thread = threading.Thread(target=lambda: print(down(0))); thread.start(); thread.join()
        """,
    "depth": """
        def down(n):
            try: return down(n + 1)
            except RecursionError: return n
        print(down(0), sys.getrecursionlimit(), len(inspect.stack()))
        sys.setrecursionlimit(300); print(down(0), [down(0) for _ in "a"])
        exec("print(down(0))")
        atexit.register(lambda: print(down(0), len(inspect.stack())))
        try: sys.setrecursionlimit(1)
        except RecursionError as error: print(error)
        """,
    "just deep enough": """
        def total(n): return 0 if n == 0 else n + total(n - 1)
        print(total(996))
        """,
    "the frame below": """
        print(sys._getframe().f_back, len(traceback.format_stack()))
        try: sys._getframe(1)
        except ValueError as error: print(error)
        """,
    "an error far down": """
        def down(n): return down(n - 1) if n else 1 / 0
        down(40)
        """,
    "threads begun at the top": """
        done = _thread.allocate_lock(); done.acquire()
        _thread.start_new_thread(done.release, ()); done.acquire(); print("begun")
        """,
    "an exit of the interpreter": "atexit.register(os._exit, 3)",
    "code that runs at the end": "atexit.register(exec, 'print(5)')",
    "stdin closed": "sys.stdin.close(); input('again? ')",
    "descriptor 0 closed": "os.close(0); input('again? ')",
    "a file in place of descriptor 0": """
        with open("data", "w") as data: data.write("one\\ntwo\\n")
        os.dup2(os.open("data", os.O_RDONLY), 0); print(input("first? "), sys.stdin.read())
        """,
    "lost streams": """
        for name in ("stdin", "stdout", "stderr"):
            kept, _ = getattr(sys, name), setattr(sys, name, None)
            try: input("? ")
            except RuntimeError as error: text = str(error)
            setattr(sys, name, kept); print(text)
        """,
    "streams that were taken away": """
        for name in ("stdin", "stdout", "stderr"):
            kept, _ = getattr(sys, name), delattr(sys, name)
            try: input("? ")
            except RuntimeError as error: text = str(error)
            setattr(sys, name, kept); print(text)
        del sys.stdout; print("lost")
        """,
    "order of names": "print([name for name in globals() if name.startswith('__')])",
}
HEAD = "import _thread, atexit, inspect, io, os, pickle, sys, threading, traceback\n"
READS = {
    "a copy of the descriptor": "print(os.fdopen(os.dup(0)).readline())",
    "the descriptor": "print(open(0, closefd=False).readline())",
    "the descriptor in bytes": "print(open(0, 'rb', 0).readline())",
    "its name": "print(open('/dev/stdin').readline())",
    "another name of it": "print(io.open('/dev/fd/0', 'rb').readline())",
    "reading a copy": "print(os.read(os.dup(0), 99))",
    "lines of a copy": "print(next(iter(os.fdopen(os.dup(0), encoding='latin-1'))))",
    "a copy that is closed": "os.fdopen(os.dup(0)).close(); print(input('? '))",
    "a descriptor that was closed": "print(open(0).readline()); input('? ')",
    "a new stream": "sys.stdin = os.fdopen(os.dup(0)); print(sys.stdin.readline(), sys.stdin.fileno() > 2)",
}


NAMED = b"# coding: %s\nprint(1) # %s\n"
FILES = {
    "a comment": b'x = input("1 ")\ny = input("2 ")\n# caf\xe9\nprint(x)\n',
    "the first line": b"# caf\xe9\nprint(1)\n",
    "the last byte": b"print(1)\n# \xc3",
    "a text": b'print(1)\r\nprint("\xe9")\n',
    "a name": b"print(1)\r\xe9 = 1\r",
    "before a bad line": b"# \xe9\nx = = 1\n",
    "a surrogate": b"print(1) # \xed\xa0\x80\n",
    "too long a form": b"print(1) # \xe0\x80\xaf\n",
    "no comment": b'x = "# coding: latin-1"\n# \xe9\n',
    "too late": b"\n\n# coding: latin-1\n# \xe9\n",
    "no such encoding": NAMED % (b"foobar", b""),
    "no encoding of text": NAMED % (b"rot13", b""),
    "outside ASCII": NAMED % (b"ascii", b"\xe9"),
    "latin-1": NAMED % (b"latin-1", b"\xe9"),
    "UTF-8 by name": NAMED % (b"utf-8", b"\xe9"),
    "another form of its name": NAMED % (b"UTF8", b"\xe9"),
    "the second line": b"#! coding\n# vim: fileencoding=latin-1 :\nprint('\xe9')\n",
    "a mark": codecs.BOM_UTF8 + NAMED % (b"utf-8", b"\xe9"),
    "a mark and another encoding": codecs.BOM_UTF8 + NAMED % (b"latin-1", b""),
    "a mark alone": codecs.BOM_UTF8 + b"print(1) # \xe9\n",
}


def script_of(cases: dict[str, str], name: str, build: Build) -> str:
    return HEAD + build.dedent(cases[name]).strip() + "\n"


_SOME_LOOKS = (
    *(
        "shown",
        "signatures",
        "a sum",
        "unknown names",
        "a missing file",
        "kinds of streams",
        "depth",
    ),
    *("threads' stacks", "an error far down", "stdin closed", "lost streams"),
)


@pytest.mark.parametrize("name", few(LOOKS, *_SOME_LOOKS))
def test_what_stands_in_place_of_the_interpreters_parts_looks_like_them(
    build: Build, name: str
) -> None:
    equals_a_plain_run(build.script(script_of(LOOKS, name, build)), [])


@pytest.mark.parametrize("name", few(READS, *list(READS)[::3]))
def test_what_leads_to_descriptor_0_is_read_as_in_a_plain_run(build: Build, name: str) -> None:
    equals_a_plain_run(build.script(script_of(READS, name, build)), ["ä"])


@pytest.mark.parametrize("version", few([one for one in VERSIONS if one not in (THIS, "3.14")]))
@pytest.mark.parametrize("name", few(LOOKS, "shown", "depth", "the frame below", "an old print"))
def test_so_it_does_under_other_versions(build: Build, name: str, version: str) -> None:
    script, python = build.script(script_of(LOOKS, name, build)), str(python_of(version))
    choose(script, python)
    equals_a_plain_run(script, [], python)


@pytest.mark.parametrize("name", few(FILES, *list(FILES)[::3]))
def test_a_file_that_python_does_not_run_is_not_run(build: Build, name: str) -> None:
    script = build.folder / "quiz.py"
    script.write_bytes(FILES[name])
    equals_a_plain_run(script, ["a", "b"])


@pytest.mark.parametrize("version", ["3.12", "3.13"])
@pytest.mark.parametrize("name", few(FILES, "a comment", "a surrogate", "no such encoding"))
def test_nor_is_it_under_other_versions(build: Build, name: str, version: str) -> None:
    script, python = build.folder / "quiz.py", str(python_of(version))
    script.write_bytes(FILES[name])
    choose(script, python)
    equals_a_plain_run(script, ["a", "b"], python)


@pytest.mark.parametrize("name", ["a comment", "a surrogate", "no such encoding"])
def test_nor_is_it_under_the_oldest_version(build: Build, name: str) -> None:
    test_nor_is_it_under_other_versions(build, name, "3.9")


def test_a_question_asked_deep_down_is_asked(build: Build) -> None:
    script = build.script(
        """
        def down(n): return input("deep? ") if n == 0 else down(n - 1)
        print(down(900))
        """
    )
    assert replay(script, 1, ["yes"]).stdout == "deep? yes\n"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="one call fewer fits, as the guide says")
@pytest.mark.parametrize("options", ["", ", end='|'"])
def test_as_many_calls_print_as_fit_on_the_stack(
    build: Build, options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    script = build.script(
        f"""
        def count(n):
            print(n{options})
            count(n + 1)
        try: count(0)
        except RecursionError: print("end")
        """
    )
    equals_a_plain_run(script, [])
    assert len(replay(script, 1, []).print) > 900


def test_a_text_that_prints_itself_ends_as_in_a_plain_run(build: Build) -> None:
    script = build.script(
        """
        class Text:
            def __str__(self): print(self); return ""
        try: print(Text())
        except RecursionError as error: print(str(error)[:32])
        """
    )
    equals_a_plain_run(script, [])

"""What a script knows at each step, whatever the script does, and that a look changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quizlog_tui.cli import main
from quizlog_tui.debug.inspection import Inspection, Variable, inspection_from
from quizlog_tui.debug.inspection_text import inspection_lines
from quizlog_tui.errors import LimitError, ProtocolError, QuizlogError, UsageError
from quizlog_tui.proof.verify import verify
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.process.process import Limits
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.source import Source
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.long_runs import few

ROUNDS = """\
    def ask(number):
        secret = [1, 2]
        first = input("first? ")
        secret.append(int(first))
        return secret, input("second? ")

    total = 0
    for number in range(2):
        values, word = ask(number)
        total += values[-1]
        print(total)
    raise Exception("wrong at the end")  #score = 0.5
    """


def look(
    build: Build, text: str, answers: list[str], *expressions: str, frame: int = 0
) -> Inspection:
    build.folder.joinpath("record.yaml").unlink(missing_ok=True)
    with Session(build.record(text)) as session:
        for answer in answers:
            session.answer(answer)
        return session.inspect(frame=frame, expressions=expressions)


def texts(variables: tuple[Variable, ...]) -> dict[str, str]:
    return {one.name: one.text for one in variables}


def test_a_question_has_its_stack_innermost_first(build: Build) -> None:
    found = look(build, ROUNDS, ["5"])
    assert (found.step, found.at) == (1, "question")
    assert [(one.function, one.line) for one in found.frames] == [("ask", 5), ("<module>", 9)]
    assert found.frames[0].text == 'return secret, input("second? ")'
    assert found.frames[0].file == str(build.folder / "quiz.py")
    assert texts(found.frames[0].variables) == {
        "number": "0",
        "secret": "[1, 2, 5]",
        "first": "'5'",
    }
    assert texts(found.globals) == {"total": "0", "number": "0"}


def test_changes_since_the_question_before_and_the_lines_that_ran(build: Build) -> None:
    found = look(build, ROUNDS, ["5", "x"])
    assert set(found.changed.added) == {"values", "word", "number", "secret"}
    assert set(found.changed.gone) == {"first"}
    changed = {one.name: (one.before, one.after) for one in found.changed.changed}
    assert changed == {"total": ("0", "5"), "number": ("0", "1")}
    assert [line for _, line in found.lines] == [10, 11, 8, 9, 2, 3]


SAME_NAMES = """\
    def ask(x):
        while x < 7:
            x += 1
            if input("more? ") == "stop":
                return
    x = 0
    def numbers():
        y = 1
        input("first? ")
        yield y
        y = 2
        input("second? ")
        yield y
    for at in numbers():
        pass
    x = 7
    ask(5)
    ask(1)
    """


def test_a_variable_is_compared_with_itself_and_says_where_it_is(build: Build) -> None:
    def shown(answers: list[str]) -> Any:
        changed = look(build, SAME_NAMES, answers).changed
        assert changed.added == tuple(dict.fromkeys(one.name for one in changed.new))
        new = [(one.frame, one.name) for one in changed.new]
        pairs = [(one.frame, one.name, one.before, one.after) for one in changed.changed]
        return new, pairs, changed.gone

    assert shown(["a"]) == ([(None, "at")], [(0, "y", "1", "2")], ())
    called = [(None, "x", "0", "7"), (None, "at", "1", "2")]
    assert shown(["a", "b"]) == ([(0, "x")], called, ("y",))
    assert shown(["a", "b", "c"]) == ([], [(0, "x", "6", "7")], ())
    assert shown(["a", "b", "stop"]) == ([(0, "x")], [], ())


def test_the_lines_of_a_look_say_of_which_call_a_change_is(build: Build) -> None:
    lines = [*inspection_lines(look(build, SAME_NAMES, ["a", "b", "c"]))]
    assert lines[-2:] == ["since the question before", "  ~ x in call 0: 6 -> 7"]
    assert "  + x in call 0" in [*inspection_lines(look(build, SAME_NAMES, ["a", "b"]))]


HELD = """\
    {}
    def ask(a):
        total = 0
        d = keep()
        for i in range(2):
            input("? ")
            seen = sorted(d)
            total += 1
            print(seen)
        input("? ")
    ask(1)
    """
KEEPS = [
    "keep = locals",
    "import sys\n    def keep(): return sys._getframe(1).f_locals",
    "keep = vars",
]


@pytest.mark.parametrize("keeps", KEEPS)
def test_a_look_leaves_the_dictionary_that_a_call_holds(keeps: str, build: Build) -> None:
    text = HELD.format(keeps)
    for answers in (["a"], ["a", "b"]):
        found = look(build, text, answers, "seen")
        with Session(build.folder / "record.yaml") as session:
            printed = session.transcript.stdout.splitlines()[-2].replace("? ", "")
            assert "'seen'" not in str(session.trace().events)
        assert found.expressions[0].value is not None
        assert found.expressions[0].value.text == printed
        assert "total" in texts(found.frames[0].variables)


def test_variables_of_a_call_are_compared_where_it_raised(build: Build) -> None:
    text = "def ask():\n    x = 1\n    y = input()\n    x = 2\n    raise ValueError\nx = 0\nask()\n"
    changed = look(build, text, ["a"]).changed
    assert [(one.frame, one.name) for one in changed.new] == [(0, "y")]
    assert [(one.frame, one.name, one.after) for one in changed.changed] == [(0, "x", "2")]
    assert changed.gone == ()


def test_variables_of_other_files_are_compared_with_themselves(build: Build) -> None:
    (build.folder / "asking.py").write_text(
        "asked = 0\nrest = 1\ndef ask(text):\n    global asked\n    asked += 1\n"
        "    return input(text)\n"
    )
    text = "import asking\nasked = 5\ninput('one? ')\nasking.ask('two? ')\nasking.ask('three? ')\n"
    second, third = look(build, text, ["a"]).changed, look(build, text, ["a", "b"]).changed
    for changed, after in ((second, "1"), (third, "2")):
        assert [(one.frame, one.name) for one in changed.new] == [(0, "text")]
        pairs = [(one.frame, one.name, one.after) for one in changed.changed]
        assert pairs == [(0, "asked", after)]
        assert changed.gone == ()


def test_an_error_is_shown_where_it_raised(build: Build) -> None:
    found = look(build, ROUNDS, ["5", "x", "6", "y"], "total * 2")
    assert found.at == "error"
    assert [(one.function, one.line) for one in found.frames] == [("<module>", 12)]
    assert found.expressions[0].value is not None
    assert found.expressions[0].value.text == "22"


def test_an_error_inside_a_call_has_the_variables_of_that_call(build: Build) -> None:
    found = look(build, ROUNDS, ["five"], "first.upper()")
    assert (found.at, found.frames[0].function) == ("error", "ask")
    assert texts(found.frames[0].variables)["first"] == "'five'"
    assert found.expressions[0].value and found.expressions[0].value.text == "'FIVE'"


@pytest.mark.parametrize(
    ("text", "at"), [("x = 1\n1 / 0\n", "error"), ("x = 1\n", "end"), ("x = 1\nexit(3)\n", "error")]
)
def test_a_script_without_a_question(text: str, at: str, build: Build) -> None:
    found = look(build, text, [], "x + 1")
    assert found.at == at
    assert texts(found.globals) == {"x": "1"}
    assert found.expressions[0].value and found.expressions[0].value.text == "2"


def test_an_expression_sees_the_chosen_frame(build: Build) -> None:
    outer = look(build, ROUNDS, ["5"], "[total, number]", "secret", frame=1)
    assert outer.expressions[0].value and outer.expressions[0].value.text == "[0, 0]"
    assert outer.expressions[1].error
    assert outer.expressions[1].error.message == "NameError: name 'secret' is not defined"
    inner = look(build, ROUNDS, ["5"], "[one + number for one in secret]")
    assert inner.expressions[0].value and inner.expressions[0].value.text == "[1, 2, 5]"


def test_a_statement_prints_assigns_and_fails_with_its_line(build: Build) -> None:
    found = look(build, ROUNDS, ["5"], "total = 9", "print('total', total)", "1\n2 / 0", "1 +")
    assert [one.value for one in found.expressions[::2]] == [None, None]
    assert found.expressions[1].stdout.startswith("total")
    assert found.expressions[2].error and found.expressions[2].error.line == 2
    assert found.expressions[3].error and "SyntaxError" in found.expressions[3].error.message


NASTY = """\
    import threading
    class Endless:
        def __repr__(self):
            while True: pass
    class Failing:
        def __repr__(self): raise SystemExit("out")
    class Asking:
        def __repr__(self): print("printed"); return "asking"
    class Strange:
        def __repr__(self): return "\\x1b[31m\\n\\u202e"
        @property
        def __dict__(self): raise KeyError
    endless, failing, asking, strange = Endless(), Failing(), Asking(), Strange()
    deep = [[[[[[1]]]]]]
    around = [1]; around.append(around)
    many = list(range(1_000_000))
    huge = 10 ** 100_000
    print("begun")
    word = input("word? ")
    print("word", word)
    input("more? ")
    """


def test_values_that_cannot_be_shown_have_their_line(build: Build) -> None:
    found = look(build, NASTY, ["x"])
    values = texts(found.globals)
    assert values["endless"] == "<its repr takes too long>"
    assert values["failing"] == "<its repr raised SystemExit>"
    assert values["asking"] == "asking"
    assert values["strange"].isprintable()
    assert values["deep"] == "[[[[[…]]]]]"
    assert values["around"] == "[1, […]]"
    assert values["many"].startswith("[0, 1, 2") and len(values["many"]) <= 200
    assert values["huge"] == "<int of 332193 bits>"
    assert {one.name: one.size for one in found.globals}["many"] == 1_000_000


@pytest.mark.parametrize("text", few([ROUNDS, NASTY], ROUNDS))
@pytest.mark.parametrize("checkpoints", few([0, 64], 64))
def test_a_look_changes_neither_run_nor_record(text: str, checkpoints: int, build: Build) -> None:
    path = build.record(text)
    with Replayer(checkpoints=checkpoints) as replayer, Session(path, replayer) as session:
        session.answer("5")
        before, stored = session.transcript, path.read_bytes()
        for step in (1, 0, 1):
            session.inspect(step, expressions=["print('no')", "total = 77", "word = 'no'"])
        assert session.transcript == before
        assert path.read_bytes() == stored
        session.answer("6")
        fresh = replay(build.folder / "quiz.py", 7, ["5", "6"])
        assert session.transcript.stdout == fresh.stdout
        assert session.transcript.status == fresh.status


WRITES_WHEN_SHOWN = """\
    import _ctypes, os, sys
    class Writes:
        def __repr__(self):
            frame = sys._getframe()
            while frame:
                look = frame.f_globals.get("_look")
                if look and look.request["what"] == "show":
                    libc = _ctypes.dlopen(None, 0)
                    _ctypes.call_function(_ctypes.dlsym(libc, "creat"), (b"flag", 0o600))
                    break
                frame = frame.f_back
            return "writes"
    shown = Writes()
    input("first? "), input("second? ")
    print(os.path.exists("flag"))
    input("third? ")
    print(os.path.exists("flag"))
    input("last? ")
    """


def test_what_a_look_writes_unnoticed_reaches_no_run(build: Build) -> None:
    path = build.record(WRITES_WHEN_SHOWN)
    with Session(path) as session:
        session.answer("x")
        session.answer("y")
        session.inspect(2)
        session.answer("z")
        assert list(session.transcript.print) == ["False", "False"]
    assert verify(path).verdict != "diverges"


def test_a_script_that_cannot_be_copied_is_run_again(build: Build) -> None:
    text = """\
        import threading, time
        wait = threading.Event()
        threading.Thread(target=wait.wait, daemon=True).start()
        first = input("first? ")
        second = input("second? ")
        """
    found = look(build, text, ["a"])
    assert texts(found.globals)["first"] == "'a'"


def test_an_endless_expression_is_ended_by_the_limit(build: Build) -> None:
    path = build.record(ROUNDS)
    with Replayer(Limits(seconds=1)) as replayer, Session(path, replayer) as session:
        with pytest.raises(LimitError, match="the look was ended"):
            session.evaluate(0, "[1 for _ in iter(int, 1)]")
        assert session.answer("5").next_prompt == "second? "


@pytest.mark.long
def test_an_endless_expression_leaves_the_others_their_values(build: Build) -> None:
    found = look(build, ROUNDS, ["5"], "1 + 1", "while True: pass", "2 + 2")
    assert [one.value and one.value.text for one in found.expressions] == ["2", None, "4"]
    assert found.expressions[1].error
    assert found.expressions[1].error.message == "it takes longer than 5 seconds"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("__import__('os')._exit(4)", "SystemExit: 4"),
        ("input('x')", "EOFError: an expression cannot ask"),
        ("exit(3)", "SystemExit: 3"),
    ],
)
def test_an_expression_neither_ends_the_script_nor_asks(
    text: str, error: str, build: Build
) -> None:
    found = look(build, ROUNDS, ["5"], text, "secret")
    assert (found.at, len(found.frames)) == ("question", 2)
    assert found.expressions[0].error and found.expressions[0].error.message == error
    assert found.expressions[1].value and found.expressions[1].value.text == "[1, 2, 5]"


def test_variables_of_the_script_are_shown_whichever_file_asks(build: Build) -> None:
    (build.folder / "asking.py").write_text("MOST = 3\ndef ask(text):\n    return input(text)\n")
    text = """\
        import asking
        lives = 3
        first = input("one? ")
        second = asking.ask("two? ")
        lives -= 1
        third = input("three? ")
        """
    inside, after = look(build, text, ["a"]), look(build, text, ["a", "b"])
    assert texts(inside.globals) == {"lives": "3", "first": "'a'"}
    assert texts(inside.frames[0].variables) == {"text": "'two? '"}
    assert (set(inside.changed.added), inside.changed.gone) == ({"first", "text"}, ())
    assert (after.changed.added, after.changed.gone) == (("second",), ("text",))
    assert [one.name for one in after.changed.changed] == ["lives"]


def test_files_beside_the_script_are_its_own_and_libraries_are_folded(build: Build) -> None:
    (build.folder / "asking.py").write_text(
        "import functools\n\ndef ask(name):\n    return functools.reduce(one, [name, name])\n\n"
        "def one(left, right):\n    return input(left)\n"
    )
    found = look(build, "import asking\nasking.ask('who? ')\ninput('then? ')\n", [])
    beside = str(build.folder / "asking.py")
    assert [(one.function, one.file) for one in found.frames] == [
        ("one", beside),
        ("ask", beside),
        ("<module>", str(build.folder / "quiz.py")),
    ]
    assert found.frames[0].text == "return input(left)"
    assert found.frames[1].folded == 0  # `reduce` is no Python code


def test_a_deep_recursion_is_folded_in_its_middle(build: Build) -> None:
    text = "def deep(n):\n    return deep(n - 1) if n else input('? ')\ndeep(900)\n"
    found = look(build, text, [], "n", frame=1)
    assert len(found.frames) == 200
    assert (found.frames[0].function, found.frames[-1].function) == ("deep", "<module>")
    assert (found.frames[100].skipped, found.frames[100].folded) == (702, 0)
    assert [one.skipped for one in found.frames].count(0) == 199
    assert [*inspection_lines(found)].count("     702 more of the script") == 1
    assert found.expressions[0].value and found.expressions[0].value.text == "1"


def test_wrong_steps_and_frames_are_refused(build: Build) -> None:
    with Session(build.record(ROUNDS)) as session:
        with pytest.raises(UsageError, match="there is no step 3"):
            session.inspect(3)
        for frame in (2, -1):
            with pytest.raises(UsageError, match="frame"):
                session.inspect(0, frame=frame)


def test_steps_that_an_edited_script_does_not_get_to_are_refused_as_such(build: Build) -> None:
    path = build.record(ROUNDS)
    with Session(path) as session:
        for answer in ("5", "x", "6"):
            session.answer(answer)
    script = build.folder / "quiz.py"
    script.write_text(script.read_text().replace("second?", "then?"))
    with Session(path) as session:
        assert session.inspect(1).step == 1
        for call in (session.inspect, session.trace):
            with pytest.raises(UsageError, match="step 3 any more: of 3 recorded answers 1 fit"):
                call(3)
            with pytest.raises(UsageError, match="no step 4: the record has 1 answer"):
                call(4)


def test_a_trace_has_each_line_and_what_it_changed(build: Build) -> None:
    with Session(build.record(ROUNDS)) as session:
        for answer in ("5", "x", "6", "y"):
            session.answer(answer)
        second, last = session.trace(2), session.trace()
        before = session.trace(0)
    shown = [(one.line, one.function, one.depth, one.changed) for one in second.events]
    assert shown == [
        (5, "ask", 1, {}),
        (9, "<module>", 0, {"values": "[1, 2, 5]", "word": "'x'"}),
        (10, "<module>", 0, {"total": "5"}),
        (11, "<module>", 0, {}),
        (8, "<module>", 0, {"number": "1"}),
        (9, "<module>", 0, {}),
        (2, "ask", 1, {"secret": "[1, 2]"}),
        (3, "ask", 1, {}),
    ]
    assert [one.line for one in last.events][-2:] == [8, 12]
    assert [one.line for one in before.events] == [1, 7, 8, 9, 2, 3]
    assert {one.file for one in second.events} == {str(build.folder / "quiz.py")}


def test_a_trace_follows_calls_generators_and_exceptions(build: Build) -> None:
    text = """\
        def numbers():
            yield 1
            raise ValueError("out")

        def ask():
            try:
                for number in numbers():
                    word = input("word? ")
            except ValueError as error:
                return len(word)

        found = ask()
        input("last? ")
        """
    with Session(build.record(text)) as session:
        session.answer("abc")
        events = session.trace().events
    assert [(one.line, one.depth) for one in events] == [
        (8, 1), (7, 1), (3, 2), (9, 1), (10, 1), (12, 0), (13, 0),
    ]  # fmt: skip
    assert events[0].changed == {"word": "'abc'"}
    assert events[-2].changed == {"found": "3"}


def test_a_trace_shows_variables_of_the_module_that_a_call_changes(build: Build) -> None:
    text = """\
        total, seen = 0, []
        def count(word):
            global total
            total += len(word)
            seen.append(word)
        count(input("a? "))
        input("b? ")
        """
    with Session(build.record(text)) as session:
        session.answer("xyz")
        changed = [(one.line, one.changed) for one in session.trace().events]
    assert changed[1:3] == [(4, {"total": "3"}), (5, {"seen": "['xyz']"})]


def test_the_lines_of_a_trace_have_their_texts_whichever_file_has_them(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    (build.folder / "asking.py").write_text("def ask(text):\n    return input(text)\n")
    path = build.record("import asking\nasking.ask('one? ')\n", "a")
    assert main(["trace", str(path), "0"]) == 0
    shown = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert shown == [
        "1 import asking",
        "1 asking.py: def ask(text):",
        "2 asking.ask('one? ')",
        "2 asking.py: return input(text)",
    ]


def test_a_trace_has_the_lines_of_the_thread_that_asked_before(build: Build) -> None:
    text = """\
        import threading
        def ask():
            one = input("one? ")
            two = input("two? ")
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        """
    with Session(build.record(text)) as session:
        lines = [{one.line for one in session.trace().events}]
        session.answer("a")
        lines.append({one.line for one in session.trace().events})
        script = str(session.source.path)
        steps = [session.steps_of_line(script, line) for line in (3, 4)]
    assert lines[0] >= {1, 2, 5, 6} and not lines[0] & {3, 4}
    assert lines[1] == {3, 4}
    assert steps == [(1,), (1,)]


def test_a_long_trace_is_cut_and_says_so(build: Build) -> None:
    text = "input('a? ')\ntotal = 0\nfor i in range(200_000):\n    total += 1\ninput('b? ')\n"
    with Session(build.record(text)) as session:
        session.answer("x")
        found = session.trace()
    assert (len(found.events), found.truncated) == (50_000, True)
    assert {one.line: one.changed for one in found.events}[4] == {"total": "24999"}


def test_a_script_that_forges_the_look_is_refused_or_shown_as_data(build: Build) -> None:
    forged = FORGED_ANSWER.replace("return json.dumps(data)", "return 'forged'").replace(
        "AGAIN", "{}"
    )
    with pytest.raises(ProtocolError, match="no readable snapshot"):
        look(build, forged, [])


FORGED_ANSWER = """\
    import json, sys
    real = sys._getframe
    def forged(data, level):
        data = dict(data)
        data.update(AGAIN)
        return json.dumps(data)
    def frame(depth=0):
        names = real(1).f_globals
        if "_written" in names:
            names["_written"] = forged
        return real(depth + 1)
    sys._getframe = frame
    input("a? ")
    """


@pytest.mark.parametrize(
    "again",
    [
        {"expressions": []},
        {"expressions": [{"text": "other", "value": None, "stdout": "", "error": None}]},
        {"frames": 3},
        {"changed": []},
        {"events": [["", 1, "f", 0, []]]},
    ],
)
def test_an_answer_to_something_else_is_refused(again: dict[str, object], build: Build) -> None:
    path = build.record(FORGED_ANSWER.replace("AGAIN", repr(again)))
    with Session(path) as session, pytest.raises(ProtocolError, match="no readable"):
        session.trace(0) if "events" in again else session.evaluate(0, "1")


def test_a_file_that_is_not_of_the_script_is_not_read(build: Build) -> None:
    (build.folder.parent / "secret.py").write_text("secret\n")
    frame = {"function": "f", "file": "../secret.py", "line": 1, "variables": []}
    frame |= {"folded": 0, "more": 0, "skipped": 0}
    path = build.record(FORGED_ANSWER.replace("AGAIN", repr({"frames": [frame], "at": "end"})))
    with Session(path) as session:
        found = session.inspect(0)
    assert (found.frames[0].file, found.frames[0].text) == ("../secret.py", "")
    assert found.at == "question"


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"at": "nowhere", "frames": []}'])
def test_what_is_no_snapshot_is_refused(text: str) -> None:
    with pytest.raises(QuizlogError, match="no readable snapshot"):
        inspection_from(text, 0, Source(Path("quiz.py"), b""))


def test_the_command_shows_a_step_and_its_json(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    path = build.record(ROUNDS)
    assert main([str(path), "5"]) == 0
    capsys.readouterr()
    assert main(["inspect", str(path), "--expr", "len(secret)"]) == 0
    shown = capsys.readouterr().out
    assert "step 1, at its question" in shown
    assert "secret = [1, 2, 5]  (list of 3)" in shown
    assert shown.endswith(">>> len(secret)\n3  (int)\n")
    assert main(["inspect", str(path), "0", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert set(data) >= {
        "step", "at", "frames", "globals", "changed", "lines", "expressions"
    }  # fmt: skip
    assert set(data["frames"][0]) == {
        "function", "file", "line", "text", "variables", "folded", "more", "skipped"
    }  # fmt: skip
    assert set(data["globals"][0]) == {"name", "type", "text", "size", "shape", "children"}
    assert main(["trace", str(path), "1", "--json", "--var", "secret"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["truncated"] is False
    assert [(one["line"], one["changed"]) for one in data["events"]] == [
        (4, {"secret": "[1, 2, 5]"})
    ]
    assert main(["trace", str(path)]) == 0
    assert "    4    secret.append(int(first)) " in capsys.readouterr().out
    assert main(["inspect", str(path), "9"]) == 2
    assert "there is no step 9" in capsys.readouterr().err


@pytest.mark.parametrize("used", few(["", "json", "typing", "types", "re", "signal"]))
def test_a_look_runs_no_module_of_the_folder(used: str, build: Build) -> None:
    """Whether named like one of the standard library or of what an import makes of the rest."""
    names = ("json", "typing", "types", "re", "signal", "itertools", "collections", "_json")
    for name in (*names, "_signal", "__future__", "encodings", "ast", "traceback", "contextlib"):
        path = build.folder / f"{name}.py"
        path.write_text("" if name == used else "print('ran')\nraise SystemExit(3)\n")
    start = f"import {used}" if used in ("json", "re", "signal") else "pass"
    found = look(build, f"{start}\nx = input()\ny = input()\nz = 'a\\x1b'\ninput()\n", ["1", "2"])
    assert texts(found.globals) == {"x": "'1'", "y": "'2'", "z": r"'a\x1b'"}


@pytest.mark.parametrize(
    "name", few(["json", "types", "typing", "re", "os", "signal"], "json", "os")
)
def test_a_script_named_like_a_module_is_looked_at(name: str, tmp_path: Path) -> None:
    script, path = tmp_path / f"{name}.py", tmp_path / "r.yaml"
    script.write_text('x = input("1 ")\ny = input("2 ")\nraise Exception("no")\n')
    RecordFile(path).create(Record(script.name, 7, AppendOnlyList(), 0))
    with Session(path) as session:
        session.answer("a")
        session.answer("b")
        assert texts(session.inspect().globals) == {"x": "'a'", "y": "'b'"}


IMPORTING = """\
    import builtins, sys
    real, seen = builtins.__import__, []
    def counting(name, *rest):
        seen.append(name)
        return real(name, *rest)
    before = input()
    builtins.__import__ = counting
    loaded = sorted(sys.modules)
    sys.modules["os"] = sys.modules["json"] = sys.modules["_json"] = None
    middle = input()
    del sys.modules["os"], sys.modules["json"], sys.modules["_json"]
    more = sorted(set(sys.modules) - set(loaded))
    same = set(sys.modules) >= set(loaded) - {"os", "json", "_json"}
    last = input()
    """


def test_a_look_leaves_and_asks_for_no_module_of_the_script(build: Build) -> None:
    for answers in (["1"], ["1", "2"], ["1", "2", "3"]):
        found = look(build, IMPORTING, answers, "1 + 1")
        assert found.expressions[0].error is None
        shown = texts(found.globals)
        assert shown.get("seen") == "[]"
        assert shown.get("more", "[]") == "[]"
        assert shown.get("same", "True") == "True"

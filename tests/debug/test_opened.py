"""What lies in a value, why a script raised and which names are in sight."""

from __future__ import annotations

import ast
import json
from collections import Counter
from pathlib import Path

import pytest

from quizlog_tui.cli import main
from quizlog_tui.debug import inspection
from quizlog_tui.debug.inspection import Inspection, OpenedValue, RaisedError, ValuePath
from quizlog_tui.debug.inspection_text import inspection_lines
from quizlog_tui.session.session import Session
from quizlog_tui.session.timeline import timeline
from tests.support.build import Build


def looked(build: Build, text: str, *paths: ValuePath | str, frame: int = 0) -> Inspection:
    opened = [ValuePath(None, one) if isinstance(one, str) else one for one in paths]
    build.folder.joinpath("record.yaml").unlink(missing_ok=True)
    with Session(build.record(text)) as session:
        return session.inspect(frame=frame, opened=opened)


def children(found: OpenedValue) -> dict[str, str]:
    return {one.name: one.text for one in found.children}


VALUES = """\
    import collections, dataclasses, enum
    @dataclasses.dataclass
    class Point:
        x: int
        y: str = "b"
        def __getattr__(self, name): raise KeyError
    class Slots:
        __slots__ = ("a", "b", "__dict__")
        def __init__(self):
            self.a, self.z = 1, 2
    class Sub(Slots):
        __slots__ = ("c",)
    class Bag(dict):
        def items(self): raise KeyError
        def __iter__(self): raise KeyError
        def __len__(self): return -5
    class Row(list):
        def __iter__(self): raise KeyError
    Named = collections.namedtuple("Named", "left right")
    point, slots, bag, row, named = Point(1), Sub(), Bag(k=1), Row([7]), Named(1, 2)
    bag.note = "n"
    items, pairs, members = [1, [2]], {"a": {"b": [3, 4]}, 5: 6}, {7}
    counted = collections.Counter("aab")
    many = list(range(1000))
    text, number = "abc", 5
    error = ValueError("x"); error.code = 3
    def ask(inner):
        return input("? ")
    ask([1, 2])
    """


def test_children_of_every_kind_of_value_have_their_names(build: Build) -> None:
    names = ["point", "slots", "bag", "row", "named", "items", "pairs", "members", "counted"]
    found = looked(build, VALUES, *names, "text", "number", "error")
    assert [children(one) for one in found.opened] == [
        {".x": "1", ".y": "'b'"},
        {".a": "1", ".z": "2"},
        {"['k']": "1", ".note": "'n'"},
        {"[0]": "7"},
        {".left": "1", ".right": "2"},
        {"[0]": "1", "[1]": "[2]"},
        {"['a']": "{'b': [3, 4]}", "[5]": "6"},
        {"{0}": "7"},
        {"['a']": "2", "['b']": "1"},
        {},
        {},
        {".code": "3"},
    ]
    shown = {one.name: one.children for one in found.globals}
    for one in found.opened:
        assert shown[one.path.expression] == len(one.children)
        assert (one.more, one.error) == (0, None)


def test_a_value_is_reached_by_its_frame_and_a_way_into_it(build: Build) -> None:
    paths = [
        ValuePath(None, "pairs", (0, 0, 1)),
        ValuePath(None, "pairs", (0, 0)),
        ValuePath(0, "inner"),
        ValuePath(1, "items"),
        ValuePath(1, "[*items, point]", (2,)),
        ValuePath(None, "inner"),
        ValuePath(7, "items"),
        ValuePath(None, "items", (4,)),
        ValuePath(None, "1 +"),
        ValuePath(None, "input('x')"),
        ValuePath(None, "__import__('os')._exit(3)"),
    ]
    found = looked(build, VALUES, *paths).opened
    assert [one.path for one in found] == paths
    assert [list(children(one).values()) for one in found[:5]] == [
        [], ["3", "4"], ["1", "2"], ["1", "[2]"], ["1", "'b'"],
    ]  # fmt: skip
    assert [one.error for one in found[:5]] == [None] * 5
    errors = [one.error or "" for one in found[5:]]
    assert errors[0] == "NameError: name 'inner' is not defined"
    assert errors[1:3] == ["there is no frame 7", "there is no child 4"]
    assert errors[3].startswith("SyntaxError: ")
    assert errors[4:] == ["EOFError: an expression cannot ask", "SystemExit: 3"]


def test_at_most_a_hundred_children_are_shown(build: Build) -> None:
    (found,) = looked(build, VALUES, "many").opened
    assert (len(found.children), found.more) == (100, 900)
    assert found.children[-1].name == "[99]"


def test_variables_beyond_the_first_two_hundred_are_counted(build: Build) -> None:
    text = """\
        for number in range(202):
            globals()[f"name{number}"] = number
        code = "def many():\\n" + "".join(f"    a{at} = {at}\\n" for at in range(1300)) + "    input()\\n"
        exec(compile(code, __file__, "exec"))
        many()
        """
    found = looked(build, text)
    assert (len(found.globals), found.more_globals) == (200, 4)
    assert (len(found.frames[0].variables), found.frames[0].more) == (200, 1100)
    lines = [*inspection_lines(found)]
    assert ("       and 1,100 more" in lines, "  and 4 more" in lines) == (True, True)


TABLES = """\
    rows = [{"a": 1, "b": "x" * 99}, {"b": None, "a": [2]}]
    lists = [[n, str(n)] for n in range(60)]
    wide = [tuple(range(30))]
    other = [{"a": 1}, {"b": 1}]
    uneven = [[1], [1, 2]]
    nested = [[[1]]]
    mixed = [[1], (1,)]
    empty, hollow = [], [[]]
    input("? ")
    """


def test_lists_of_like_rows_are_tables(build: Build) -> None:
    names = ["rows", "lists", "wide", "other", "uneven", "nested", "mixed", "empty", "hollow"]
    rows, lists, wide, *others = [one.table for one in looked(build, TABLES, *names).opened]
    assert rows and lists and wide
    assert (rows.columns, rows.rows) == (("a", "b"), (("1", "x" * 39 + "…"), ("[2]", "None")))
    assert (lists.columns, len(lists.rows), lists.rows[-1]) == (("0", "1"), 50, ("49", "49"))
    assert (len(wide.columns), len(wide.rows[0])) == (20, 20)
    more = [one.more for one in looked(build, TABLES, *names[:3]).opened]
    assert (more, [one.more_columns for one in (rows, lists, wide)]) == ([0, 10, 0], [0, 0, 10])
    assert others == [None] * 6


LIBRARIES = """\
    import numpy as np, pandas as pd
    grid = np.arange(12.0).reshape(3, 4)
    flat, single, none = np.arange(30), np.array(5), np.zeros((0, 3))
    things = np.array([[1], "x"], dtype=object)
    kind = np.dtype("float64")
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=["p", "q"])
    column = frame["a"]
    large, long = pd.DataFrame(np.zeros((60, 30))), pd.Series(range(70))
    square = np.zeros((80, 40))
    input("? ")
    """


def test_arrays_and_tables_of_libraries_are_described(build: Build) -> None:
    pytest.importorskip("numpy"), pytest.importorskip("pandas")
    names = ["grid", "flat", "single", "things", "frame", "column"]
    found = looked(build, LIBRARIES, *names)
    texts = {one.name: one.text for one in found.globals}
    assert texts["grid"].startswith("float64 3 x 4: 0.0 1.0 2.0")
    assert texts["flat"].startswith("int64 30: 0 1 2") and texts["flat"].endswith("19 …")
    assert (texts["single"], texts["none"]) == ("int64: 5", "float64 0 x 3: ")
    assert (texts["things"], texts["frame"]) == ("object 2: [1] x", "2 x 2: a, b")
    assert (texts["column"], texts["kind"]) == ("int64 2: 1 2", "dtype('float64')")
    grid, flat, single, things, frame, column = found.opened
    assert children(grid)["[1]"] == "float64 4: 4.0 5.0 6.0 7.0"
    assert grid.table and grid.table.columns == ("0", "1", "2", "3")
    assert grid.table.rows[2] == ("8.0", "9.0", "10.0", "11.0")
    assert (len(flat.children), flat.table, single.children) == (30, None, ())
    assert children(things) == {"[0]": "[1]", "[1]": "'x'"}
    assert list(children(frame)) == ["[a]", "[b]"]
    assert frame.table and frame.table.columns == ("", "a", "b")
    assert [row[:2] for row in frame.table.rows] == [("p", "1"), ("q", "2")]
    assert column.table and column.table.rows == (("p", "1"), ("q", "2"))
    more = looked(build, LIBRARIES, "large", "long", "square").opened
    assert [(one.more, one.table and one.table.more_columns) for one in more] == [
        (10, 11), (20, 0), (30, 20),
    ]  # fmt: skip


RAISES = """\
    import json
    def parse(text):
        try:
            return json.loads(text)
        except ValueError as error:
            error.add_note("from the bank\\nline two")
            raise LookupError("no question") from error
    try:
        parse("[")
    except LookupError:
        raise RuntimeError("wrong")
    """


def raised(build: Build, text: str) -> RaisedError:
    found = looked(build, text)
    assert found.at == "error"
    assert found.error
    return found.error


def test_an_exception_is_shown_with_what_it_came_from(build: Build) -> None:
    error = raised(build, RAISES)
    place = str(build.folder / "quiz.py")
    assert (error.type, error.message, error.relation) == ("RuntimeError", "wrong", "context")
    assert error.place == f"{place}:11"
    cause = error.cause
    assert cause and (cause.type, cause.relation, cause.place) == (
        "LookupError", "cause", f"{place}:7",
    )  # fmt: skip
    first = cause.cause
    assert first and (first.type, first.cause) == ("json.decoder.JSONDecodeError", None)
    assert (first.notes, first.place) == (("from the bank\nline two",), f"{place}:4")
    lines = list(inspection_lines(looked(build, RAISES)))
    assert lines[1:7] == [
        f"RuntimeError: wrong  ({place}:11)",
        "raised while handling",
        f"  LookupError: no question  ({place}:7)",
        "  raised from",
        f"    {first.type}: {first.message}  ({place}:4)",
        "      | from the bank",
    ]


def test_what_a_script_hides_of_an_exception_stays_hidden(build: Build) -> None:
    text = "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError from None\n"
    error = raised(build, text)
    assert (error.message, error.cause, error.relation) == ("", None, None)
    assert looked(build, "input()").error is None


def test_groups_chains_and_circles_of_exceptions_are_bounded(build: Build) -> None:
    group = raised(build, "raise ExceptionGroup('all', [ValueError('a'), KeyError('b')])\n")
    assert [(one.type, one.message) for one in group.group] == [
        ("ValueError", "a"), ("KeyError", "'b'"),
    ]  # fmt: skip
    circle = raised(
        build, "a, b = KeyError(1), KeyError(2)\na.__cause__, b.__cause__ = b, a\nraise a\n"
    )
    assert circle.cause and circle.cause.cause is None
    long = raised(
        build,
        "e = None\nfor n in range(50):\n    new = KeyError(n); new.__cause__ = e; e = new\nraise e\n",
    )
    depth, one = 0, long
    while one.cause is not None:
        depth, one = depth + 1, one.cause
    assert depth == 9


def test_all_names_of_the_chosen_call_are_in_sight(build: Build) -> None:
    inner, outer = looked(build, VALUES), looked(build, VALUES, frame=1)
    assert {"inner", "ask", "collections", "Point", "many"} <= set(inner.names)
    assert "inner" not in outer.names
    assert list(inner.names) == sorted(inner.names)
    crowd = "for n in range(3000): globals()[f'n{n}'] = n\nglobals()[3] = globals()['a b'] = 1\ninput()\n"
    assert len(looked(build, crowd).names) == 1000


def test_an_answer_to_getpass_is_shown_like_any_other(build: Build) -> None:
    """The player shows it, too, so that a look has nothing to hide."""
    text = "import getpass\nword = getpass.getpass('Password: ')\ninput('? ')\n"
    with Session(build.record(text)) as session:
        session.answer("hidden")
        found = session.inspect()
        rows = [row.step.input for row in timeline(session.transcript, session.record)]
    assert {one.name: one.text for one in found.globals} == {"word": "'hidden'"}
    assert rows[0] == "hidden"


def test_the_command_has_the_new_keys(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(build.record("x = 1\n1 / 0\n")), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["opened"] == [] and "x" in data["names"]
    assert set(data["error"]) == {
        "type", "message", "notes", "place", "cause", "relation", "group"
    }  # fmt: skip


def test_texts_that_run_in_one_namespace_define_each_name_once() -> None:
    folder = Path(inspection.__file__).parent
    texts = [text.decode() for text in inspection.inside()]
    assert len(texts) < len(list(folder.glob("*.py")))
    found: Counter[str] = Counter()
    for text in texts:
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[node.name] += 1
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = (one for target in targets for one in ast.walk(target))
                found.update(one.id for one in names if isinstance(one, ast.Name))
    assert [name for name, count in found.items() if count > 1] == ["TYPE_CHECKING"]

"""The rows of what a script knows: calls, marks of changes, what is open, exceptions."""

from __future__ import annotations

from typing import Any

from quizlog_tui.debug.inspection import (
    ChangedVariable,
    Evaluation,
    ExpressionError,
    Inspection,
    OpenedValue,
    RaisedError,
    StackFrame,
    ValuePath,
    ValueTable,
    Variable,
    VariableChanges,
    VariableName,
)
from quizlog_tui.tui.draw.variables import variable_rows


def variable(name: str, text: str, type: str = "int", **more: Any) -> Variable:
    return Variable(name, type, text, **({"size": None, "shape": None, "children": 0} | more))


def found(**more: Any) -> Inspection:
    given: dict[str, Any] = {
        "step": 3,
        "at": "question",
        "frames": (
            StackFrame("ask", "/quiz/quiz.py", 4, "input()", (variable("n", "2"),), 0),
            StackFrame("<module>", "/quiz/quiz.py", 9, "ask(2)", (), 0),
        ),
        "globals": (variable("old", "1"), variable("items", "[1, 2]", "list", size=2, children=2)),
        "changed": VariableChanges((), (), ()),
        "lines": (),
        "expressions": (),
        "opened": (),
        "error": None,
        "names": (),
    }
    return Inspection(**(given | more))


def shown(one: Inspection) -> list[str]:
    return [row.line.text.rstrip() for row in variable_rows(one, 0)]


ITEMS = ValuePath(None, "items")


def test_calls_stand_innermost_first_each_with_its_variables() -> None:
    assert shown(found()) == [
        "ask()  quiz.py:4",
        "    n = 2  int",
        "module  quiz.py:9",
        "    old = 1  int",
        "  ▸ items = [1, 2]  list of 2",
    ]
    assert [row.frame for row in variable_rows(found(), 0)] == [0, 0, 1, 1, 1]


def test_without_a_call_the_modules_variables_have_their_own_title() -> None:
    assert shown(found(frames=()))[:2] == ["module", "    old = 1  int"]


def test_what_changed_comes_first_with_its_value_before_once() -> None:
    changes = VariableChanges(
        ("n",),
        (ChangedVariable("items", "[1]", "[1, 2]"),),
        ("gone",),
        (VariableName(0, "n"),),
    )
    assert shown(found(changed=changes)) == [
        "ask()  quiz.py:4",
        "+   n = 2  int",
        "module  quiz.py:9",
        "~ ▸ items = [1, 2]  list of 2",
        "      was [1]",
        "    old = 1  int",
        "- gone is gone",
    ]


def test_an_outer_variable_of_the_same_name_is_not_marked_too() -> None:
    changes = VariableChanges((), (ChangedVariable("n", "1", "2", 0),), ())
    outer = (variable("n", "1"),)
    assert [row for row in shown(found(changed=changes, globals=outer)) if "n =" in row] == [
        "~   n = 2  int",
        "    n = 1  int",
    ]


def test_a_value_opens_one_level_and_what_is_in_it_has_its_own_path() -> None:
    first = variable("[0]", "[7]", "list", size=1, children=1)
    opened = OpenedValue(ITEMS, (first, variable("[1]", "2")), 40, None, None)
    rows = variable_rows(found(opened=(opened,)), 0)
    assert [row.line.text.rstrip() for row in rows[-4:]] == [
        "  ▾ items = [1, 2]  list of 2",
        "    ▸ [0] = [7]  list of 1",
        "      [1] = 2  int",
        "    … and 40 more",
    ]
    assert rows[-3].path == ValuePath(None, "items", (0,)) and rows[-3].opens
    assert not rows[-2].opens


def test_a_table_is_shown_in_columns_and_a_failure_in_words() -> None:
    table = ValueTable(("", "host", "cpu"), (("0", "web-00", "8"), ("1", "a\x1b", "100")))
    opened = OpenedValue(ITEMS, (), 0, table, None)
    assert shown(found(opened=(opened,)))[-3:] == [
        "       host    cpu",
        "    0  web-00  8",
        "    1  a␛      100",
    ]
    failed = OpenedValue(ITEMS, (), 0, None, "KeyError: 1")
    assert shown(found(opened=(failed,)))[-1] == "    ✗ KeyError: 1"


def test_what_is_left_out_is_counted() -> None:
    table = ValueTable(("", "host"), (("0", "web-00"),), 10)
    opened = OpenedValue(ITEMS, (), 70, table, None)
    assert shown(found(opened=(opened,)))[-1] == "    … and 70 more rows, 10 more columns"
    deep = StackFrame("ask", "/quiz/quiz.py", 4, "", (variable("n", "2"),), 2, 150, 798)
    rows = shown(found(frames=(deep,), globals=(), more_globals=1))
    assert rows == [
        "  2 calls in libraries, 798 calls left out",
        "ask()  quiz.py:4",
        "    n = 2  int",
        "    … and 150 more variables",
        "module",
        "    … and 1 more variable",
    ]


def test_a_change_that_the_text_does_not_show_is_told() -> None:
    hidden = ChangedVariable("items", "[1, 2]", "list of 2, changed inside")
    rows = shown(found(changed=VariableChanges((), (hidden,), ())))
    assert (
        rows[rows.index("~ ▸ items = [1, 2]  list of 2") + 1] == "      list of 2, changed inside"
    )


def test_the_last_expression_stands_first_with_what_it_printed() -> None:
    value = variable("", "3", "int")
    one = Evaluation("n + 1", value, "hello\nthere\n", None)
    assert shown(found(expressions=(one,)))[:4] == [
        ">>> n + 1",
        "  hello",
        "  there",
        "    3  int",
    ]
    failed = Evaluation("a\n1/0", None, "", ExpressionError("ZeroDivisionError: no", 2))
    assert shown(found(expressions=(failed,)))[1] == "  ✗ ZeroDivisionError: no (line 2)"
    silent = Evaluation("n = 4", None, "", None)
    assert shown(found(expressions=(silent,)))[1] == "  done"


def test_an_exception_has_its_notes_its_causes_and_what_it_groups() -> None:
    cause = RaisedError("KeyError", "'a'", (), "/home/quiz.py:3", None, None, ())
    inner = RaisedError("TypeError", "", (), "", None, None, ())
    error = RaisedError(
        "quiz.Wrong", "no\nway", ("look\nhere",), "quiz.py:5", cause, "cause", (inner,)
    )
    rows = [row.line.text for row in variable_rows(found(error=error), 0)]
    assert rows[:7] == [
        "✗ quiz.Wrong: no\nway",
        "  quiz.py:5",
        "  note: look\nhere",
        "  ✗ TypeError",
        "  caused by KeyError: 'a'",
        "    quiz.py:3",
        "ask()  quiz.py:4",
    ]

"""Which answers count as equal: a table, and what holds for any answers."""

from __future__ import annotations

import base64
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quizlog_tui
from quizlog_tui.episodes.format.hashing import value_hash
from quizlog_tui.replay.script.input_type import input_type
from quizlog_tui.replay.script.source import Source
from quizlog_tui.solver.decision import ModelQuestion
from quizlog_tui.solver.decision_text import answer_text
from quizlog_tui.solver.voting.equality import (
    RULES,
    NoAnswerError,
    answer_value,
    canonical,
    grouped,
    normal_form,
    rules_told,
    same,
    wanted,
)

PLAIN = ModelQuestion("What is it? ")
NUMBER = ModelQuestion("Which number? ", input_type="number")
INTEGER = ModelQuestion("How many? ", input_type="integer")
YESNO = ModelQuestion("Is it so? ", input_type="yesno")
TENTH = ModelQuestion("The mean, to one decimal? ", input_type="number")
CENTS = ModelQuestion("The sum (2 decimal places): ", input_type="number")
WHOLE = ModelQuestion("Rounded to the nearest integer: ", input_type="number")
EXACT = ModelQuestion("Copy the word, the case matters: ")
COLOUR = ModelQuestion("Which? ", input_type="choice", choices=("Red", "Green", "A"))
ESSAY = ModelQuestion("Say in a sentence: ", input_type="textarea")
VERSION = ModelQuestion("Which version is the oldest that works? ")
LIST = ModelQuestion("Give the names as a Python list: ")
MATRIX = ModelQuestion("Give A: ", input_type="matrix")
JSON = ModelQuestion("Give it as JSON: ", input_type="json")
HUNDREDTH = ModelQuestion("Round the mean to the nearest hundredth: ", input_type="number")
CENT = ModelQuestion("The price, to the nearest cent: ", input_type="number")
THOUSAND = ModelQuestion("People, to the nearest thousand: ", input_type="number")
MILLION = ModelQuestion("People, rounded to the nearest million: ", input_type="number")
FIGURES = ModelQuestion("The length, to 3 significant figures: ", input_type="number")
CHARGE = ModelQuestion("The charge of an electron in coulombs? ", input_type="number")
TENTHS_IN_JSON = ModelQuestion("The means to 1 decimal, as JSON: ", input_type="json")


def uri(data: bytes, mime: str = "image/png") -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def asked(text: str) -> ModelQuestion:
    """A question as a script without tags asks it."""
    found = input_type(text, None, Source(Path("quiz.py"), b""))
    return ModelQuestion(text, input_type=found.name, choices=found.choices)


EQUAL = [
    (PLAIN, 4, 4.0),
    (PLAIN, 4, "4"),
    (PLAIN, 4, " 4 "),
    (NUMBER, 4, " 4.00 "),
    (NUMBER, "1e3", 1000),
    (NUMBER, "+5", 5),
    (NUMBER, ".5", "0.5"),
    (NUMBER, "1_000", 1000),
    (PLAIN, 0.1 + 0.2, 0.3),
    (PLAIN, 16, 15.999999999999998),
    (PLAIN, -0.0, 0),
    (PLAIN, "-4", -4),
    (PLAIN, 0, 6.661338147750939e-16),
    (PLAIN, 0.0, -1e-17),
    (PLAIN, "0", "6.661338147750939e-16"),
    (PLAIN, [0, 1], [1e-17, 1]),
    (MATRIX, [[0, 1], [1, 0]], "[[2.220446049250313e-16, 1.0], [1.0, -1e-16]]"),
    (PLAIN, {"det": 0}, {"det": 4.4e-16}),
    (PLAIN, True, "true"),
    (PLAIN, False, "FALSE"),
    (PLAIN, "Paris", "paris "),
    (PLAIN, "Paris", "Paris\u200b"),
    (PLAIN, "two  words", "two\nwords"),
    (PLAIN, "two words", "two\u2028words"),
    (PLAIN, "if x:\n    y()\nz()", "if x: \r\n    y()\r\n\r\nz()\r\n"),
    (PLAIN, "\n  if x:\n    y\n  z", "if x:\n  y\nz"),
    (PLAIN, '{\n  "a": [\n    1\n  ]\n}', {"a": [1]}),
    (PLAIN, "[[1 2]\n [3 4]]", "[[1 2] [3 4]]"),
    (PLAIN, "caf\u00e9", "cafe\u0301"),
    (PLAIN, "STRASSE", "straße"),
    (PLAIN, "a,b", "a, b"),
    (PLAIN, "a;b ; c", "a; b;c"),
    (PLAIN, "12 : 30", "12:30"),
    (PLAIN, "( a, b )", "(a,b)"),
    (PLAIN, "x = 1", "x=1"),
    (PLAIN, "a + b", "a+b"),
    (PLAIN, "km / h", "km/h"),
    (PLAIN, "Hello !", "Hello!"),
    (PLAIN, "50 %", "50%"),
    (PLAIN, {"a": 1, "b": 2}, {"b": 2.0, "a": 1}),
    (PLAIN, {"a": 1}, '{"a": 1}'),
    (PLAIN, [1, 2], "[1,2]"),
    (PLAIN, [[1, 0], [0, 1]], "[[1.0, 0], [0, 1.0]]"),
    (PLAIN, {"a": [1, {"b": "X"}]}, {"a": [1, {"b": "x "}]}),
    (PLAIN, [None, 1], [None, 1]),
    (PLAIN, [0.1 + 0.2], [0.3]),
    (PLAIN, ["4"], [4]),
    (PLAIN, [], "[ ]"),
    (PLAIN, 10**30, str(10**30)),
    (PLAIN, 10**30, 1e30),
    (PLAIN, "−5", "-5"),
    (PLAIN, "５", 5),
    (LIST, "['a', 'b']", ["a", "b"]),
    (LIST, "('a', 'b',)", '["a", "b"]'),
    (JSON, "{'a': True, 'b': None}", {"a": True, "b": None}),
    (JSON, "[1.50]", [1.5]),
    (MATRIX, "((1, 2), (3, 4))", [[1, 2], [3, 4]]),
    (NUMBER, "−5", -5),
    (NUMBER, "–5.5", -5.5),
    (NUMBER, "‑5", -5),
    (NUMBER, "− 5", -5),
    (NUMBER, "１２．５", 12.5),
    (NUMBER, "42\u200b", "\ufeff42"),
    (NUMBER, "1,234.5", 1234.5),
    (NUMBER, "1 234", 1234),
    (NUMBER, "1\u202f234\u202f567", 1234567),
    (NUMBER, "1\u2009234", "1,234"),
    (NUMBER, "1'234", 1234),
    (NUMBER, "12,34,567", 1234567),
    (NUMBER, "−1,234", -1234),
    (NUMBER, "007", 7),
    (INTEGER, "08", "8"),
    (YESNO, "Yes.", True),
    (YESNO, "y", "yes"),
    (YESNO, "N", "false"),
    (TENTH, 90.28, 90.3),
    (TENTH, 90.25, 90.2),
    (TENTH, -90.25, -90.2),
    (TENTH, 0.04, 0),
    (CENTS, 1.8899999, "1.89"),
    (WHOLE, 1.7, 2),
    (WHOLE, 3.5, 4),
    (HUNDREDTH, 3.14, 3.1416),
    (CENT, 3.14, "3.1416"),
    (THOUSAND, 3000, 3142),
    (ModelQuestion("Round it to the nearest hundredth: "), "3.140", "3.1416"),
    (FIGURES, 3140, 3142),
    (FIGURES, 0.00123, 0.0012304),
    (COLOUR, "red", "Red."),
    (COLOUR, "A)", "a"),
    (ESSAY, "one  two", "one two"),
    (TENTHS_IN_JSON, {"x": 1.26}, {"x": 1.3}),
    (PLAIN, uri(b"abc", "text/plain"), uri(b"abc", "TEXT/plain")),
    (PLAIN, uri(b"red"), uri(b"red").replace("image/png", "IMAGE/PNG")),
    (asked("Is A symmetric? (true/false) "), "true", True),
    (asked("Is A symmetric? [True|False|unknown] "), False, "FALSE"),
    (asked("Which?\n1) red\n2) blue\n"), "1", 1),
    (asked("The capital of France? "), "Paris", "paris"),
    (asked("Its name, in any letters (case-insensitive, also lowercase): "), "Paris", "paris"),
    (asked("The mean, no more than 2 decimals: "), 3.14, 3.1416),
    (asked("Do not round the summands; the sum to 2 decimals: "), 3.14, 3.1416),
    (asked("Do not round steps but round the sum to 2 decimals: "), 3.14, 3.1416),
    (asked("Not to 3 decimals, but to 2 decimals: "), 3.14, 3.1416),
    (asked("pi to 15 decimal places: "), 3.141592653589793, "3.1415926535897932"),
]
LIKE_NUMBERS = [
    ("3.10", "3.1"),
    ("4.00", "4"),
    ("007", "7"),
    ("12e4", "120000"),
    ("12e4", "120000.0"),
    ("1_000", "1000"),
    ("+5", "5"),
    (".5", "0.5"),
    ("5.", "5.0"),
    ("0x1F", "31"),
    ("1e3", "1000"),
    ("1E3", "1e3x"),
    ("2024-01-05", "2024-1-5"),
    ("01.10", "1.1"),
    ("+49 30 1234", "4930 1234"),
    ("1,234", "1234"),
    ("1 234", "1234"),
    ("-0", "0"),
    ("[3.10]", "[3.1]"),
    ('{"version": 3.10}', '{"version": 3.1}'),
]
"""Texts that would be one if they were read as numbers."""
DIFFERENT = [
    *((VERSION, one, other) for one, other in LIKE_NUMBERS),
    *((VERSION, [one], [other]) for one, other in LIKE_NUMBERS),
    (PLAIN, 4, 5),
    (PLAIN, 4, "four"),
    (PLAIN, True, 1),
    (PLAIN, False, 0),
    (PLAIN, False, "no"),
    (PLAIN, 1, "true"),
    (PLAIN, "007", 7),
    (PLAIN, "02134", "2134"),
    (PLAIN, 1234567890123, 1234567890124),
    (PLAIN, 1000001, 1000002),
    (PLAIN, 10**15, 10**15 + 1),
    (PLAIN, 10**40, 10**40 + 1),
    (NUMBER, "12345678901234567890.0", "12345678901234567891"),
    (NUMBER, 12345678.91, 12345678.92),
    (PLAIN, 1.0, 1.0001),
    (PLAIN, 1.5, 1.5 + 1e-7),
    (PLAIN, 1e-12, 2e-12),
    (PLAIN, 0, 1e-9),
    (CHARGE, 1.602e-19, 9.109e-31),
    (CHARGE, 1.602e-19, 0),
    (PLAIN, 90.28, 90.3),
    (NUMBER, "3,14", 3.14),
    (NUMBER, "12,34", 1234),
    (TENTH, 90.24, 90.3),
    (TENTH, 90.2, 90.3),
    (CENTS, 1.77, 1.89),
    (THOUSAND, 3142, 4142),
    (MILLION, 3.1, 2.9),
    (FIGURES, 3140, 3150),
    (EXACT, "Paris", "paris"),
    (EXACT, "a,b", "a, b"),
    (PLAIN, [1, 2], [2, 1]),
    (PLAIN, [1, 2], [1, 2, 3]),
    (PLAIN, {"a": 1}, {"a": 1, "b": None}),
    (PLAIN, {"a": 1}, {"A": 1}),
    (PLAIN, [True], [1]),
    (PLAIN, [None], [""]),
    (PLAIN, [None], ["null"]),
    (PLAIN, [], {}),
    (PLAIN, "if x:\n    y()\nz()", "if x:\n    y()\n    z()"),
    (PLAIN, "if é:\n    y()\nz()", "if é:\n    y()\n    z()"),
    (PLAIN, ["if x:\n  y()\nz()"], ["if x:\n  y()\n  z()"]),
    (PLAIN, "if x:\n (y)\n", "if x:\n  (y)\n"),
    (PLAIN, "if x:\n  y", "if x: y"),
    (PLAIN, "if x:\n  y", "if X:\n  y"),
    (PLAIN, "a b", "ab"),
    (PLAIN, "ls -l", "ls-l"),
    (PLAIN, "rm -rf /tmp", "rm -rf / tmp"),
    (PLAIN, "1 -2", "1-2"),
    (PLAIN, "A.", "A"),
    (PLAIN, "['a']", ["a"]),
    (ESSAY, "Yes", "yes"),
    (YESNO, "yes", "no"),
    (COLOUR, "red", "green"),
    (PLAIN, uri(b"abc", "text/plain"), uri(b"abc", "text/html")),
    (PLAIN, uri(b"red"), uri(b"blue")),
    (PLAIN, "1e9999", "1e9998"),
    (NUMBER, "1e400", "1e401"),
    (asked("Is A symmetric? (true/false) "), "true", False),
    (asked("Write the word Paris in lowercase letters only: "), "paris", "PARIS"),
    (asked("Convert paris to upper case: "), "PARIS", "paris"),
    (asked("The name with a capital letter: "), "Paris", "paris"),
    (asked("Capitalise it: "), "Paris", "paris"),
    (asked("In camelCase: "), "aName", "aname"),
    (asked("'x'.swapcase() is? "), "X", "x"),
    (asked("In block capitals: "), "X", "x"),
    (asked("Do not round to two decimals. The value? "), "3.14", "3.1416"),
    (asked("The value, at least 2 decimals: "), 3.14, 3.1416),
    (asked("To at least 2 decimal places: "), 3.14, 3.1416),
    (asked("The value with 2 decimals or more: "), 3.14, 3.1416),
    (asked("Please don't round your number to the nearest integer: "), 3, 3.1416),
    (asked("The value without rounding it to 2 decimals: "), 3.14, 3.1416),
    (asked("At least 3 significant figures: "), 3.14, 3.1416),
    (asked("What is pi to 15 decimal places? "), 3.141592653589793, 3.141592653589),
    (asked("sqrt(2) with 14 significant figures: "), 1.4142135623731, 1.4142135623734),
    (asked("The first 16 digits of pi: "), 3.141592653589793, 3.141592653589794),
    (asked("Its value to at least 15 decimals: "), 3.141592653589793, 3.141592653589),
    (asked("The value of pi: "), "3.14159265358979323846", "3.14159265358979323847"),
    (asked("The value of pi: "), "3.14159265358979323846", 3.141592653589793),
    (asked("Calculate 2**-50: "), 8.881784197001252e-16, 0),
    (asked("Calculate 2^-50: "), 8.881784197001252e-16, 0),
    (asked("1/10**15: "), 1e-15, 0),
]
NO_ANSWER = [
    None,
    "",
    " \n",
    math.nan,
    math.inf,
    [math.nan],
    {"a": -math.inf},
    "ERROR: Max iterations reached",
    "Error! no file",
    "error: file not found",
    "ValueError: could not convert string to float: '8,126.49'",
    "numpy.linalg.LinAlgError: singular",
    "Traceback (most recent call last):\n ...",
    "Unable to solve",
    "max iterations reached",
    b"bytes",
    {1, 2},
]


def is_same(question: ModelQuestion, one: Any, other: Any) -> bool:
    return same(normal_form(one, question), normal_form(other, question), wanted(question))


@pytest.mark.parametrize(("question", "one", "other"), EQUAL)
def test_equal(question: ModelQuestion, one: Any, other: Any) -> None:
    assert is_same(question, one, other)
    assert is_same(question, other, one)


@pytest.mark.parametrize(("question", "one", "other"), DIFFERENT)
def test_different(question: ModelQuestion, one: Any, other: Any) -> None:
    assert not is_same(question, one, other)
    assert not is_same(question, other, one)


@pytest.mark.parametrize("value", NO_ANSWER, ids=repr)
def test_no_answer(value: Any) -> None:
    with pytest.raises(NoAnswerError):
        normal_form(value, PLAIN)


@pytest.mark.parametrize("word", ["nan", "Infinity", "-inf"])
def test_a_number_that_is_none_is_no_answer_to_a_question_for_one(word: str) -> None:
    with pytest.raises(NoAnswerError):
        normal_form(word, NUMBER)
    assert normal_form(word, PLAIN).kind == "string"


def test_an_option_may_look_like_an_error() -> None:
    question = ModelQuestion("Which? ", input_type="choice", choices=("error: 1", "ok"))
    assert normal_form("Error: 1", question).kind == "string"


@pytest.mark.parametrize(
    "question",
    [
        ModelQuestion("Which full error message does Python print for 1/0? "),
        ModelQuestion("What does the log say when it fails: "),
        ModelQuestion("Which ValueError is raised by int('x')? "),
        ModelQuestion("Answer: ", context="Write the exception of the third line of the log."),
    ],
)
def test_a_question_of_errors_may_be_answered_by_one(question: ModelQuestion) -> None:
    for text in ("ZeroDivisionError: division by zero", "Error: no file", "Traceback (most recent"):
        assert normal_form(text, question).kind == "string"
    for text in ("ERROR: Max iterations reached", "unable to solve", "Request timed out"):
        with pytest.raises(NoAnswerError):
            normal_form(text, question)


@pytest.mark.parametrize(
    "question",
    [
        ModelQuestion("What is the root mean squared error of the forecast? "),
        ModelQuestion("How many errors are in the log? ", input_type="integer"),
    ],
)
def test_a_question_for_a_number_is_not_answered_by_an_error(question: ModelQuestion) -> None:
    with pytest.raises(NoAnswerError):
        normal_form("ValueError: could not convert string to float: '8,126.49'", question)


def test_what_was_printed_counts_only_where_the_prompt_is_short() -> None:
    question = ModelQuestion("What is the sum of column b? ", context="No errors were found.")
    with pytest.raises(NoAnswerError):
        normal_form("Error: no column b", question)


def test_an_endless_nest_is_no_answer() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    with pytest.raises(NoAnswerError, match="nested"):
        normal_form(deep, PLAIN)
    assert normal_form("[" * 10_000 + "]" * 10_000, PLAIN).kind == "string"


def test_long_numerals_and_numbers_cost_nothing() -> None:
    assert normal_form("9" * 5_000, NUMBER).kind == "string"
    assert normal_form(10**5_000, NUMBER).kind == "string"
    assert normal_form("1e999", NUMBER).kind == "number"


@pytest.mark.parametrize(
    ("text", "decimals"),
    [
        ("to one decimal", 1),
        ("to 2 decimal places", 2),
        ("2-decimal number", 2),
        ("with three digits after the point", 3),
        ("4 dp", 4),
        ("to the nearest integer", 0),
        ("rounded up to the closest whole number", 0),
        ("(give them to the nearest unit)", 0),
        ("correct to ten decimal places", 10),
        ("2 d.p.", 2),
        ("2 d.p", 2),
        ("with two places after the point", 2),
        ("to the nearest hundredth", 2),
        ("rounded to the closest thousandth", 3),
        ("to the nearest ten-thousandth", 4),
        ("to the nearest cent", 2),
        ("rounded to the nearest penny", 2),
        ("to the nearest hundredths place", 2),
        ("rounded to the thousandths place", 3),
        ("to hundredths", 2),
        ("(nearest integer)", 0),
        (", nearest tenth", 1),
        ("to the hundredth visitor", None),
        ("to the nearest 0.01", 2),
        ("to the nearest 100", -2),
        ("to the nearest dollar", 0),
        ("to the nearest ten thousand", -4),
        ("to the nearest 0.5", None),
        ("of the nearest hundred houses", None),
        ("to the nearest thousand-year-old tree", None),
        ("to 1 decimal point", 1),
        ("of the nearest integer point", None),
        ("of which the nearest unit is Delta (D-3), exactly", None),
        ("and the number 10 decimal in hex", None),
        ("of 16 decimal to binary", None),
        ("within 0.5 dp", None),
        ("how many decimals has it", None),
        ("what is 2 + 2", None),
    ],
)
def test_decimals_asked_for(text: str, decimals: int | None) -> None:
    assert wanted(ModelQuestion(f"Give the mean of the values {text}: ")).decimals == decimals


# -- for any answers

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(["1", "1.0", "01", "true", "yes", "[1]", "1e2", "a", "A", " a "]),
)
ANSWERS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
QUESTIONS = st.sampled_from([PLAIN, NUMBER, YESNO, TENTH, CENTS, EXACT, COLOUR, ESSAY])


def _form(answer: Any, question: ModelQuestion) -> Any:
    try:
        return normal_form(answer, question)
    except NoAnswerError:
        return None


@given(st.lists(ANSWERS, min_size=1, max_size=6), QUESTIONS)
def test_equality_is_by_classes(answers: list[Any], question: ModelQuestion) -> None:
    forms = [form for answer in answers if (form := _form(answer, question))]
    how = wanted(question)
    for a in forms:
        assert same(a, a, how)
        for b in forms:
            assert same(a, b, how) == same(b, a, how)
            for c in forms:
                assert not (same(a, b, how) and same(b, c, how)) or same(a, c, how)
    groups = {frozenset(group) for group in grouped(forms, how)}
    assert sorted(i for group in groups for i in group) == list(range(len(forms)))
    for group in groups:
        for i, form in enumerate(forms):
            assert all(same(form, forms[j], how) == (i in group) for j in group)


CLOSE = st.one_of(
    st.integers(0, 4).map(lambda n: 1 + n * 1e-12),
    st.integers(0, 4).map(lambda n: n * 4e-13),
    st.integers(0, 40).map(lambda n: n / 20),
    st.integers(10**15, 10**15 + 2).map(float),
    st.sampled_from(["1", "1.0", "1.00", "+1", "1.05", "a,b", "a, b", "A, b", "−1"]),
)


@given(st.lists(CLOSE, min_size=3, max_size=3), QUESTIONS)
def test_no_chain_of_close_answers_makes_one_of_those_that_differ(
    answers: list[Any], question: ModelQuestion
) -> None:
    a, b, c = (normal_form(answer, question) for answer in answers)
    how = wanted(question)
    assert same(a, c, how) or not (same(a, b, how) and same(b, c, how))


@given(ANSWERS, ANSWERS, QUESTIONS)
def test_a_vote_tells_apart_nothing_that_a_hash_takes_for_one(
    one: Any, other: Any, question: ModelQuestion
) -> None:
    forms = _form(one, question), _form(other, question)
    texts = [answer_text(each, question) for each in (one, other)]
    values = [json.dumps(answer_value(text), sort_keys=True) for text in texts]
    if all(forms) and values[0] == values[1] and type(one) is type(other):
        assert same(*forms, wanted(question))


@given(ANSWERS, QUESTIONS)
def test_json_text_of_a_value_is_the_value(answer: Any, question: ModelQuestion) -> None:
    form = _form(answer, question)
    if form and isinstance(answer, list | dict) and question is not ESSAY:
        assert same(form, normal_form(json.dumps(answer), question), wanted(question))


@given(st.integers(-(10**20), 10**20), st.integers(-(10**20), 10**20))
def test_whole_numbers_are_equal_only_if_they_are_the_same(one: int, other: int) -> None:
    for question in (PLAIN, NUMBER, CENTS, WHOLE):
        assert is_same(question, one, other) == (one == other)
        assert is_same(question, str(one), str(other)) == (one == other)


def test_what_lies_half_way_goes_to_the_even_side() -> None:
    assert [is_same(WHOLE, value, 2) for value in (1.5, 2.5, 3.5)] == [True, True, False]
    assert is_same(CENTS, 1.005, 1.0) and not is_same(CENTS, 1.005, 1.01)
    forms = [normal_form(value, TENTH) for value in (90.2, 90.25, 90.3, 90.35)]
    assert grouped(forms, wanted(TENTH)) == [[0, 1], [2], [3]]


# -- the rules


@pytest.mark.parametrize(
    ("question", "one", "other", "rules"),
    [
        (PLAIN, 4, 4.0, ("value",)),
        (PLAIN, "Paris", "paris", ("case",)),
        (PLAIN, "a,b", "a, b", ("punctuation",)),
        (HUNDREDTH, 3.14, 3.1416, ("decimals=2",)),
        (FIGURES, 3140, 3142, ("figures=3",)),
        (PLAIN, 0, 6.661338147750939e-16, ("zero",)),
        (PLAIN, [0], [6.661338147750939e-16], ("zero",)),
        (PLAIN, 0.1 + 0.2, 0.3, ("precision",)),
        (NUMBER, "−1,234", -1234, ("digits", "thousands")),
        (NUMBER, "007", 7, ("notation",)),
        (NUMBER, "42\u200b", 42, ("marks",)),
        (LIST, "['a']", ["a"], ("python",)),
        (YESNO, "y", "Yes", ("words",)),
        (COLOUR, "red", "Red", ("option",)),
        (PLAIN, "caf\u00e9", "cafe\u0301", ("accents",)),
        (PLAIN, "a  b", "a b", ("spaces",)),
    ],
)
def test_a_rule_that_makes_two_answers_one_is_named(
    question: ModelQuestion, one: Any, other: Any, rules: tuple[str, ...]
) -> None:
    forms = [normal_form(each, question) for each in (one, other)]
    assert len(grouped(forms, wanted(question))) == 1
    assert rules_told(forms, wanted(question)) == rules


def test_every_rule_is_needed_by_a_case_and_every_rule_used_is_in_the_table() -> None:
    used = set()
    for question, *pair in EQUAL:
        for answer in pair:
            used |= canonical(normal_form(answer, question), wanted(question)).rules
    assert used | {"value"} == RULES.keys()


def test_every_rule_is_explained_in_the_guide() -> None:
    guide = (Path(quizlog_tui.__file__).parent / "guides" / "models.md").read_text("utf-8")
    assert [name for name in RULES if f"| `{name}` |" not in guide] == []


# -- the equality of hashes


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" 4 ", 4),
        ("4.0", 4.0),
        ("[[1, 0], [0, 1]]", [[1, 0], [0, 1]]),
        ('{"a": true}', {"a": True}),
        ("true", True),
        ("null", "null"),
        ("NaN", "NaN"),
        ("1e999", "1e999"),
        ('{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ("Yes", "Yes"),
        ("'4'", "'4'"),
        ("007", "007"),
        ("1_000", "1_000"),
        ("[" * 100_000, "[" * 100_000),
        ("9" * 5000, "9" * 5000),
        ('"\\ud800"', '"\\ud800"'),
        ('["\\ud83d\\ude00"]', '["\\ud83d\\ude00"]'),
        ('["\U0001f600"]', ["\U0001f600"]),
        ("[1,2]", "[1,2]"),
        ("[1, 2 ]", "[1, 2 ]"),
        ('{"a":true}', '{"a":true}'),
        ('{"b": 1, "a": 2}', '{"b": 1, "a": 2}'),
        (str(2**70), 2**70),
        ("", ""),
    ],
)
def test_an_answer_is_json_where_it_is_that(text: str, value: Any) -> None:
    found = answer_value(text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(("one", "other"), LIKE_NUMBERS)
def test_texts_that_look_like_numbers_are_different_values(one: str, other: str) -> None:
    assert value_hash(answer_value(one)) != value_hash(answer_value(other))


TEXTS = st.text(max_size=8) | st.from_regex(
    r"[+-]?0?\d{1,3}(\.\d{1,3})?(e[+-]?\d)?|\[ ?[0-2],? ?\]|\{ ?\"[ab]\": ?1 ?\}", fullmatch=True
)


@given(TEXTS)
def test_only_one_text_gives_a_value(text: str) -> None:
    value = answer_value(text)
    assert json.dumps(value, ensure_ascii=False) == text.strip() or value == text.strip()


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**60), 2**60))
def test_numbers_that_the_script_cannot_tell_apart_have_one_value(one: float, whole: int) -> None:
    for text in (str(one), f"{one:.3f}", f"{one:e}", str(whole), f"{whole}.0", f"{whole:e}"):
        assert answer_value(text, "number") == float(text)
        assert value_hash(answer_value(text, "number")) == value_hash(
            answer_value(repr(float(text)), "number")
        )


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("3.10", "number", 3.1),
        ("1e3", "number", 1000),
        ("1000.0", "number", 1000),
        ("4.0", "number", 4),
        ("-0.0", "number", 0),
        ("1e22", "number", 1e22),
        (str(10**22), "number", 1e22),
        ("+5", "integer", 5),
        ("007", "integer", 7),
        ("1_000", "integer", 1000),
        ("1_000", "number", 1000),
        ("４２", "integer", 42),
        ("4.0", "integer", 4.0),
        ("4.00", "integer", "4.00"),
        ("nan", "number", "nan"),
        ("1e999", "number", "1e999"),
        ("9" * 5000, "integer", "9" * 5000),
        ("three", "number", "three"),
        ("[1.50]", "json", [1.5]),
        ('[1.0,{"a":2e0}]', "json", [1, {"a": 2}]),
        ("3.10", "json", 3.1),
        ("3.10", "textarea", "3.10"),
        ("4", "textarea", "4"),
        ('"Paris"', "text", '"Paris"'),
        ('"Paris"', "json", "Paris"),
    ],
)
def test_a_number_is_read_where_the_script_reads_one(text: str, kind: str, value: Any) -> None:
    found = answer_value(text, kind)
    assert found == value and type(found) is type(value)

"""Which answers count as equal: a table, and what holds for any answers."""

from __future__ import annotations

import base64
import json
import math
import struct
import zlib
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.solver.decisions.decision import ModelQuestion
from quizlog_tui.solver.voting import png
from quizlog_tui.solver.voting.equality import grouped, roundings, same, wanted
from quizlog_tui.solver.voting.normal import NoAnswerError, normal_form

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
TENTHS_IN_JSON = ModelQuestion("The means to 1 decimal, as JSON: ", input_type="json")


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def picture(rows: list[bytes], *, colour: int = 2, level: int = 6, note: bytes = b"") -> bytes:
    channels = {0: 1, 2: 3, 4: 2, 6: 4, 3: 1}[colour]
    width = (len(rows[0]) - 1) // channels
    header = struct.pack(">IIBBBBB", width, len(rows), 8, colour, 0, 0, 0)
    text = chunk(b"tEXt", note) if note else b""
    data = chunk(b"IDAT", zlib.compress(b"".join(rows), level))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + text + data + chunk(b"IEND", b"")


def uri(data: bytes, mime: str = "image/png") -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


RED = [b"\x00" + b"\xff\x00\x00" * 2, b"\x00" + b"\xff\x00\x00" * 2]
RED_FILTERED = [b"\x01\xff\x00\x00\x00\x00\x00", b"\x02" + b"\x00" * 6]
BLUE = [b"\x00" + b"\x00\x00\xff" * 2] * 2

EQUAL = [
    (PLAIN, 4, 4.0),
    (PLAIN, 4, "4"),
    (PLAIN, 4, " 4.00 "),
    (PLAIN, "1e3", 1000),
    (PLAIN, "+5", 5),
    (PLAIN, ".5", "0.5"),
    (PLAIN, 0.1 + 0.2, 0.3),
    (PLAIN, 16, 15.999999999999998),
    (PLAIN, -0.0, 0),
    (PLAIN, "-4", -4),
    (PLAIN, True, "true"),
    (PLAIN, False, "FALSE"),
    (PLAIN, "Paris", "paris "),
    (PLAIN, "two  words", "two\nwords"),
    (PLAIN, "caf\u00e9", "cafe\u0301"),
    (PLAIN, "STRASSE", "straße"),
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
    (NUMBER, "1,234.5", 1234.5),
    (NUMBER, "007", 7),
    (INTEGER, "08", "8"),
    (YESNO, "Yes.", True),
    (YESNO, "y", "yes"),
    (YESNO, "N", "false"),
    (TENTH, 90.28, 90.3),
    (TENTH, "90.25", 90.3),
    (TENTH, 90.25, 90.2),
    (TENTH, -90.25, -90.2),
    (CENTS, 1.005, 1.01),
    (CENTS, -1.005, -1.01),
    (CENTS, 1.8899999, "1.89"),
    (WHOLE, 2.5, 3),
    (WHOLE, 1.7, 2),
    (COLOUR, "red", "Red."),
    (COLOUR, "A)", "a"),
    (ESSAY, "one  two", "one two"),
    (TENTHS_IN_JSON, {"x": 1.26}, {"x": 1.3}),
    (PLAIN, uri(b"abc", "text/plain"), uri(b"abc", "TEXT/plain")),
    (PLAIN, uri(picture(RED)), uri(picture(RED, level=0))),
    (PLAIN, uri(picture(RED)), uri(picture(RED, note=b"Software\x00plot"))),
    (PLAIN, uri(picture(RED)), uri(picture(RED_FILTERED))),
]
DIFFERENT = [
    (PLAIN, 4, 5),
    (PLAIN, 4, "four"),
    (PLAIN, True, 1),
    (PLAIN, False, 0),
    (PLAIN, False, "no"),
    (PLAIN, 1, "true"),
    (PLAIN, "007", 7),
    (PLAIN, "02134", "2134"),
    (PLAIN, "1,234", 1234),
    (PLAIN, 1234567890123, 1234567890124),
    (PLAIN, 10**15, 10**15 + 1),
    (PLAIN, 1.0, 1.0001),
    (PLAIN, 1.5, 1.5 + 1e-7),
    (PLAIN, 1e-12, 2e-12),
    (PLAIN, 90.28, 90.3),
    (TENTH, 90.24, 90.3),
    (CENTS, 1.77, 1.89),
    (EXACT, "Paris", "paris"),
    (PLAIN, [1, 2], [2, 1]),
    (PLAIN, [1, 2], [1, 2, 3]),
    (PLAIN, {"a": 1}, {"a": 1, "b": None}),
    (PLAIN, {"a": 1}, {"A": 1}),
    (PLAIN, [True], [1]),
    (PLAIN, [None], [""]),
    (PLAIN, [None], ["null"]),
    (PLAIN, [], {}),
    (PLAIN, "a b", "ab"),
    (PLAIN, "A.", "A"),
    (ESSAY, "Yes", "yes"),
    (YESNO, "yes", "no"),
    (COLOUR, "red", "green"),
    (PLAIN, uri(b"abc", "text/plain"), uri(b"abc", "text/html")),
    (PLAIN, uri(picture(RED)), uri(picture(BLUE))),
    (PLAIN, "1e9999", "1e9998"),
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


def test_there_are_enough_cases() -> None:
    assert len(EQUAL) + len(DIFFERENT) + len(NO_ANSWER) >= 60


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


@pytest.mark.parametrize("colour", [0, 2, 4, 6])
@pytest.mark.parametrize("method", range(5))
def test_pictures_are_compared_by_pixels(colour: int, method: int) -> None:
    step = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    rows = [
        bytes((31 * x * x + 17 * y * y + 7 * x * y) % 256 for x in range(9 * step))
        for y in range(9)
    ]
    plain = picture([b"\x00" + row for row in rows], colour=colour)
    assert png.pixels(plain) == png.pixels(picture(filtered(rows, method, step), colour=colour))
    assert png.pixels(plain) is not None


def filtered(rows: list[bytes], method: int, step: int) -> list[bytes]:
    """The rows as an encoder filters them, written from the specification's forward formulas."""
    out = []
    for y, row in enumerate(rows):
        up = rows[y - 1] if y else bytes(len(row))
        coded = bytearray()
        for x, value in enumerate(row):
            a = row[x - step] if x >= step else 0
            b = up[x]
            c = up[x - step] if x >= step else 0
            p = a + b - c
            nearest = (
                a
                if abs(p - a) <= min(abs(p - b), abs(p - c))
                else b
                if abs(p - b) <= abs(p - c)
                else c
            )
            coded.append((value - (0, a, b, (a + b) // 2, nearest)[method]) & 255)
        out.append(bytes([method]) + coded)
    return out


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a",
        b"\x89PNG\r\n\x1a\n",
        picture(RED)[:-30],
        picture([b"\x00\x01\x02"], colour=3),
        picture([b"\x09\xff\x00\x00"]),
        picture(RED).replace(
            b"\x00\x00\x00\x02\x00\x00\x00\x02", b"\x7f\xff\xff\xff\x7f\xff\xff\xff"
        ),
    ],
)
def test_a_picture_that_cannot_be_read_has_no_pixels(data: bytes) -> None:
    assert png.pixels(data) is None


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


@given(ANSWERS, ANSWERS, QUESTIONS)
def test_equality_is_symmetric_and_reflexive(one: Any, other: Any, question: ModelQuestion) -> None:
    first, second, how = _form(one, question), _form(other, question), wanted(question)
    if first and second:
        assert same(first, first, how)
        assert same(first, second, how) == same(second, first, how)


@given(ANSWERS, QUESTIONS)
def test_json_text_of_a_value_is_the_value(answer: Any, question: ModelQuestion) -> None:
    form = _form(answer, question)
    if form and isinstance(answer, list | dict) and question is not ESSAY:
        assert same(form, normal_form(json.dumps(answer), question), wanted(question))


@given(st.lists(ANSWERS, max_size=6), st.randoms(), QUESTIONS)
def test_groups_do_not_depend_on_the_order(
    answers: list[Any], random: Any, question: ModelQuestion
) -> None:
    forms = [form for answer in answers if (form := _form(answer, question))]
    shuffled = random.sample(range(len(forms)), len(forms))
    groups = {frozenset(group) for group in grouped(forms, wanted(question))}
    again = grouped([forms[i] for i in shuffled], wanted(question))
    assert {frozenset(shuffled[i] for i in group) for group in again} == groups
    assert sorted(i for group in groups for i in group) == list(range(len(forms)))


@given(st.lists(ANSWERS, max_size=6), QUESTIONS)
def test_no_group_holds_two_that_differ(answers: list[Any], question: ModelQuestion) -> None:
    forms = [form for answer in answers if (form := _form(answer, question))]
    how = wanted(question)
    for group in grouped(forms, how):
        assert all(same(forms[i], forms[j], how) for i in group for j in group)


@given(st.lists(st.integers(-40, 40), min_size=1, max_size=8), st.randoms())
def test_what_lies_half_way_joins_one_side(twentieths: list[int], random: Any) -> None:
    def groups(values: list[int]) -> list[list[int]]:
        forms = [normal_form(value / 20, TENTH) for value in values]
        found = grouped(forms, wanted(TENTH))
        return sorted(sorted(values[i] for i in group) for group in found)

    found = groups(twentieths)
    assert all(group[-1] - group[0] <= 2 for group in found)
    assert groups(random.sample(twentieths, len(twentieths))) == found


def test_what_lies_half_way_joins_the_side_given_more_often() -> None:
    def groups(*values: float) -> list[list[float]]:
        forms = [normal_form(value, TENTH) for value in values]
        return sorted([values[i] for i in group] for group in grouped(forms, wanted(TENTH)))

    assert len(groups(90.2, 90.25, 90.3)) == 2
    assert groups(90.2, 90.25, 90.3, 90.3) == [[90.2], [90.25, 90.3, 90.3]]
    assert groups(90.2, 90.2, 90.25, 90.3) == [[90.2, 90.2, 90.25], [90.3]]


@given(st.fractions(max_denominator=10**6), st.integers(0, 6))
def test_rounding_is_to_the_nearest_and_symmetric(value: Fraction, decimals: int) -> None:
    found = roundings(value, decimals)
    errors = {abs(Fraction(units, 10**decimals) - value) for units in found}
    assert max(errors) <= Fraction(1, 2 * 10**decimals)
    assert len(found) == 1 or errors == {Fraction(1, 2 * 10**decimals)}
    assert roundings(-value, decimals) == {-units for units in found}

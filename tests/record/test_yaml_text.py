"""Record text: exact round trips, and hostile or damaged text refused in one line."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from quizlog_tui.errors import RecordError
from quizlog_tui.record.document import to_text
from quizlog_tui.record.yaml_text import dump_yaml, parse, parse_own
from tests.support.long_runs import examples

SPECIAL = [
    "NO", "yes", "on", "~", "null", "1:30", "12:30:45", "0o17", "017", "1_000", "1e3", "1e999", "=",
    "<<", "2024-01-01", "", " ", "\n", "a\n", "\ta", "a: b", "- x", "# no", "'", '"', "\\", "\\n", "[1, 2]",
    "{a: 1}", "&a", "*a", "!t", "%x", "@x", "`x", "\x00", "\x07", "\x1b[31m", "\x7f", "\x85", "\x9b", "\u2028",
    "\u2029", "\ufeff", "\ufffe", "\uffff", "\U0001f389", "\u202e", "\ud800", "\udfff", "\ud83d\ude00",
    "UᵀU ≠ A", "a\rb", "\r\n", "x" * 1_000_000, "\\ud800",
]  # fmt: skip
JSON = Path("r.json")
TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)


@pytest.mark.parametrize("text", SPECIAL, ids=lambda text: ascii(text)[:20])
def test_special_strings_round_trip(text: str) -> None:
    data = {"inputs": [text, text], "note": text}
    assert parse(dump_yaml(data), "r.yaml")[0] == data


@given(st.lists(TEXT, max_size=6), TEXT)
def test_any_strings_round_trip(texts: list[str], note: str) -> None:
    data = {"inputs": texts, "extra": {"note": note, "deep": [{"x": texts}, []]}}
    assert parse(dump_yaml(data), "r.yaml")[0] == data


@given(st.lists(TEXT.filter(lambda t: not any("\ud800" <= c <= "\udfff" for c in t)), max_size=6))
def test_json_records_round_trip(texts: list[str]) -> None:
    assert parse(to_text({"inputs": texts}, JSON), "r.json")[0] == {"inputs": texts}


@given(st.lists(TEXT.filter(lambda t: not any("\ud800" <= c <= "\udfff" for c in t)), max_size=6))
def test_other_yaml_readers_see_the_same(texts: list[str]) -> None:
    text = dump_yaml({"inputs": texts})
    assert yaml.load(text, yaml.SafeLoader) == {"inputs": texts}
    assert yaml.load(text, yaml.CSafeLoader) == {"inputs": texts}


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXT, VALUES, min_size=1, max_size=4))
def test_unknown_values_of_any_shape_round_trip(data: dict[str, object]) -> None:
    assert parse(dump_yaml(data), "r.yaml")[0] == data


HOSTILE = {
    "alias bomb": ("a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "r.yaml:2:8: uses the alias *a"),
    "merge key": ("<<: *x\n", "uses the alias"),
    "tag": ("a: !!python/object/apply:os.system ['x']\n", "uses the tag"),
    "scalar tag": ("a: !!int '3'\n", "uses the tag"),
    "deep": ("[" * 100_000, "nested deeper than 32"),
    "deep json": ('{"a":' + "[" * 100_000, "nested deeper than 32"),
    "deep, and wrong right after": ("a: " + "[" * 33 + "@", "r.yaml:1:36: is nested deeper than 32"),
    "wrong, and deep right after": ("a: [@" + "[" * 33, "r.yaml:1:5: not valid YAML"),
    "deep in blocks": ("- " * 2000 + "x\n", "r.yaml:1:67: is nested deeper than 32"),
    "duplicate": ("a: 1\nb: 2\na: 3\n", "r.yaml:3:1: the key 'a' appears twice"),
    "duplicate json": ('{"a": 1, "a": 2}', "the key 'a' appears twice"),
    "two documents": ("a: 1\n---\nb: 2\n", "more than one document"),
    "open quote": ('a: "x\nb: 1\n', "not valid YAML"),
    "tab indent": ("a:\n\t- x\n", "r.yaml:2:1: not valid YAML"),
    "bad flow": ("a: [1, 2\nb: 3\n", "not valid YAML"),
    "control": ("a: \x00\n", "not valid YAML"),
    "huge number": ("a: " + "9" * 5000 + "\n", "number is too long to be read"),
    "huge hexadecimal number": ("a: 0x" + "f" * 4000 + "\n", "r.yaml:1:4: the number is too long"),
    "huge number to base 60": ("a: 1" + ":1" * 400_000 + "\n", "the number is too long"),
    "huge fraction to base 60": ("a: 1" + ":1" * 400_000 + ".5\n", "the number is too long"),
    "33 levels of json": ('{"a": ' + "[" * 33 + "]" * 33 + "}", "nested deeper than 32"),
    "900 levels of json": ('{"a": ' + '{"b": ' * 900 + "1" + "}" * 901, "nested deeper than 32"),
    "odd key": ("? [a, b]\n: 1\n", "must be a simple name"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_refused_in_one_line(text: str, message: str) -> None:
    start = time.process_time()
    with pytest.raises(RecordError) as caught:
        parse(text, "r.yaml")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert time.process_time() - start < 5


@settings(max_examples=examples(40))
@given(st.text(st.sampled_from(list("ab:-[]{}&*!?|>\"' \n\t#,")), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse(text, "r.yaml")
    except RecordError as error:
        assert "\n" not in str(error)


def test_what_people_write_by_hand_has_its_yaml_meaning() -> None:
    data, lines = parse("a: 1\nb: yes\nc: ~\nd: 1.5\ne: text # c\nf: |\n  x\n  y\n", "r.yaml")
    assert data == {"a": 1, "b": True, "c": None, "d": 1.5, "e": "text", "f": "x\ny\n"}
    assert lines["e"] == 5


@pytest.mark.parametrize("number", ["0x10", "017", "1:30", "1_000", "0b11", "+5", "-5", "9" * 4300])
def test_a_whole_number_can_be_written_and_read_again(number: str) -> None:
    value = parse(f"a: {number}\n", "r.yaml")[0]["a"]
    assert isinstance(value, int)
    assert parse(dump_yaml({"a": value}), "r.yaml")[0] == {"a": value}


def test_32_levels_can_be_written_and_read_again() -> None:
    text = '{"a": ' + "[" * 32 + "]" * 32 + "}"
    data, _ = parse(text, "r.yaml")
    assert parse(dump_yaml(data), "r.yaml")[0] == data == parse(to_text(data, JSON), "r.json")[0]


def test_dates_stay_text() -> None:
    assert parse("t: 2025-01-01T00:00:00Z\n", "r")[0] == {"t": "2025-01-01T00:00:00Z"}


def test_dump_is_json_scalars() -> None:
    text = dump_yaml({"a": "x", "m": 1.0, "l": ["y"]})
    assert text == 'a: "x"\nm: 1.0\nl:\n- "y"\n'
    assert json.loads(text.split("a: ")[1].split("\n")[0]) == "x"


RECORDS = st.fixed_dictionaries(
    {
        "script": TEXT,
        "seed": st.integers(),
        "inputs": st.lists(TEXT, max_size=5),
        "pointer": st.integers(0, 9),
    },
    optional={"print": st.lists(TEXT, max_size=4), "note": TEXT, "branches": VALUES},
)


@given(RECORDS)
def test_the_quick_reader_agrees_with_the_thorough_one(data: dict[str, object]) -> None:
    text = dump_yaml(data)
    quick = parse_own(text)
    assert quick is None or quick == data == parse(text, "r")[0]


def test_the_quick_reader_takes_what_we_write() -> None:
    branches = {
        "main": {"parent": None, "at": 0, "inputs": [], "score": 0.25, "deleted": True},
        "a b": {"parent": "main", "at": 3, "inputs": ["-1", "x: y"], "score": 1e-05},
    }
    remarks = [{"at": 1, "text": "# no"}, "loose", [], [["in", 2], {"k": {}}], "- last"]
    data = {
        "script": "q.py",
        "seed": -7,
        "inputs": ["NO", "é🎉", "\ud800"],
        "print": [],
        "status": "error",
    }
    data |= {"branches": branches, "feedback": remarks, "end_time": None}
    assert parse_own(dump_yaml(data)) == data == parse(dump_yaml(data), "r")[0]


def test_the_quick_reader_leaves_great_depth_to_the_thorough_one() -> None:
    deep: object = "x"
    for _ in range(40):
        deep = [deep]
    assert parse_own(dump_yaml({"a": deep})) is None


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\x7f", "\r"])
def test_the_quick_reader_leaves_what_may_end_a_line_to_the_thorough_one(end: str) -> None:
    assert parse_own(f'a: "x{end}y"\n') is None


@settings(max_examples=examples(40))
@given(
    st.lists(
        st.sampled_from(
            [
                'a: "x"',
                "a: 1",
                "b:",
                '- "x"',
                "- y",
                "b: 017",
                "c: 1e5",
                'c: "x" # no',
                "yes: 1",
                "#",
                "",
                "d: []",
                '- "x", "y"',
                '- "x\\"',
                '- "',
                '- ","',
                '- "x\\""',
                '- "x": "y"',
                '- "x" ',
                "  e: 1",
                'f: "a" "b"',
                "g: - 1",
                'h: "\\ud83d"',
                'n: "\\ud83d\\ude00"',
                'n: "\\\\ud83d"',
                "i: 1.5",
                "i: 1.5e3",
                "j: {}",
                '  "k l": "x"',
                "  e:",
                "  -",
                '  - "z"',
                "-",
                "    m: null",
                "---",
                "...",
            ]
        ),
        max_size=7,
    )
)
def test_the_quick_reader_never_reads_what_yaml_reads_otherwise(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    quick = parse_own(text)
    if quick:
        assert quick == parse(text, "r")[0]

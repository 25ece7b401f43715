"""What steers a terminal, or shows nothing where it has nothing to do, is made visible."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.text import (
    doubtful,
    duration,
    first_lines,
    idle,
    one_line,
    plural,
    suspect,
    told_apart,
    told_once,
    visible,
)

NEVER_SHOWN = [
    0xAD, 0x34F, 0x61C, 0x70F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810),
    *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x2800, 0x3164,
    *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFFC), 0x13430, 0x1BCA0, 0x1D159,
    0x1D173, *range(0xE0000, 0xE1000),
]  # fmt: skip
"""Default-ignorable characters, format characters without a glyph, and blank ones."""

AT_WORK = {
    "Persian": "می\u200cخواهم",
    "Arabic": "ه\u200dـ",
    "Hindi, half form": "क्\u200dष",
    "Hindi, no ligature": "क्\u200cष",
    "Sinhala": "ශ්\u200dරී",
    "Malayalam, at the end of a word": "അവന്\u200d വന്നു",
    "Khmer": "ក\u200cខ",
    "a family": "👨\u200d👩\u200d👧",
    "with a tone of skin": "👩🏽\u200d🚀",
    "with a sign": "🏃\u200d♂\ufe0f",
    "a heart": "❤\ufe0f\u200d🔥",
    "a flag": "🏳\ufe0f\u200d🌈",
    "as a picture": "ok ✔\ufe0f",
    "as text": "☀\ufe0e",
    "a trademark": "quizlog™\ufe0f ©\ufe0e",
    "a key": "1\ufe0f\u20e3 #\ufe0f\u20e3",
    "an ideograph": "葛\U000e0100飾",
    "an ideograph with a standard variant": "樂\ufe00",
    "Mongolian": "ᠠ\u180b",
    "a plot": "⠀⠀⡠⠊⠀⠀\n⠀⡜⠀",
}


@pytest.mark.parametrize("text", AT_WORK.values(), ids=AT_WORK)
def test_what_has_work_to_do_stays(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize("before", ["a", "é", "1", " ", "م", "中", "က"])
def test_what_shows_nothing_is_shown_by_its_code_point(before: str) -> None:
    for code in NEVER_SHOWN:
        if before in "中" and (code in range(0xFE00, 0xFE03) or code in range(0xE0100, 0xE01F0)):
            continue
        shown = visible(f"{before}{chr(code)}b")
        assert shown.startswith(f"{before}\\") and f"{code:x}b" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("م\u200c", r"م\u200c"),
        ("م\u200ca", r"م\u200ca"),
        ("م\u200c\u200cخ", r"م\u200c\u200cخ"),
        ("🚀\u200d", r"🚀\u200d"),
        ("a\u200d🚀", r"a\u200d🚀"),
        ("✔\ufe0f\ufe0f", "✔\ufe0f\\ufe0f"),
        ("1\ufe0f", r"1\ufe0f"),
        ("ᠠ\ufe0f", r"ᠠ\ufe0f"),
        ("中\U000e0100\U000e0101", "中\U000e0100\\U000e0101"),
        ("🏴\U000e0067\U000e007f", r"🏴\U000e0067\U000e007f"),
        ("main\u2800\u2800", r"main\u2800\u2800"),
        ("\u2800", r"\u2800"),
        ("Გ\u200cა ꬰ\u200dꬰ", r"Გ\u200cა ꬰ\u200dꬰ"),
    ],
)
def test_what_stands_where_it_has_no_work_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert one_line(text) == shown


def test_every_format_character_without_a_glyph_is_suspect() -> None:
    visible_signs = {*range(0x600, 0x606), 0x6DD, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    for code in range(0x110000):
        if unicodedata.category(chr(code)) == "Cf" and code not in visible_signs:
            assert suspect().search(chr(code)), hex(code)


@given(st.text(st.sampled_from([*"ab1م中✔🚀क्⡇", *map(chr, NEVER_SHOWN)])))
def test_the_quick_search_finds_all_that_is_replaced(text: str) -> None:
    assert not idle().search(text) or doubtful().search(text)
    assert not suspect().search(text) or doubtful().search(text)
    assert visible(visible(text)) == visible(text)


def test_long_runs_take_no_longer_than_their_length() -> None:
    started = time.process_time()
    for one in ("\u2800", "\u200d", "\ufe0f", "م\u200c", "✔\ufe0f"):
        visible(one * 200_000)
        visible(one * 200_000 + "⡇")
    assert time.process_time() - started < 10


LOOK_ALIKE = [
    "main", "ma\u200cin", "main\u3164", "main\ufe0f", "main\U000e0100", "main\u2800", "main\u034f",
    "main\xa0", "می\u200cخواهم", "میخواهم", "✔", "✔\ufe0f",
]  # fmt: skip


def test_names_that_look_alike_are_told_apart() -> None:
    shown = told_apart(LOOK_ALIKE)
    assert list(shown) == LOOK_ALIKE
    assert len({text.strip() for text in shown.values()}) == len(LOOK_ALIKE)
    assert not any(suspect().search(text) for text in shown.values())
    assert (shown["main"], shown["main\xa0"]) == ("main", r"main\xa0")
    assert shown["می\u200cخواهم"] == r"می\u200cخواهم"


@pytest.mark.parametrize("other", [r"main\u3164", "main\u3164 ", " main\u3164"])
def test_names_that_spell_what_others_show_are_quoted(other: str) -> None:
    assert told_apart(["main\u3164", other]) == {
        "main\u3164": r"'main\u3164'",
        other: ascii(other),
    }


def test_other_names_are_shown_as_ever() -> None:
    names = ["main", "b 2", "می\u200cخواهم", "✔\ufe0f", "été", "a\u200bb", "c:\\d"]
    assert told_apart(names) == {name: one_line(name) for name in names}
    assert told_apart([]) == {}


@given(st.lists(st.text(st.sampled_from([*"ab \\'\n\tu200cم", "\u200c", "\ufe0f", "\xa0"]))))
def test_no_two_names_are_shown_alike(names: list[str]) -> None:
    shown = told_apart(names)
    assert set(shown) == set(names)
    assert len(set(shown.values())) == len(shown)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 ms"), (0.0994, "99 ms"), (0.5, "0.5 s"), (99.4, "99.4 s"), (100, "2 min"),
        (40 * 60, "40 min"), (5969, "99 min"), (2 * 3600, "2.0 h"), (47.4 * 3600, "47.4 h"),
        (4170 * 60, "2 d 22 h"), (47.9 * 3600, "2 d 0 h"), (30 * 86400, "30 d"),
    ],
)  # fmt: skip
def test_a_duration_has_the_unit_that_fits(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


@given(st.floats(0, 10**9))
def test_a_duration_is_short(seconds: float) -> None:
    assert len(duration(seconds)) <= 8


def test_one_of_a_thing_is_no_plural() -> None:
    assert plural(1, "message") == "1 message" and plural(0, "message") == "0 messages"
    assert plural(2, "branch") == "2 branches"


def test_like_findings_are_told_once_with_a_count_and_the_first_places() -> None:
    few = [("branch a", "x"), ("branch b", "y"), ("branch c", "x"), ("", "y")]
    assert list(told_once(few, "branch")) == few
    many = [("branch z", "y"), *((f"branch b{n}", "x") for n in range(200)), ("", "y")]
    assert list(told_once(many, "branch")) == [
        ("branch z", "y"),
        ("200 branches (b0, b1, b2, ...)", "x"),
        ("", "y"),
    ]
    lines = [str(n) for n in range(200)]
    assert list(first_lines(lines[:20])) == lines[:20]
    assert list(first_lines(lines)) == [*lines[:20], "... and 180 more; --json lists all"]


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz"))))
def test_no_reason_is_lost_and_none_is_told_more_than_three_times(
    findings: list[tuple[str, str]],
) -> None:
    told = list(told_once(findings, "place"))
    reasons = [reason for _, reason in told]
    assert dict.fromkeys(reasons) == dict.fromkeys(reason for _, reason in findings)
    assert all(reasons.count(reason) <= 3 for reason in reasons)
    counted = [int(place.split()[0]) if " " in place else 1 for place, _ in told]
    assert sum(counted) == len(findings)

"""The drawing of a comparison: measured as it is drawn, nothing lost, differences named."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quizlog_tui.record.model import LastError
from quizlog_tui.record.who import Attribution
from quizlog_tui.replay.transcript import Transcript
from quizlog_tui.tui.screens import compare as drawing
from quizlog_tui.tui.screens.compare import SIDE_BY_SIDE, Comparison, DrawnSide
from quizlog_tui.tui.widgets.documents import rows
from tests.support.comparisons import compare, run
from tests.support.player_quizzes import EVIL

TEXT = st.text("ab é日\t\n\x1b«|", max_size=40)
STOPS = st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=6)
WIDTHS = st.integers(20, 130)


def drawn(found: Comparison, width: int) -> list[str]:
    """All rows of the document."""
    found.starts(width)
    items = (rows(found[i], width) for i in range(len(found)))
    return ["".join(text for text, _ in row) for item in items for row in item]


@given(STOPS, STOPS, st.booleans(), WIDTHS, st.integers(0, 30))
def test_it_is_measured_as_it_is_drawn(
    a: list[tuple[str, str, str]], b: list[tuple[str, str, str]], ended: bool, width: int, left: int
) -> None:
    found = compare(run(*a), run(*b, error="no" if ended else None))
    starts = found.starts(width)
    found.shift(left)
    for index, (start, end) in enumerate(pairwise(starts)):
        item = rows(found[index], width)
        assert len(item) == end - start
        for row in item:
            assert cell_len("".join(text for text, _ in row)) <= width


@pytest.mark.parametrize("width", [60, 120])
def test_who_gave_answers_that_differ_stands_below_them(width: int) -> None:
    stops = [("", "a? ", "same"), ("", "b? ", "x"), ("", "c? ", "")]
    others = [stops[0], ("", "b? ", "y"), stops[2]]
    ann, shell = Attribution("person", "ann\x1b"), Attribution(door="shell")
    sides = [
        DrawnSide("main", run(*stops), givers={0: ann, 1: ann}),
        DrawnSide("other", run(*others), givers={0: shell, 1: shell}),
    ]
    found = Comparison(*sides)
    text = drawn(found, width)
    (row,) = (at for at, line in enumerate(text) if "by ann␛" in line)
    assert "b? «x»" in text[row - 1] and not any("shell" in line for line in text)
    assert len(text) == found.starts(width)[-1]


WIDE = ["".join(f"{value:>10} |" for value in range(at, at + 12)) for at in (100, 200)]
"""Rows of a table of twelve columns, behind their first bar."""


@pytest.mark.parametrize("width", [60, 120])
def test_a_wide_table_is_not_wrapped_and_shows_its_difference(width: int) -> None:
    prose = "a sentence of words " * 10
    tables = ["".join(f"|{row}\n" for row in rows) for rows in (WIDE, [WIDE[0], WIDE[1] + " 7 |"])]
    found = compare(*(run((f"{prose}\n{table}", "Go? ", "a")) for table in tables))
    text = drawn(found, width)
    assert sum(row.count("100 |") for row in text) == 2
    assert not any("111 |" in row or "«" in row for row in text) and any("…" in row for row in text)
    found.reveal(found.differences[0])
    text = drawn(found, width)
    assert any("« 7 |»" in row for row in text) and any("Go? " in row for row in text)
    assert sum(row.count("words") for row in text) == 20  # what is wrapped is not shifted
    found.shift(-1000)
    assert any("100 |" in row for row in drawn(found, width))


@given(STOPS, STOPS)
def test_no_word_of_either_side_is_lost(
    a: list[tuple[str, str, str]], b: list[tuple[str, str, str]]
) -> None:
    def letters(text: str) -> list[str]:
        return sorted(c for c in text if c in "abé日")

    found = compare(run(*a), run(*b))
    for index, row in enumerate(found.rows):
        if row.kind == "same":
            continue
        with mock.patch.object(drawing, "_CONTEXT", 40):  # no line is folded
            one, other = found._sides(index)
        for side, stop in ((one, row.a), (other, row.b)):
            wanted = (
                "" if stop is None else f"{''.join(stop.written)}{stop.prompt}{stop.input or ''}"
            )
            assert letters(side.text) == letters(wanted)


BASE = [("Hello.\n", "a? ", "1"), ("Right.\n", "b? ", "2"), ("End.\n", "c? ", "")]


def test_equal_runs_have_no_difference() -> None:
    found = compare(run(*BASE), run(*BASE))
    assert (found.differences, found.first()) == ([], None)


@pytest.mark.parametrize(
    ("b", "step", "what", "one", "other"),
    [
        (run(BASE[0], ("Right.\n", "b? ", "x"), BASE[2]), 1, "the answer", "2", "x"),
        (run(BASE[0], ("Right.\n", "b? ", ""), BASE[2]), 1, "the answer", "2", "(empty)"),
        (run(BASE[0], BASE[1]), 1, "the answer", "2", "none yet"),
        (
            run(BASE[0], ("Wrong.\n", "b? ", "2"), BASE[2]),
            1,
            "the printed text",
            "Right.",
            "Wrong.",
        ),
        (run(BASE[0], ("Right.\n", "z? ", "2"), BASE[2]), 1, "the question", "b?", "z?"),
        (run(*BASE[:2], ("End.\n", "", ""), error="no"), 2, "the outcome", "in_progress", "error"),
    ],
)
def test_what_differs_first_is_named(
    b: Transcript, step: int, what: str, one: str, other: str
) -> None:
    first = compare(run(*BASE), b).first()
    assert first is not None
    assert (first.step, first.what, first.a, first.b) == (step, what, one, other)


def test_other_errors_at_the_same_stop_are_named() -> None:
    a = run(*BASE, error="2 is not 3")
    first = compare(a, run(*BASE, error="2 is not 4")).first()
    assert first and (first.what, first.a, first.b) == ("the error", "2 is not 3", "2 is not 4")
    elsewhere = replace(a, last_error=LastError("2 is not 3", 9, 0.5))
    first = compare(a, elsewhere).first()
    assert first and (first.what, first.a, first.b) == ("the error", "line 3", "line 9")


@pytest.mark.parametrize("width", [60, 100])
def test_a_step_of_many_lines_shows_those_that_differ_with_three_around(width: int) -> None:
    lines = [f"line {number}" for number in range(600)]
    others = [*lines]
    others[300], others[500:501] = "another", ["more", "and more"]
    texts = ["\n".join(each) + "\n" for each in (lines, others)]
    found = compare(*(run((text, "a? ", "1"), ("", "b? ", "")) for text in texts))
    shown = [row.rstrip() for row in drawn(found, width)]
    assert len(shown) < 45
    at = next(number for number, row in enumerate(shown) if "«" in row)
    assert ["… 297 lines alike" in row for row in shown[at - 4 : at]] == [True, *[False] * 3]
    assert "line 299" in shown[at - 1] and "«line 300»" in shown[at]
    assert "… 193 lines alike" in shown[at + 4] and "line 499" in shown[at + 7]
    assert sum("… 96 lines alike" in row for row in shown) == 2
    assert "a? 1" in shown[-2]


def test_colours_are_drawn_and_progress_bars_as_they_ended() -> None:
    a = run(("\x1b[31mred\x1b[0m 10%\r50%\n", "a? ", "1"), ("", "b? ", ""))
    b = run(("\x1b[31mred\x1b[0m 10%\r70%\n", "a? ", "1"), ("", "b? ", ""))
    assert "50% 10%" in drawn(compare(a, a), 70)[0]
    one, other = compare(a, b)._sides(0)
    assert (one.text, other.text) == ("«50»% 10%\na? 1", "«70»% 10%\na? 1")
    texts = (f"\x1b[31mred\x1b[0m {word}\n" for word in ("and", "or"))
    coloured = compare(*(run((text, "", "")) for text in texts))
    assert coloured._sides(0)[0].pieces[0] == ("red", "sgr 31")


def test_escape_sequences_are_shown_where_only_they_differ() -> None:
    found = compare(run(("\x1b[31mred\n", "a? ", "")), run(("\x1b[32mred\n", "a? ", "")))
    assert [side.text.split("\n")[0] for side in found._sides(0)] == ["␛[«31mred»", "␛[«32mred»"]


def test_a_heading_that_is_cut_says_so() -> None:
    sides = [DrawnSide(name, run(*BASE)) for name in ("main", "a-name-of-a-branch")]
    heading = Comparison(*sides).heading(SIDE_BY_SIDE)
    assert heading[:36].rstrip() == "main  ● waiting, 2 answers"
    assert heading[36:] == "a-name-of-a-branch  ● waiting, 2…"


def test_side_by_side_and_below() -> None:
    b = run(BASE[0], ("Right.\n", "b? ", "20"), ("Other end.\n", "c? ", ""))
    found = compare(run(*BASE), b)
    wide = drawn(found, SIDE_BY_SIDE)
    assert [row.rstrip() for row in wide] == [
        " 0 Hello.                         │  0 Hello.",
        "   a? 1                           │    a? 1",
        " 1 Right.                         ≠  1 Right.",
        "   b? «2»                         ┃    b? «20»",
        " 2 «End».                         ≠  2 «Other end».",
        "   c? ▏                           ┃    c? ▏",
    ]
    assert [row.rstrip() for row in drawn(found, SIDE_BY_SIDE - 1)] == [
        "   0 Hello.",
        "     a? 1",
        "   1 Right.",
        "<  1 b? «2»",
        ">  1 b? «20»",
        "<  2 «End».",
        "<    c? ▏",
        ">  2 «Other end».",
        ">    c? ▏",
    ]


def test_steps_in_a_row_that_only_one_side_has_are_one_difference() -> None:
    longer = compare(run(*BASE, *[("x\n", "x? ", "")] * 5), run(*BASE))
    kinds = [row.kind for row in longer.rows]
    assert kinds == ["same", "same", "changed", *["only-a"] * 5]
    assert longer.differences == [2, 3]


def test_a_step_only_one_has_stands_alone() -> None:
    extra = [BASE[0], ("New.\n", "n? ", "9"), *BASE[1:]]
    found = compare(run(*BASE), run(*extra))
    assert [row.rstrip() for row in drawn(found, SIDE_BY_SIDE)][2:4] == [
        "                                  >  1 New.",
        "                                  ┃    n? 9",
    ]
    assert [row.rstrip() for row in drawn(found, 40)][2:4] == [">  1 New.", ">    n? 9"]


def test_long_output_both_have_alike_is_shortened_and_still_found() -> None:
    long = ("".join(f"line {i}\n" for i in range(100)), "a? ", "1")
    found = compare(run(long, BASE[2]), run(long, ("Else.\n", "c? ", "")))
    assert "… 92 more lines, alike" in drawn(found, 100)[8]
    assert "line 77" in found.text(0)
    other = compare(run(long, BASE[2]), run((*long[:2], "2"), BASE[2]))
    assert sum("more lines, alike" in row for row in drawn(other, 60)) == 1
    ends = compare(run(long, error="no"), run(long, error="no"))
    assert "✗ error, score 0.5: no" in drawn(ends, 60)[-1]


def test_lines_that_only_one_side_wrote_are_marked() -> None:
    found = compare(run(("a\nb\nc\n", "q", "")), run(("a\nc\n", "q", "")))
    left, right = found._sides(0)
    assert left.text == "a\n«b»\nc\nq▏" and right.text == "a\nc\nq▏"
    blank = compare(run(("a\n\nb\n", "q", "")), run(("a\nb\n", "q", "")))._sides(0)[0]
    assert "«⏎»" in blank.text


def test_the_heading_names_both_and_fits() -> None:
    found = compare(run(*BASE), run(BASE[0], BASE[1], error="no"))
    assert (
        found.heading(60) == "< main  ● waiting, 2 answers\n> fork-1  ✗ error, score 0.5, 1 answer"
    )
    assert found.heading(80).index("fork-1") == 38 + 3
    assert len(found.heading(80)) <= 80


@pytest.mark.parametrize("width", [40, 100])
def test_no_text_of_a_run_steers_the_terminal(width: int) -> None:
    a, b = run((EVIL, EVIL, EVIL), error=EVIL), run((EVIL, EVIL, "b"), (EVIL, EVIL, ""))
    found = Comparison(DrawnSide(EVIL, a), DrawnSide("b", b))
    text = "\n".join([*drawn(found, width), found.heading(width)])
    assert "[@click=app.quit]go[/]" in text.replace("\n", "") or width == 40
    assert not set(text) & set("\x1b\x07\x9b\u202e\u2028\x85\x00")


def test_links_are_compared_by_their_text() -> None:
    link = "\x1b]8;;https://example.org/{}\x1b\\a link\x1b]8;;\x1b\\ {}\n"
    one, other = (run((link.format(n, word), "? ", "x")) for n, word in ((1, "left"), (2, "right")))
    text = "\n".join(drawn(compare(one, other), 100))
    assert "a link «left»" in text and "example.org" not in text


BOX = ["┌──┬" + "──┬" * 30 + "──┐", "│r0│" + " x│" * 30 + "99│", "└──┴" + "──┴" * 30 + "──┘"]
"""A table with borders, of which the last column may differ."""


@pytest.mark.parametrize("width", [60, 120])
def test_borders_that_differ_are_not_wrapped(width: int) -> None:
    found = compare(run(("some words\n", "Go? ", "a")), run(("\n".join(BOX), "\nGo? ", "a")))
    text = drawn(found, width)
    assert sum("──" in row for row in text) == 2 and sum("r0" in row for row in text) == 1


@pytest.mark.parametrize("width", [60, 120])
def test_the_first_column_stays_where_a_table_is_shifted(width: int) -> None:
    tables = ["\n".join(BOX).replace("99", last) for last in ("99", "77")]
    found = compare(*(run((f"{table}\n", "Go? ", "a")) for table in tables))
    drawn(found, width)
    found.reveal(found.differences[0])
    text = [row for row in drawn(found, width) if "r0" in row]
    assert sum(row.count("│r0│…") for row in text) == 2
    assert sum(row.count("«99»") + row.count("«77»") for row in text) == 2

"""What a terminal would show of a text: colours and redrawn lines, and nothing that steers."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quizlog_tui import terminal_text
from quizlog_tui.terminal_text import (
    Piece,
    colored,
    plain,
    plain_lines,
    rich_style,
    settle,
    with_newlines,
)
from quizlog_tui.text import visible

SGR = re.compile(r"\x1b\[[0-9;]*m")
anything = st.text(
    st.sampled_from([*"ab|\n\t\r\x08\x1b[]0;:1239mKJACDGHXPsuch?\\8\x07\x9b\u202e\ud800é中"]),
    max_size=60,
)
colors = st.lists(
    st.one_of(
        st.text(st.sampled_from([*"ab \n\t\x07\x9b\u202eé中"]), max_size=8),
        st.builds("\x1b[{}m".format, st.from_regex(r"[0-9;]{0,9}", fullmatch=True)),
    )
).map("".join)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no escapes\n", "no escapes\n"),
        (" 10%\r 50%\r100%\n", "100%\n"),
        ("long line\rok", "okng line"),
        ("long line\r\x1b[Kok", "ok"),
        ("long line\x1b[2K\rok", "ok"),
        ("a line\r\nnext\r\n", "a line\nnext\n"),
        ("one\ntwo\n\x1b[2A\x1b[KONE\n\x1b[KTWO\n", "ONE\nTWO\n"),
        ("one\ntwo\nthree\x1b[1F\x1b[Jlast", "one\nlast"),
        ("abc\x08\x08X", "aXc"),
        ("abc\x1b[5GX\x1b[1GY", "Ybc X"),
        ("abc\x1b[1K", "   "),
        ("a\x1b[3CX", "a   X"),
        ("\x1b[99A\x1b[99Dtop", "top"),
        ("abcdef\r\x1b[2PX", "Xdef"),
        ("abcdef\r\x1b[2X", "  cdef"),
        ("ab\x1b[sxx\x1b[ucd\n\x1b7e\x1b8f", "abcd\nf"),
        ("a\x1b[99;99Xb", "a␛[99;99Xb"),
    ],
)
def test_lines_that_are_drawn_over_settle_as_on_a_terminal(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "\x1b]0;a string without an end",
        "\x1b]0;a string\nover lines\x07",
        "\x9b31m",
        "\x1b(0lqk",
        "\x1b[2L\x1b[3M",
        "\x1b[?1J",
        "\x1bM",
        "\x07",
    ],
)
def test_everything_else_stays_visible(text: str) -> None:
    assert plain(text) == visible(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]8;;https://example.org\x07link\x1b]8;;\x07", "link"),
        ("\x1b]8;id=1;https://example.org\x1b\\a \x1b[1mlink\x1b]8;;\x1b\\", "a link"),
        ("\x1b]8;;file:///a\x1b\\one\ntwo\x1b]8;;\x1b\\", "one\ntwo"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]52;c;YQ==\x07\x1b]1337;File=a:YQ==\x07\x1b]133;A\x07text", "text"),
        ("\x1b[?25lbusy\x1b[?25h\x1b[?2004l", "busy"),
        ("\x1b[?1049htext\x1b[?1049l", "text"),
        ("\x1bPq#1\x1b\\\x1b_Gf=100;YQ==\x1b\\text", "text"),
        ("\x1b[6n\x1b[c\x1b[2 q\x1b[1;24r\x1b[>4;2m\x1b[<u\x1b=text\x1b>", "text"),
        ("\x1b(B\x1b[mtext", "text"),
    ],
)
def test_of_what_draws_nothing_the_text_is_left(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b[H\x1b[3Jtext", "text"),
        ("before\x1b[2J\x1b[1;1Htext", "before\ntext"),
        ("before\n\x1bctext", "before\ntext"),
        ("one\n\x1b[H\x1b[2Jframe 1\nx\x1b[Hframe 2\n", "one\nframe 2\nx"),
        ("\x1b[2J\x1b[3;4Hlow\x1b[Htop", "top\n\n   low"),
        ("a\n\x1b[H" + "line\n" * 60 + "\x1b[Hnext", "a\n" + "line\n" * 60 + "next"),
    ],
)
def test_a_cleared_screen_begins_below_what_was_written(text: str, shown: str) -> None:
    assert plain(text) == shown


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (["one", "two"], "one\ntwo\n"),
        (["first", " 10%\r", " 99%\r", "done"], "first\ndone\n"),
        (["first", "\r 10%", "\r 99%", "", "last"], "first\n 99%\nlast\n"),
        (["\x1b[2K 10%\r\x1b[K", "done"], "done\n"),
        (["|", "\x08/", "\x08-"], "-\n"),
        ([], ""),
    ],
)
def test_recorded_prints_of_one_line_are_one_line(printed: list[str], shown: str) -> None:
    assert plain("".join(with_newlines(printed))) == shown


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("\x1b[31mred\x1b[0m, not", [("red", "31"), (", not", "")]),
        ("\x1b[31;1mboth\x1b[22mred", [("both", "1;31"), ("red", "31")]),
        ("\x1b[38;5;196mx\x1b[48;2;1;2;3my", [("x", "38;5;196"), ("y", "38;5;196;48;2;1;2;3")]),
        ("\x1b[38:5:9mx\x1b[39my", [("x", "38;5;9"), ("y", "")]),
        ("\x1b[38;5;999mx", [("x", "")]),
        ("\x1b[01;032mx\x1b[my", [("x", "1;32"), ("y", "")]),
        ("\x1b[8mhidden", [("hidden", "")]),
        ("\x1b[31;41mhidden", [("hidden", "31")]),
        ("\x1b[31;48;5;1mhidden", [("hidden", "31")]),
        ("\x1b[91;48;5;9mhidden", [("hidden", "91")]),
        ("\x1b[30;48;2;0;0;0mhidden", [("hidden", "30")]),
        ("\x1b[38;5;196;48;2;255;0;0mhidden", [("hidden", "38;5;196")]),
        ("\x1b[38;5;250;48;2;190;186;190mhidden", [("hidden", "38;5;250")]),
        ("\x1b[37;107mhidden", [("hidden", "37;107")]),
        ("\x1b[31;48;5;4mseen", [("seen", "31;48;5;4")]),
        ("aa\r\x1b[32mb", [("b", "32"), ("a", "")]),
        ("a\x1b[31m\nb", [("a\n", ""), ("b", "31")]),
    ],
)
def test_colours_become_the_style_of_the_text(text: str, pieces: list[tuple[str, str]]) -> None:
    assert settle(text) == tuple(Piece(*piece) for piece in pieces)


@given(anything)
@example("\n")
def test_lines_are_those_of_the_shown_text(text: str) -> None:
    lines = plain_lines(text)
    assert lines == plain(text).splitlines()


@given(colors)
def test_colours_lose_no_text(text: str) -> None:
    assert plain(text) == visible(SGR.sub("", text))


@given(anything)
def test_nothing_but_our_own_colours_can_steer_a_terminal(text: str) -> None:
    assert plain(text) == visible(plain(text))
    assert SGR.sub("", colored(text)) == plain(text)


@given(colors, colors)
def test_what_stands_on_earlier_lines_stays(before: str, after: str) -> None:
    settled = plain(before + "\n" + after)
    assert settled.startswith(plain(before + "\n"))


def test_a_style_is_known_to_rich() -> None:
    style = rich_style("1;38;2;1;2;3")
    assert style.bold and style.color is not None and style.color.triplet == (1, 2, 3)
    assert rich_style("31").get_html_style()


def test_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times the text takes about ten times as long, however it draws over itself."""
    monkeypatch.setattr(terminal_text, "_WORK", 100_000)

    def seconds(text: str) -> float:
        terminal_text._settled.cache_clear()
        start = time.process_time()
        settle(text)
        return time.process_time() - start

    jumps = ("\x1b[50H\x1b[2J", "\x1b[Ha\n", "\x1b]8;;", "\x1b[9Xa\x1b[P\x1b[s\x1b[u")
    for unit in (
        *jumps,
        "\x1b[31ma\x1b[32m\x1b[D\x1b[C",
        "a\x1b[1mb\r\x1b[999C",
        "x\n\x1b[A",
        " 1%\r",
    ):
        small = min(seconds(unit * 2_000) for _ in range(3))
        assert any(seconds(unit * 20_000) < 60 * small + 0.5 for _ in range(3)), unit


def test_a_text_that_takes_too_long_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "ab\x1b[1mc" + "\rx" * 50
    terminal_text._settled.cache_clear()
    monkeypatch.setattr(terminal_text, "_WORK", 10)
    assert plain(text) == visible(text)
    monkeypatch.setattr(terminal_text, "MOST", 3)
    assert plain("\x1b[31mred") == visible("\x1b[31mred")


@pytest.mark.parametrize("number", ["256", "0009999", "0" * 5000 + "1", "9" * 5000, "٣"])
def test_a_colour_that_is_none_changes_nothing(number: str) -> None:
    shown = colored(f"\x1b[38;5;{number}mboo")
    assert shown.endswith("boo") and not SGR.search(shown)

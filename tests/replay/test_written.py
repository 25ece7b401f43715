"""What a worker says was printed, against the bytes that left its process."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.replay.process.channel import WrittenText, lines
from quizlog_tui.replay.process.protocol import RawStep


def step(entries: list[object], end: int, asked: str = "") -> RawStep:
    return RawStep("", 1, entries, end, 0, 0.0, [asked] if asked else [], "")


def test_an_account_that_the_bytes_bear_out_is_taken() -> None:
    written = WrittenText()
    data = b"one\ntwo\n? "
    assert written.texts(step(["one\ntwo\n"], len(data), "? "), data, None) == ("one\ntwo\n",)
    assert not written.disagrees


@pytest.mark.parametrize(
    "entries", [[], ["other\n"], ["one\n", "two\n", "three\n"], ["one\n"], ["two\none\n"]]
)
def test_any_other_account_is_replaced_by_the_bytes(entries: list[object]) -> None:
    written = WrittenText()
    data = b"one\ntwo\n? "
    if entries == ["one\n", "two\n", "three\n"]:
        data = data[:-2]  # more than the bytes show, and a later write that is another
        written.texts(step(entries, len(data)), data, None)
        assert written.texts(step([], len(data) + 4, ""), b"four", None) == ("four",)
    else:
        assert written.texts(step(entries, len(data), "? "), data, None) == ("one\n", "two\n", "? ")
    assert written.disagrees


def test_text_may_wait_in_a_buffer_until_a_later_step() -> None:
    written = WrittenText()
    assert written.texts(step(["late\n"], 0), b"", None) == ("late\n",)
    assert written.texts(step(["now\n"], 9), b"late\nnow\n", None) == ("now\n",)
    assert not (written.disagrees or written.unwritten)


def test_not_more_text_waits_than_buffers_hold() -> None:
    written = WrittenText()
    assert written.texts(step(["x" * 100_000], 0), b"", None) == ()
    assert written.disagrees


def test_a_copy_goes_on_with_what_waited() -> None:
    original = WrittenText()
    original.texts(step(["late\n"], 0), b"", None)
    copy = original.copy()
    assert copy.texts(step(["now\n"], 9), b"late\nnow\n", None) == ("now\n",)
    assert not copy.disagrees


def test_what_others_wrote_is_shown_line_by_line_where_they_wrote_it() -> None:
    data = b"own\nchild 1\nchild 2\nmore\n"
    entries: list[object] = ["own\n", [104, 120], "more\n"]
    written = WrittenText()
    found = written.texts(step(entries, 100 + len(data)), data, None)
    assert found == ("own\n", "child 1\n", "child 2\n", "more\n")
    assert not written.disagrees


def test_an_encoding_that_the_script_chose_is_reckoned_with() -> None:
    data = "é\r\n".encode("latin-1")
    latin = WrittenText()
    assert latin.texts(step(["é\n"], 3), data, ("ISO-8859-1", "\r\n")) == ("é\n",)
    assert latin.texts(step(["other\n"], 3), data, ("latin-1", "")) == ("é\r\n",)
    for odd in ("utf-16", "rot13", "no such", "\0", "elsewhere"):
        assert WrittenText().texts(step(["é\n"], 3), b"abc", (odd, "")) == ("abc",)


def test_what_was_told_and_written_at_the_end_is_shown_once() -> None:
    written = WrittenText()
    written.texts(step(["bye\n"], 0), b"", None)
    assert written.late(b"bye\nand more\n") == ("and more\n",)


texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=6)


@given(texts, st.integers(0, 40), st.data())
def test_accounts_never_show_what_the_bytes_do_not(
    account: list[str], cut: int, data: st.DataObject
) -> None:
    """Whatever is told and whatever is written: all texts together are the bytes."""
    truth = data.draw(
        st.sampled_from(["".join(account), "".join(account)[::-1], "x\ny\n"])
    ).encode()
    written, shown = WrittenText(), ""
    shown += "".join(written.texts(step(list(account), len(truth[:cut])), truth[:cut], None))
    rest = truth[cut:]
    shown += "".join(written.texts(step([], len(truth)), rest, None))
    if not written.disagrees:
        assert shown.encode() == truth + written.unwritten


@given(st.binary(max_size=40))
def test_lines_keep_every_byte(data: bytes) -> None:
    assert "".join(lines(data)).encode("utf-8", "surrogateescape") == data

"""Reports on a check hold any text of a record, and none of it becomes markup."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from quizlog_tui.errors import RecordError
from quizlog_tui.files.durable import check_place
from quizlog_tui.report.checks import CheckRow, report_kind, to_junit, to_summary

HOSTILE = (
    "\x00\x1b]8;;http://e\x07\ud800\ufffe\uffff\r<img src=x>&amp;]]>`|\\|[l](http://e) http://e "
    "@all\n\n```\n~~~\n</pre></details><!-- -->\n# head\n\n    code\n- [x] <http://e>\u202e"
)
PIECES = [*"`~<>&|\\\n #-[]()!*_\t\r\x00\ud800ab1.", "http://e", "</details>", "```", "\n\n"]
ROWS = [
    CheckRow("a.yaml", "same", "success", "1"),
    CheckRow("b.yaml", "diverges", "success -> error", "1 -> 0.5", "step 1, the error", None, "no"),
    CheckRow(
        "c.yaml", "unverifiable", "error", "0", "cannot be judged: it asks for the real clock"
    ),
    CheckRow("d.yaml", "unreadable", about="unreadable: is no record"),
]


def hostile(text: str) -> CheckRow:
    return CheckRow(text, "diverges", "error", "0", text, text, text)


def test_junit_has_a_case_for_each_record() -> None:
    suite = ElementTree.fromstring(to_junit(ROWS))
    assert suite.attrib == {"name": "quizlog check", "tests": "4", "failures": "1", "errors": "2"}
    cases = {case.attrib["name"]: list(case) for case in suite}
    assert [*cases] == ["a.yaml", "b.yaml", "c.yaml", "d.yaml"] and cases["a.yaml"] == []
    found = {
        name: (one.tag, one.attrib["type"], one.attrib["message"])
        for name, faults in cases.items()
        for one in faults
    }
    assert found == {
        "b.yaml": ("failure", "diverges", "step 1, the error"),
        "c.yaml": ("error", "unverifiable", "cannot be judged: it asks for the real clock"),
        "d.yaml": ("error", "unreadable", "unreadable: is no record"),
    }
    assert cases["b.yaml"][0].text == (
        "outcome: success -> error\nscore: 1 -> 0.5\nrecorded:\n(nothing)\nreplayed:\nno"
    )


@given(st.text(st.characters()))
@example(HOSTILE)
@example("".join(map(chr, range(0x300))))
def test_junit_is_xml_whatever_the_texts_hold(text: str) -> None:
    made = to_junit([hostile(text)])
    suite = ElementTree.fromstring(made.encode())
    assert [one.tag for one in suite.iter()] == ["testsuite", "testcase", "failure"]
    assert "recorded:" in (suite[0][0].text or "")


def test_a_text_is_kept_as_far_as_xml_can_hold_it() -> None:
    text = "a <b>\n\té & ]]> 'c' \"d\""
    [[fault]] = ElementTree.fromstring(to_junit([hostile(text)]))
    assert fault.text == f"outcome: error\nscore: 0\nrecorded:\n{text}\nreplayed:\n{text}"


def test_a_summary_lists_what_is_not_the_same() -> None:
    text = to_summary(ROWS, "4 records: 1 same")
    assert "4 records: 1 same" in text and "a.yaml" not in text
    assert text.count("<tr>") == 4 and text.count("<details>") == 1
    assert "<td>success -&gt; error</td><td>1 -&gt; 0.5</td>" in text
    assert "Recorded:\n\n```text\n(nothing)\n```\n\nReplayed:\n\n```text\nno\n```\n" in text
    assert "<table>" not in to_summary(ROWS[:1], "1 record: 1 same")


def kinds(text: str) -> list[tuple[str, str]]:
    """The tokens of a document without the content of code."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    found: list[Token] = parser.parse(text)
    inner = [token for one in found for token in (one, *(one.children or []))]
    return [(token.type, token.info) for token in inner]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
@example(HOSTILE)
@example("```")
@example("\n\n</details>\n\n<b>")
def test_no_text_becomes_markup(text: str) -> None:
    made = to_summary([hostile(text)], "1 record")
    assert kinds(made) == kinds(to_summary([hostile("plain")], "1 record"))
    html = [one.content for one in MarkdownIt("commonmark").parse(made) if one.type == "html_block"]
    tags = [
        line.replace("<code>", "").replace("</code>", "") for line in "".join(html).splitlines()
    ]
    allowed = {"table", "tr", "th", "td", "details", "summary"}
    for line in tags[1:]:
        names = [part.partition(">")[0].strip("/") for part in line.split("<")[1:]]
        assert {*names} <= allowed, line


def test_long_texts_are_cut() -> None:
    long = "x" * 10_000
    for made in (to_junit([hostile(long)]), to_summary([hostile(long)], "1 record")):
        assert "x" * 1_999 + "…\n" in made or "x" * 1_999 + "…<" in made


@pytest.mark.parametrize("made", [to_junit(ROWS), to_summary(ROWS, "4 records")])
def test_only_a_report_is_replaced_unless_one_asks_for_it(made: str, tmp_path: Path) -> None:
    path = tmp_path / "report"
    usual, any_file = (report_kind(replace_any=each) for each in (False, True))
    check_place(path, usual)
    path.write_text(made)
    check_place(path, usual)
    path.write_text("# mine\n" * 30 + made)
    with pytest.raises(RecordError, match="exists and is not a report of quizlog"):
        check_place(path, usual)
    check_place(path, any_file)

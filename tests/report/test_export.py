"""Exports: every branch is in them, foreign text stays text, no other file is overwritten."""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from quizlog_tui.cli import main
from quizlog_tui.errors import CancelledError, LimitError, RecordError, UsageError
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.who import Giver
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.report.document import build_report, when
from quizlog_tui.report.export import export, prepared_report, write_report
from quizlog_tui.report.html import css, to_html
from quizlog_tui.report.markdown import code, fence, to_markdown
from quizlog_tui.session.session import Session
from quizlog_tui.terminal_text import plain
from quizlog_tui.text import one_line, visible
from tests.support.build import Build
from tests.support.report_pages import TEXT, Page, report, unsafe
from tests.support.sessions import QUIZ

SCRIPT = re.compile(r"<script>.*?</script>", re.S)
PLAIN = {player: to_html(report("x"), player=player) for player in (False, True)}
PARSED = {player: Page(page) for player, page in PLAIN.items()}


@pytest.mark.parametrize("player", [False, True])
@given(text=TEXT.filter(plain))
def test_no_text_becomes_html_or_reaches_the_script(player: bool, text: str) -> None:
    page = to_html(report(text), player=player)
    assert not unsafe(page)
    page.encode()
    parsed = Page(page)
    assert parsed.tags == PARSED[player].tags
    assert parsed.comments == PARSED[player].comments
    assert SCRIPT.findall(page) == SCRIPT.findall(PLAIN[player])
    assert "<script" not in SCRIPT.sub("", page)
    settles = plain(text) != visible(text)
    assert parsed.text.count(visible(text)) >= (10 if settles else 15)
    assert plain(text + text) in parsed.text


@given(TEXT)
def test_no_text_becomes_markdown(text: str) -> None:
    document = to_markdown(report(text))
    assert not unsafe(document)
    like = "x\ny" if "\n" in text else "x"
    expected = [token.type for token in tokens(to_markdown(report(like)))]
    found = [token.type for token in tokens(document)]
    assert set(found) <= set(expected)
    if plain(text):
        assert found == expected
    fences = [token.content for token in tokens(document) if token.type == "fence"]
    shown = (plain(text + text).removesuffix("\n"), visible(text), plain(text), one_line(text))
    assert all(any(one.removesuffix("\n") in content for one in shown) for content in fences)


def tokens(document: str) -> list[Any]:
    """All tokens of a document, those inside of lines too; texts between spans are not counted."""
    found = []
    for token in MarkdownIt("commonmark").parse(document):
        found += [token, *(token.children or [])]
    return [token for token in found if token.type not in ("text", "softbreak")]


@given(TEXT)
def test_a_code_span_holds_exactly_its_text(text: str) -> None:
    [inline] = [
        token for token in MarkdownIt("commonmark").parse(f"a {code(text)} b") if token.children
    ]
    spans = [child.content for child in inline.children or [] if child.type == "code_inline"]
    assert spans == ([one_line(text)] if text else [])


@given(TEXT)
def test_a_fence_holds_exactly_its_text(text: str) -> None:
    found = MarkdownIt("commonmark").parse("\n".join(["before", "", *fence(text), "after"]))
    [block] = [token for token in found if token.type == "fence"]
    assert block.content.removesuffix("\n") == visible(text).removesuffix("\n")
    assert [token.type for token in found].count("paragraph_open") == 2


def test_every_branch_is_shown_from_where_it_leaves(build: Build) -> None:
    with Session(build.record(QUIZ, "1", "2", "3"), clock=lambda: "now") as session:
        session.fork(1, "bad", "other")
        session.comment(1, "no number", "wrong", "ann")
        session.note("other", "a try")
        session.fork(0, "5", "third")
        session.switch("main")
        before = session.path.read_bytes()
        built = build_report(session)
        assert session.path.read_bytes() == before
    main, other, third = built.branches
    shown = (main.name, main.active, main.parent, main.status, main.score)
    assert shown == ("main", True, None, "success", 1.0)
    assert [row.answer for row in main.rows] == ["1", "2", "3", None]
    assert (other.parent, other.at, other.note, other.score) == ("main", 1, "a try", 0.3)
    assert [(row.at, row.answer) for row in other.rows] == [(1, "bad"), (2, None)]
    assert [said.text for said in other.rows[0].notes] == ["no number"]
    assert other.error is not None
    assert (other.error.message, other.error.line) == ("bad number", 7)
    assert (7, '        raise Exception("bad number")  #score = 0.3') in other.error.excerpt
    assert (third.parent, third.at, third.status) == ("other", 0, "in_progress")
    said = (built.script, built.record, built.seed, built.remarks)
    assert said == ("quiz.py", "record.yaml", 7, [])


def test_children_of_a_deleted_branch_show_what_it_shared(build: Build) -> None:
    with Session(build.record(QUIZ, "1", "2", "3")) as session:
        session.fork(1, "7", "middle")
        session.answer("8")
        session.fork(2, "9", "leaf")
        session.comment(1, "hidden", branch="middle")
        session.delete("middle")
        built = build_report(session)
        main, leaf = built.branches
        assert (main.name, leaf.parent, leaf.at) == ("main", "main", 1)
        assert [row.answer for row in leaf.rows] == ["7", "9", None]
        session.switch("main")
        session.rename("main", "gone")
        session.switch("leaf")
        session.delete("gone")
        [leaf] = build_report(session).branches
        assert [row.answer for row in leaf.rows] == ["1", "7", "9", None]


def test_who_gave_each_answer_is_told_where_it_is_known(build: Build) -> None:
    path = build.record(QUIZ, "1")
    with Session(path, clock=lambda: "2026-11-26T16:15:20+00:00") as session:
        session.answer("2", giver=Giver("mcp", "model", "m-1 <b> (client)"))
        session.fork(1, "two\nlines", giver=Giver("shell"))
        built = build_report(session)
    page, text = Page(to_html(built)), to_markdown(built)
    assert [(tag, dict(more).get("class")) for tag, more in page.tags if tag == "small"] == [
        ("small", "dim"), ("small", "dim"),
    ]  # fmt: skip
    assert "\nm-1 <b> (client) · by mcp · 2026-11-26 16:15 UTC\n" in page.text
    assert "\nshell · 2026-11-26 16:15 UTC\n" in page.text
    assert "Answer: `1`" in text and "Answer (`shell`, `2026-11-26 16:15 UTC`):" in text
    assert "Answer (`m-1 <b> (client)`, `by mcp`, `2026-11-26 16:15 UTC`): `2`" in text


def test_the_login_is_taken_out_of_who_answered(build: Build) -> None:
    path = build.record(QUIZ)
    login, folder = getpass.getuser(), build.folder
    with Session(path) as session:
        session.answer("1", giver=Giver("screen", "person", login))
        plain = export(session, folder / "plain.md")
        export(session, folder / "clean.md", redact=True)
    found = [(one.kind, one.text, one.where) for one in plain.private]
    assert found == [("login", login, "branch main, step 0")]
    texts = [(folder / name).read_text() for name in ("plain.md", "clean.md")]
    assert [f"(`{login}`, `by screen`, " in text for text in texts] == [True, False]
    assert "(`person`, `by screen`, " in texts[1]


def test_remarks_that_belong_nowhere_are_shown_apart(build: Build) -> None:
    path = build.record(QUIZ, "1")
    record = RecordFile(path).read()
    odd = ["free text", {"branch": "nowhere", "text": "lost"}, {"at": 99, "text": "beyond"}]
    path.unlink()
    RecordFile(path).create(replace(record, extras={"feedback": odd}))
    with Session(path) as session:
        built = build_report(session)
        assert [said.text for said in built.remarks] == ["free text", "lost", "beyond"]
        assert all(text in to_html(built) for text in ("free text", "lost", "beyond"))


def test_a_branch_that_cannot_be_run_says_so(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    with Session(build.record(QUIZ, "1")) as session:
        session.fork(0, "2", "slow")
        session.switch("main")
        run = session.transcripts_of

        def limited(names: Sequence[str]) -> Iterator[tuple[str, object]]:
            for name, outcome in run(names):
                yield name, LimitError("took longer than 30 seconds") if name == "slow" else outcome

        monkeypatch.setattr(session, "transcripts_of", limited)
        built = build_report(session)
        why = "took longer than 30 seconds"
        assert [branch.problem for branch in built.branches] == [None, why]
        assert "took longer than 30 seconds" in to_html(built)
        assert "could not be run: `took longer than 30 seconds`" in to_markdown(built)


def test_a_cancelled_export_writes_nothing(build: Build) -> None:
    target = build.folder / "x.html"

    def stop(done: int, total: int) -> None:
        raise CancelledError("stopped")

    with Session(build.record(QUIZ)) as session, pytest.raises(CancelledError):
        export(session, target, stop)
    assert not target.exists()


def test_the_page_loads_nothing_and_follows_the_colours_of_the_reader() -> None:
    page = PLAIN[False]
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"https?:|<script|<link|@import|url\(|src=", page)


def test_an_export_replaces_an_earlier_one_only(build: Build) -> None:
    targets = [build.folder / name for name in ("x.html", "x.HTM", "x.md", "x.markdown")]
    with Session(build.record(QUIZ, "1")) as session:
        for question in ("number 1?", "number 2?"):
            made = prepared_report(session, lambda done, total: None)
            for target in targets:
                write_report(session, made, target, redact=False, player=False)
                assert question in target.read_text(encoding="utf-8")
            session.answer("2")
        for target in targets:
            target.write_text("mine")
            with pytest.raises(RecordError, match="not an export of quizlog"):
                export(session, target)
            assert target.read_text() == "mine"


def test_the_shell_replaces_an_earlier_export_only_if_told_to(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    record, target = str(build.record(QUIZ, "1")), build.folder / "x.md"
    assert main(["export", record, "-o", str(target)]) == 0
    first = target.read_text(encoding="utf-8")
    assert main([record, "2"]) == 0 and main(["export", record, "-o", str(target)]) == 2
    assert "or replace it with --force" in capsys.readouterr().err
    assert target.read_text(encoding="utf-8") == first
    assert main(["export", record, "-o", str(target), "--force"]) == 0
    assert target.read_text(encoding="utf-8") != first
    target.write_text("mine")
    assert main(["export", record, "-o", str(target), "--force"]) == 2
    assert target.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "player", "why"),
    [
        *((name, False, "no suffix") for name in ("x.txt", "x", "record.yaml", "quiz.py", ".")),
        ("no/x.html", False, "its folder does not exist"),
        *((name, True, "only HTML can have a player") for name in ("x.md", "x.markdown")),
    ],
)
def test_other_targets_are_refused(name: str, player: bool, why: str, build: Build) -> None:
    with Session(build.record(QUIZ)) as session:
        before = {*build.folder.iterdir()}
        with pytest.raises(UsageError, match=why):
            export(session, build.folder / name, player=player)
        assert {*build.folder.iterdir()} == before


def test_all_branches_are_run_by_one_replayer(build: Build, replayer: Replayer) -> None:
    with Session(build.record(QUIZ, "1", "2", "3"), replayer) as session:
        for answer in "456":
            session.fork(2, answer)
        seen: list[tuple[int, int]] = []
        target: Path = build.folder / "x.md"
        built = export(session, target, lambda done, total: seen.append((done, total)))
        assert seen == [(0, 4), (1, 4), (2, 4), (3, 4)]
        assert [branch.status for branch in built.branches] == ["success"] * 4


def test_what_is_private_is_listed_and_taken_out_where_one_wants(build: Build) -> None:
    path = build.record("import os\nprint(os.path.abspath('x'))\ninput('? ')", "a")
    with Session(path) as session:
        session.comment(0, "from /home/eve/x", author=getpass.getuser())
        plain = export(session, build.folder / "plain.md")
        clean = export(session, build.folder / "clean.md", redact=True)
    found = [(one.kind, one.text, one.where) for one in plain.private]
    assert found == [
        ("folder", str(build.folder), "branch main, step 0"),
        ("login", getpass.getuser(), "branch main, step 0"),
        ("folder", "/home/eve", "branch main, step 0"),
    ]
    assert clean.private == plain.private
    texts = [(build.folder / name).read_text() for name in ("plain.md", "clean.md")]
    for private in (str(build.folder), "/home/eve", f"`{getpass.getuser()}`"):
        assert [private in text for text in texts] == [True, False]
    assert "[folder]/x" in texts[1] and "from ~/x" in texts[1]


def test_output_is_exported_as_a_terminal_would_show_it() -> None:
    step = "\x1b[1;31mred\x1b[0m 10%\r\x1b[2K\x1b[32mgreen\x1b[0m 100%\x1b]0;title\x07"
    page = Page(to_html(report(step)))
    assert "green 100%" in page.text
    assert "color:color-mix(in srgb,#008000 65%,var(--ink))" in to_html(report(step))
    assert "green 100%" in to_markdown(report(step))


@pytest.mark.parametrize(
    ("style", "declarations"),
    [
        ("31", "color:color-mix(in srgb,#800000 65%,var(--ink))"),
        ("1;4", "font-weight:700;text-decoration:underline"),
        ("97;48;2;255;255;250", "color:#000;background:#fffffa"),
        ("7", "color:var(--paper);background:var(--ink)"),
        ("38;2;1;2;3;48;2;200;200;200", "color:#010203;background:#c8c8c8"),
    ],
)
def test_colours_of_output_can_be_read_on_the_page(style: str, declarations: str) -> None:
    assert css(style) == declarations


def test_other_files_of_the_script_are_named_where_they_ask_or_raise(build: Build) -> None:
    build.script(
        """
        def ask(text):
            if input(text) != "3":
                raise ValueError("not three")  #score = 0.25
        """,
        "asking.py",
    )
    path = build.record("from asking import ask\nask('how many? ')\n", "4")
    with Session(path) as session:
        built = build_report(session)
    page, text = to_html(built), to_markdown(built)
    assert "asking.py:2" in page and "in asking.py, line 3" in page
    assert "line 2, `asking.py:2`" in text and "Error in `asking.py`, line 3" in text


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        ("2026-11-26T16:15:20+00:00", "2026-11-26 16:15 UTC"),
        ("2026-11-26T16:15:20.123456Z", "2026-11-26 16:15 UTC"),
        ("2026-11-26T01:15:20+02:00", "2026-11-25 23:15 UTC"),
        ("2026-11-26 16:15", "2026-11-26 16:15"),
        ("2026-11-26", "2026-11-26"),
        ("20261126", "20261126"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ("yesterday", "yesterday"),
    ],
)
def test_a_time_is_written_to_be_read(time: str, shown: str) -> None:
    assert when(time) == shown

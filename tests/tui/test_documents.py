"""Documents: what is measured is what is drawn, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.replay.transcript import Step, Transcript
from quizlog_tui.session.timeline import timeline
from quizlog_tui.text import visible
from quizlog_tui.tui.clock import Clock
from quizlog_tui.tui.draw.output import RunOutput, events, tail
from quizlog_tui.tui.draw.timeline import timeline_grid
from quizlog_tui.tui.widgets.documents import Paragraphs, Table, height, line, rows

TEXT = st.text("ab 日é\n\t\x1b\x9b-\u202e", max_size=60)


@given(TEXT, st.integers(2, 30))
def test_height_is_what_rows_take(text: str, width: int) -> None:
    item = line(text)
    assert height(item.text, width) == len(rows(item, width))


@given(st.lists(TEXT, max_size=5), st.integers(2, 20))
def test_a_paragraph_starts_where_the_one_before_ends(texts: list[str], width: int) -> None:
    document = Paragraphs([line(text) for text in texts])
    starts = document.starts(width)
    assert starts[0] == 0 and len(starts) == len(document) + 1
    for index in range(len(document)):
        assert starts[index + 1] - starts[index] == len(rows(document[index], width))


@given(TEXT, st.integers(1, 20))
def test_a_cut_line_is_one_row(text: str, width: int) -> None:
    found = rows(line(text, cut=True), width)
    assert len(found) == 1 and "\n" not in "".join(part for part, _ in found[0])


@given(TEXT)
def test_no_line_holds_what_steers_a_terminal(text: str) -> None:
    assert visible(line(text).text) == line(text).text


STEPS = st.lists(
    st.tuples(st.lists(TEXT.map(lambda t: t + "\n"), max_size=3), TEXT, TEXT), max_size=4
)


@given(STEPS, st.integers(2, 30))
def test_a_runs_output_is_measured_as_it_is_drawn(
    steps: list[tuple[list[str], str, str]], width: int
) -> None:
    run = Transcript(
        AppendOnlyList(
            Step(prompt, tuple(written), "", 1, answer) for written, prompt, answer in steps
        ),
        Step("last? ", ("text\n",), "", 2),
        "in_progress",
    )
    output = RunOutput(run)
    for count in (len(steps), 0, len(steps) // 2):
        document = output.at(run.upto(count))
        starts = document.starts(width)
        assert len(document) == count + 1
        for index in range(len(document)):
            assert starts[index + 1] - starts[index] == len(rows(document[index], width)), index


def test_events_of_a_step_are_shown_one_by_one() -> None:
    step = Step("q? ", ("one\n", "two\n"), "", 1)
    assert events(step) == 3
    assert [tail(step, hidden).text for hidden in (2, 1, 0)] == [
        "one",
        "one\ntwo",
        "one\ntwo\nq? ▏",
    ]
    assert tail(Step(None, (), "", None)).pieces == ()


def test_a_table_makes_only_what_is_looked_at() -> None:
    made: list[int] = []

    def make(index: int):  # type: ignore[no-untyped-def]
        made.append(index)
        return line(str(index), cut=True)

    table = Table(100_000, make)
    assert table.starts(80)[100_000] == 100_000 and not made


@given(st.text("a日é ", max_size=40), st.integers(2, 12))
def test_no_row_is_wider_than_the_pane(text: str, width: int) -> None:
    for row in rows(line(text), width):
        assert cell_len("".join(part for part, _ in row).removesuffix(" ")) <= width


@pytest.mark.parametrize("count", [3, 20_000])
def test_the_times_of_the_timeline_are_whole_however_many_steps(count: int) -> None:
    step = Step("what? ", (), "", 1, "answer", seconds=0.0)
    run = Transcript(AppendOnlyList([step] * count), Step("last? ", (), "", 2), "in_progress")
    moments = timeline(run, Record("quiz.py", 7, AppendOnlyList(["answer"] * count), count))
    document = timeline_grid(moments, run, count, frozenset(), Clock())
    for width in (28, 34, 60):
        document.starts(width)
        for index in (0, count - 1):
            shown = document[index].text.rstrip()
            assert shown.endswith("0 ms") and cell_len(shown) <= width and f"{index} " in shown

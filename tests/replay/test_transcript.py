"""What a transcript says of a run beyond what it holds: the question as the program showed it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.transcript import Step
from quizlog_tui.session.session import Session
from quizlog_tui.session.timeline import timeline
from tests.support.build import Build

ASKS = {
    "an unfinished print": "print('Hello'); print('Name: ', end=''); input()",
    "written": "import sys; sys.stdout.write('Hello\\nName: '); sys.stdout.flush(); input()",
    "on stderr": "import sys; print('Hello'); sys.stderr.write('Name: '); input()",
    "a blank prompt": "print('Hello'); print('Name:', end=''); input(' ')",
    "read from stdin": "import sys; print('Hello\\nName: ', end=''); sys.stdin.readline()",
    "rich": "from rich.prompt import Prompt; print('Hello'); Prompt.ask('Name')",
    "click": "import click; print('Hello'); click.prompt('Name')",
    "a prompt": "print('Age: ', end=''); input('Name: ')",
}


@pytest.mark.parametrize("ask", ASKS)
def test_the_question_is_what_the_program_showed(ask: str, build: Build) -> None:
    if ask in ("click", "rich"):
        pytest.importorskip(ask)
    run = replay(build.script(f"{ASKS[ask]}\ninput()\n"), 7, [])
    assert run.next_prompt == "Name: "


text = st.text(st.sampled_from("ab \n:é"), max_size=8)


@given(written=st.lists(text), stderr=text, prompt=st.none() | text)
def test_a_question_is_the_prompt_and_what_stands_before_it_on_its_line(
    written: list[str], stderr: str, prompt: str | None
) -> None:
    step = Step(prompt, tuple(written), stderr, 1)
    if prompt is None:
        assert step.question is None
        return
    assert step.question is not None and step.question.endswith(prompt)
    before = step.question.removesuffix(prompt) if prompt else step.question
    assert not (before and prompt.strip())
    assert "\n" not in before
    assert not before or before.strip()
    assert "".join(written).endswith(before) or stderr.endswith(before)


def test_amending_keeps_answers_while_the_shown_questions_stay(build: Build) -> None:
    source = """
    print("Where to? ", end="")
    where = input()
    print(f"How long in {where}? ", end="")
    input()
    print("Why? ", end="")
    input()
    """
    path = build.record(source, "Rome", "2", "work")
    with Session(path) as session:
        session.amend(0, "Oslo")
        assert list(session.record.inputs) == ["Oslo"]
        assert session.reply().next_prompt == "How long in Oslo? "
        assert [
            moment.question for moment in timeline(session.transcript_of(), session.record)
        ] == [
            "Where to? ",
            "How long in Oslo? ",
        ]

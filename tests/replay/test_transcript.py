"""What a transcript says of a run beyond what it holds: the question shown, marks of its stops."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.replay.replayer import replay
from quizlog_tui.replay.transcript import Step, Transcript, stop_fingerprint
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


TEXT = st.text() | st.sampled_from(["\ud800", '"\\', "\x00\x85\u2028", "é🎉"])


@given(st.lists(TEXT).map(tuple), TEXT)
def test_a_mark_is_a_digest_of_the_json_of_what_is_shown(
    written: tuple[str, ...], prompt: str
) -> None:
    run = Transcript(AppendOnlyList(), Step(prompt, written, "", 1), "in_progress")
    digits = hashlib.sha256(json.dumps([list(written), prompt]).encode()).hexdigest()[:12]
    assert stop_fingerprint(run, 0) == f"{digits} {prompt}"


@given(TEXT, st.none() | TEXT, st.none() | TEXT)
def test_a_step_is_answered_as_by_any_replacement(
    prompt: str, old: str | None, new: str | None
) -> None:
    step = Step(prompt, ("a\n",), "", 1, input=old, seconds=2.0)
    assert (step.fingerprint, step.kind) == (
        step.fingerprint,
        step.kind,
    )  # both are kept from now on
    answered = step.answered(new)
    assert answered == replace(step, input=new) and step.input == old
    assert (answered.fingerprint, answered.seconds) == (step.fingerprint, 2.0)

"""Marks of stops: what they are made of, however quickly that is done."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.replay.transcript import Step, Transcript, stop_fingerprint

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

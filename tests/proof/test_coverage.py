"""What runs reached of a script, and where another answer may lead to something new."""

from __future__ import annotations

import math
import time

import pytest

from quizlog_tui.files.paths import shipped
from quizlog_tui.proof.coverage import CoveredRun, coverage
from quizlog_tui.proof.lint.check import lint
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.script.source import read_source
from tests.support.build import Build


def test_an_ending_in_a_function_is_led_to_by_the_question_before_its_call(
    replayer: Replayer,
) -> None:
    source = read_source(shipped("records") / "adventure" / "quiz.py")
    run = replayer.replay(source, 1, ["north", "take"])
    found = coverage(lint(source), [CoveredRun("r.yaml", "main", run)])
    assert [(row.line, row.times) for row in found.questions] == [(34, 3), (46, 0), (48, 0)]
    assert [(row.line, row.times, row.score) for row in found.endings] == [
        (27, 0, 0.2), (47, 0, 0.7), (49, 0, 0.9),
    ]  # fmt: skip
    assert found.waiting == 1 and found.scores == {0.2: 0, 0.7: 0, 0.9: 0, 1.0: 0}
    ideas = [(idea.line, idea.kind, idea.step) for idea in found.suggestions]
    assert ideas == [
        (27, "ending", 0), (46, "question", 0), (47, "ending", 0),
        (48, "question", 0), (49, "ending", 0),
    ]  # fmt: skip


def test_questions_that_only_show_when_it_runs_are_listed_too(
    build: Build, replayer: Replayer
) -> None:
    script = build.script("ask = getattr(__builtins__, 'in' + 'put')\nask('hidden? ')\n")
    run = replayer.replay(script, 1, ["x"])
    found = coverage(lint(read_source(script)), [CoveredRun("r", "main", run)])
    assert [(row.line, row.text, row.times) for row in found.questions] == [(2, "hidden? ", 1)]
    assert found.scores == {1.0: 1}


def test_a_raise_over_several_lines_counts(build: Build, replayer: Replayer) -> None:
    script = build.script(
        """
        def fail(text):
            raise Exception(
                text
            )  #score = 0.3
        if input("a? ") == "x":
            fail("no")  #score = 0.8
        """
    )
    run = replayer.replay(script, 1, ["x"])
    found = coverage(lint(read_source(script)), [CoveredRun("r", "main", run)])
    assert [(row.line, row.times) for row in found.endings] == [(2, 1)]
    assert found.scores == {0.3: 1, 1.0: 0}
    assert found.suggestions == ()


@pytest.mark.long
def test_the_time_for_what_was_never_reached_grows_with_its_number(
    build: Build, replayer: Replayer
) -> None:
    def cost(count: int) -> float:
        lines = [f"if input('{n}? ') == 'stop': raise Exception('{n}')" for n in range(count)]
        source = read_source(build.script("\n".join(lines)))
        walks = [CoveredRun("r", "main", replayer.replay(source, 1, ["x"] * (count // 2)))]
        report = lint(source)
        least = math.inf  # a search for garbage is no cost of this
        for _ in range(3):
            begun = time.process_time()
            assert len(coverage(report, walks).suggestions) > count
            least = min(least, time.process_time() - begun)
        return least

    assert cost(3000) < 30 * cost(300) + 0.02

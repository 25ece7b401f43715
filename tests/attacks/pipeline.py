"""Checks of attacks that involve more than the sandbox: the vote, the record, the screen."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Iterator

from quizlog_tui.cli.decisions import decision_lines, voter_line
from quizlog_tui.cli.streams import search_paused
from quizlog_tui.errors import QuizlogError
from quizlog_tui.record.yaml_text import dump_yaml, parse
from quizlog_tui.sandbox.result import ExecResult
from quizlog_tui.solver.decision import Decision, ModelQuestion, ModelReply
from quizlog_tui.solver.decision_text import from_line, to_line
from quizlog_tui.solver.redaction import Redaction
from quizlog_tui.solver.solve import run_evidence
from quizlog_tui.solver.voting.decide import decide
from quizlog_tui.text import visible
from tests.attacks.judge import Attempt, Check
from tests.attacks.scene import Scene

_JOINERS = "\u200c\u200d"
_VOTERS = "abcde"


def pipeline_ok(attempt: Attempt, scene: Scene, value: object) -> str | None:
    """A result passes through the vote, the screen, a record and JSON unchanged and quickly."""
    with search_paused():  # in whatever else this process holds
        started = time.thread_time()  # of the machine's load it knows nothing
        wrong = _wrong(attempt.result)
        seconds = time.thread_time() - started
    return wrong or (None if seconds < 1 else "it takes too long")


def _wrong(result: ExecResult) -> str | None:
    try:
        decision = voted(result)
        return _miscounted(decision) or _lost(decision) or _unfit(decision, result)
    except (QuizlogError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"


def voted(result: ExecResult) -> Decision:
    """The decision of five models whose code all returned this result."""
    run = run_evidence(result, Redaction())
    models = [ModelReply(name, "ok", code="answer = ...", executed=run) for name in _VOTERS]
    return decide(Decision("d-1", "2025-01-01T00:00:00+00:00", ModelQuestion("? "), tuple(models)))


def _miscounted(decision: Decision) -> str | None:
    """Equal results are one class or none at all."""
    verdict = decision.verdict
    if verdict.why is None:
        silent = {one.name for one in verdict.abstained}
        return None if silent == {*_VOTERS} else "votes were lost"
    if verdict.why != "unanimous" or verdict.contributors != (*_VOTERS,):
        return "equal results were counted apart"
    runs = {repr(model.executed and model.executed.answer) for model in decision.models}
    return None if runs == {repr(verdict.answer)} else "what won is not what was answered"


def _lost(decision: Decision) -> str | None:
    """What is kept of a decision is the decision."""
    line = to_line(decision)
    if "\n" in line or not line.isascii():
        return "it breaks a line of JSON"
    whole = to_line(from_line(line, "attack")) == line
    return None if whole else "a kept decision is another one"


def _unfit(decision: Decision, result: ExecResult) -> str | None:
    """It fits into a record and onto a screen."""
    if not all(map(_survives_a_record, _texts(decision, result))):
        return "a record does not keep it"
    shown = [*decision_lines(decision), *(voter_line(name, decision) for name in _VOTERS)]
    if any("\n" in line for line in shown) or not all(map(_safe, shown)):
        return "it cannot be shown"
    return None if _safe(visible(result.stdout)) else "what it printed cannot be shown"


def _texts(decision: Decision, result: ExecResult) -> Iterator[str]:
    yield from (result.stdout, result.stderr, result.error or "")
    if decision.verdict.why:
        yield str(decision.verdict.answer)


def record_roundtrip(attempt: Attempt, scene: Scene, value: object) -> str | None:
    """An answer is unchanged after being saved in a record."""
    return None if _survives_a_record(str(attempt.result.answer)) else "a record does not keep it"


def rendered_safe(attempt: Attempt, scene: Scene, value: object) -> str | None:
    """Nothing shown can control a terminal or be invisible."""
    result = attempt.result
    shown = [visible(str(part)) for part in (result.answer, result.stdout, result.error)]
    return None if all(map(_safe, shown)) else "it can steer a terminal"


def _survives_a_record(text: str) -> bool:
    data, _ = parse(dump_yaml({"inputs": [text]}), "attack")
    return bool(data == {"inputs": [text]})


def _safe(shown: str) -> bool:
    return not any(
        unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        for letter in shown
        if letter not in "\n\t" + _JOINERS
    )


PIPELINE: dict[str, Check] = {
    "pipeline_ok": pipeline_ok,
    "record_roundtrip": record_roundtrip,
    "rendered_safe": rendered_safe,
}
"""Checks of what other parts of quizlog do with a result."""

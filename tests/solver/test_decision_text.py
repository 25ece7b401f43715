"""A decision's JSON: read back as it was, refused with the place of what is wrong."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from quizlog_tui.errors import DecisionError
from quizlog_tui.files.paths import decisions_path
from quizlog_tui.solver.decision import Decision, ModelQuestion
from quizlog_tui.solver.decision_text import append_decision, from_line, read_decisions, to_line
from quizlog_tui.solver.voting.decide import RULES, decide

EXAMPLE = Path(__file__).parent.parent / "data" / "three-models.decisions.jsonl"
BARE = Decision("d-1", "2026-11-21T14:00:00+00:00", ModelQuestion("2 + 2 = "))


@pytest.fixture(scope="module")
def decisions() -> list[Decision]:
    return read_decisions(EXAMPLE).decisions


def test_the_example_is_read_and_written_alike(decisions: list[Decision]) -> None:
    assert len(decisions) == 3
    for decision, line in zip(decisions, EXAMPLE.read_text().splitlines(), strict=True):
        assert to_line(decision) == line


def test_a_stored_decision_is_decided_again_alike(decisions: list[Decision]) -> None:
    for decision in decisions:
        assert decide(decision) == decision


@pytest.mark.parametrize("rule", RULES)
def test_any_rule_leaves_the_evidence(decisions: list[Decision], rule: str) -> None:
    for decision in decisions:
        again = decide(decision, rule)
        assert again.verdict.rule == rule
        assert replace(again, verdict=decision.verdict) == decision


def test_drawing_and_deciding_need_the_standard_library_only() -> None:
    code = (
        "import sys\n"
        "from quizlog_tui.solver import decision_text\nfrom quizlog_tui.solver.voting import decide\n"
        "heavy = {'httpx', 'pydantic', 'yaml', 'asyncio', 'textual', 'quizlog_tui.sandbox.executor'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _with(**changes: object) -> str:
    return json.dumps(json.loads(to_line(BARE)) | changes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ("[]", "decision: must be an object, not a list"),
        ("{}", "decision: the key 'id' is missing"),
        ('{"id": NaN}', "NaN is not a JSON value"),
        ("[" * 100_000, "nested too deep"),
        (_with(schema_version=2), "has schema_version 2, not 1"),
        (_with(schema_version=None), "schema_version: must be a whole number, not null"),
        (_with(id=7), "id: must be a text, not a whole number"),
        (_with(modles=[]), "unknown key 'modles' (did you mean models?)"),
        (_with(models={}), "models: must be a list, not an object"),
        (_with(models=[{"name": "a"}]), "models[0]: the key 'status' is missing"),
        (_with(models=[{"name": "a", "status": "fine"}]), "models[0].status: is 'fine', not one of"),
        (_with(models=[{"name": "a", "status": []}]), "models[0].status: is [], not one of"),
        (_with(models=[{"name": "a", "status": "ok", "weight": -1}]), "models[0].weight: must be"),
        (_with(models=[{"name": "a", "status": "ok", "weight": True}]), "models[0].weight: must be"),
        (_with(models=[{"name": "a", "status": "ok", "seconds": 10**400}]), "models[0].seconds: must"),
        (_with(models=[{"name": "a", "status": "ok"}] * 2), "models: names 'a' twice"),
        (_with(reconciliation=[{"name": "a", "status": "ok"}]), "'a' is not among the models"),
        (_with(question={"text": "x", "choices": [1]}), "question.choices[0]: must be a text"),
        (_with(question=None), "question: must be an object, not null"),
        (_with(refused=[{"answer": [[[]]] and {"a": 1}, "reason": 3}]), "refused[0].reason: must be"),
    ],
)  # fmt: skip
def test_a_wrong_decision_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(DecisionError) as caught:
        from_line(text, "file:3")
    assert said in str(caught.value)
    assert str(caught.value).startswith("file:3: ")
    assert "\n" not in str(caught.value)


def test_a_deep_answer_is_refused() -> None:
    answer: list[object] = []
    for _ in range(100):
        answer = [answer]
    with pytest.raises(DecisionError, match="nested deeper than 64 levels"):
        from_line(_with(refused=[{"answer": answer}]), "file")


def test_decisions_are_added_and_a_broken_line_costs_only_itself(tmp_path: Path) -> None:
    path = decisions_path(tmp_path / "record.yaml")
    assert path.name == "record.decisions.jsonl"
    assert read_decisions(path) == ([], [])
    append_decision(path, BARE)
    with open(path, "ab") as file:
        file.write(b'{"id": "cut o\xff')
    append_decision(path, replace(BARE, id="d-2"))
    kept = read_decisions(path)
    assert [one.id for one in kept.decisions] == ["d-1", "d-2"]
    assert [fault.where for fault in kept.faults] == [f"{path}:2"]


def test_any_text_is_kept_exactly(tmp_path: Path) -> None:
    text = "\ud800 \x00 \x85 \u2028 \x1b[31m NO 1:30\n"
    decision = replace(BARE, question=ModelQuestion(text))
    append_decision(tmp_path / "d.jsonl", decision)
    assert read_decisions(tmp_path / "d.jsonl").decisions == [decision]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DecisionError, match="cannot read"):
        read_decisions(tmp_path)
    with pytest.raises(DecisionError, match="cannot write"):
        append_decision(tmp_path, BARE)


WHOLE = f"{to_line(BARE)}\n".encode()


@pytest.mark.parametrize("before", [None, b"", to_line(BARE)[:40].encode(), WHOLE])
def test_a_decision_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, before: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d.jsonl"
    if before is not None:
        path.write_bytes(before)

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DecisionError, match="No space left"):
        append_decision(path, BARE)
    assert (path.read_bytes() if path.exists() else None) == before

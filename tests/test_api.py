"""The Python API: every name that the guides call, and what it is called with."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import quizlog_tui

SIGNATURES = {
    "QuizlogError": "(message, *, where=..., hint=...)",
    "Limits": "(seconds=..., output=..., memory=..., processes=...)",
    "Replayer": "(limits=..., *, runs=..., checkpoints=..., checkpoint_memory=..., keeper=...)",
    "replay": "(script, seed, inputs, limits=...)",
    "Step": "(prompt, written, stderr, line, input=..., stdout=..., seconds=..., source=..., tampered=..., place=...)",
    "Transcript": "(steps, last, status, last_error=..., error_type=..., traceback_lines=..., exit_code=..., tainted=..., observed=..., unavailable=..., code=..., warnings=..., print=..., stderr=...)",
    "Reply": "(transcript, branch, record, since=...)",
    "Session": "(path, replayer=..., *, save=..., wait=..., clock=..., recorded=..., replays=..., audit=..., giver=...)",
    "open": "(path, replayer=..., *, save=..., wait=...)",
    "align": "(a, b)",
    "compare": "(a, b, *, ended=...)",
    "drift_report": "(record, source, replayer)",
    "lint": "(source)",
    "read_source": "(path)",
    "Backend": "(url, token=..., transport=...)",
    "decide": "(decision, rule=...)",
    "read_decisions": "(path)",
    "open_tasks": "(runner, others=...)",
    "tasks_router": "(tasks)",
    "verify_bundle": "(path, runs=..., signers=..., *, thorough=...)",
}


def public(name: str) -> Any:
    """A public name; `quizlog_tui.replay` itself may be the package of that name, which is called alike."""
    module = import_module(f"quizlog_tui.{quizlog_tui._WHERE[name]}")
    return getattr(module, "open_record" if name == "open" else name)


def called_with(function: Callable[..., object]) -> str:
    """The parameters of a function, without their types and values."""
    found = inspect.signature(function)
    bare = [
        one.replace(annotation=one.empty, default=one.empty if one.default is one.empty else ...)
        for one in found.parameters.values()
    ]
    shown = str(found.replace(parameters=bare, return_annotation=found.empty))
    return shown.replace("=Ellipsis", "=...")


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_public_name_is_called_as_ever(name: str) -> None:
    pytest.importorskip("fastapi")
    assert called_with(public(name)) == SIGNATURES[name]


def test_every_public_name_is_held() -> None:
    assert sorted(quizlog_tui.__all__) == sorted(SIGNATURES)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(quizlog_tui.__file__).read_text(encoding="utf-8"))
    [typed] = [node for node in tree.body if isinstance(node, ast.If)]
    imported = [node for node in typed.body if isinstance(node, ast.ImportFrom)]
    seen = {
        alias.asname: f"{node.module}.{alias.name}" for node in imported for alias in node.names
    }
    assert seen == {
        name: f"{where}.{'open_record' if name == 'open' else name}"
        for name, where in quizlog_tui._WHERE.items()
    }

"""The minimal structure of an episode: which parts it must have, and their types.

Counting and exporting check it, so that a broken file gives a clear error. The checker tests much
more. Standard library only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from .hashing import JsonObject

    Form: TypeAlias = type | tuple[type, ...] | list["Form"] | dict[str, "Form"]

UsableEpisode = dict[str, Any]
"""An episode that has the minimal structure; its other parts may be missing or of any type."""
UsableTrace = dict[str, Any]
"""A run in such an episode."""
_NONE = type(None)
_TRACE: dict[str, Form] = {
    "code_cells": [str],
    "final_answer_hash": (str, _NONE),
    "execution_success": bool,
    "hooks": [{"variable_name": (str, _NONE), "value_hash": str, "depends_on": [str]}],
    "submission_metadata": dict,
}
_EPISODE: dict[str, Form] = {
    "episode_id": str,
    "verified": bool,
    "question": {
        "id": str,
        "question_text": str,
        "hint": (str, _NONE),
        "difficulty": (str, _NONE),
        "n_steps": (int, _NONE),
    },
    "teacher_gold_trace": _TRACE,
    "consistency_traces": [_TRACE],
    "conversation_for_sft": {"system_prompt": str, "messages": [{"role": str, "content": str}]},
    "rl_verification_data": {
        "expected_final_answer_hash": (str, _NONE),
        "expected_final_answer": object,
    },
    "triangulation_metadata": {
        "n_consistency_runs": int,
        "n_consistency_succeeded": int,
        "majority_count": int,
    },
}
"""For each part a type, an object of its keys, or a list with the form of its items."""


def unusable_at(episode: JsonObject) -> str | None:
    """The path of the first part that is missing or of a wrong type; None if there is none."""
    path = _fault(episode, _EPISODE)
    return None if path is None else path.removeprefix(".")


def _fault(value: object, form: Form) -> str | None:
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return ""
        for key, inner in form.items():
            fault = _fault(value[key], inner) if key in value else ""
            if fault is not None:
                return f".{key}{fault}"
        return None
    if isinstance(form, list):
        for index, item in enumerate(value if isinstance(value, list) else ()):
            fault = _fault(item, form[0])
            if fault is not None:
                return f"[{index}]{fault}"
        return None if isinstance(value, list) else ""
    return None if isinstance(value, form) else ""

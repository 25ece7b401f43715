"""The id of an episode: the same for the same question, script, seed, answers and outcome.

So the same run built twice is recognised, and a file holds it once. Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid5

NAMESPACE = UUID("6b1a1c52-9d0f-5c1e-8f1e-0a4c7d0e5b11")
"""Of the episodes' UUIDs (version 5)."""


def episode_id(question: str, gold: Mapping[str, Any]) -> str:
    """The UUID of an episode.

    Args:
        question: The question's id.
        gold: The gold run's trace, whose metadata names script, seed and answers.
    """
    told = gold["submission_metadata"]
    parts = [question, told["code_hash"], told["seed"], told["inputs"], gold["final_answer_hash"]]
    return str(uuid5(NAMESPACE, json.dumps(parts)))

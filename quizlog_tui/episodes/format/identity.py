"""The id of an episode, determined by its question, script, seed, answers and outcome.

A run that is built twice is thus recognised, and stored once. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1
from typing import Any
from uuid import UUID

NAMESPACE = UUID("6b1a1c52-9d0f-5c1e-8f1e-0a4c7d0e5b11").bytes
"""Namespace of the episodes' UUIDs (version 5)."""


def episode_id(question: str, gold: Mapping[str, Any]) -> str:
    """The UUID of an episode.

    Args:
        question: The question's id.
        gold: The gold run's trace, whose metadata contains script, seed and answers.
    """
    metadata = gold["submission_metadata"]
    answers = "".join([f"{len(text)}:{text}," for text in metadata["inputs"]])
    script = f"{metadata['code_hash']}|{metadata['seed']}"
    name = f"{question}|{script}|{answers}|{gold['final_answer_hash']}"
    # Before Python 3.12 `uuid5` accepts only strings, and these may not be encodable as it does it.
    data = NAMESPACE + name.encode("utf-8", "surrogatepass")
    return str(UUID(bytes=sha1(data, usedforsecurity=False).digest()[:16], version=5))

"""The id of an episode: the same for the same question, script, seed, answers and outcome.

So the same run built twice is recognised, and a file holds it once. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha1
from typing import Any
from uuid import UUID

NAMESPACE = UUID("6b1a1c52-9d0f-5c1e-8f1e-0a4c7d0e5b11").bytes
"""Of the episodes' UUIDs (version 5)."""


def episode_id(question: str, gold: Mapping[str, Any]) -> str:
    """The UUID of an episode.

    Args:
        question: The question's id.
        gold: The gold run's trace, whose metadata names script, seed and answers.
    """
    told = gold["submission_metadata"]
    answers = "".join([f"{len(text)}:{text}," for text in told["inputs"]])
    name = f"{question}|{told['code_hash']}|{told['seed']}|{answers}|{gold['final_answer_hash']}"
    return _uuid5(name.encode("utf-8", "surrogatepass"))


def _uuid5(name: bytes) -> str:
    """`str(uuid5(...))` without making the object, which takes longer than the hash."""
    digest = sha1(NAMESPACE + name, usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"

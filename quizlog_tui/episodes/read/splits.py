"""Training, validation and test parts of an episodes file, and what leaks between them.

All episodes of a question go to one part, each difficulty is spread evenly, and the same seed
gives the same parts. Questions that only look different are looked for and told.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..format.lines import plain_line
from .files import read_episodes, write_lines

PARTS = ("train", "validation", "test")
"""Names of the parts; each is a file of that name."""


@dataclass(frozen=True)
class SeenParts:
    """What is remembered of a question."""

    id: str
    difficulty: str
    text: str
    """A short hash of its text, without case, accents' forms and spacing."""
    script: str
    """The script that asks it."""


def split(file: Path, folder: Path, shares: Sequence[float], seed: int) -> dict[str, Any]:
    """Write the parts; how many episodes each has, and the leaks.

    Args:
        file: The episodes.
        folder: Where the parts go.
        shares: The share of the questions for each part.
        seed: Another seed gives other parts.

    Raises:
        EpisodeError: The file cannot be read, or the parts cannot be written.
    """
    questions = {one.id: one for one in map(_seen, read_episodes(file))}
    part_of = assign(list(questions.values()), shares, seed)
    counts = {}
    for part in PARTS:
        rows = (plain_line(e) for e in read_episodes(file) if part_of[e["question"]["id"]] == part)
        counts[part] = write_lines(folder / f"{part}.jsonl", rows)
    return {"episodes": counts, "leaks": leaks(list(questions.values()), part_of)}


def _seen(episode: dict[str, Any]) -> SeenParts:
    question, told = episode["question"], episode["teacher_gold_trace"]["submission_metadata"]
    plain = unicodedata.normalize("NFKC", question["question_text"]).casefold().split()
    return SeenParts(
        question["id"],
        str(question["difficulty"]),
        sha256(" ".join(plain).encode()).hexdigest()[:16],
        str(told.get("code_hash", "")),
    )


def assign(questions: Sequence[SeenParts], shares: Sequence[float], seed: int) -> dict[str, str]:
    """The part of each question."""
    by_difficulty: dict[str, list[str]] = defaultdict(list)
    for one in questions:
        by_difficulty[one.difficulty].append(one.id)
    found: dict[str, str] = {}
    given = dict.fromkeys(PARTS, 0.0)
    for _, ids in sorted(by_difficulty.items()):
        for name in sorted(ids, key=lambda one: sha256(f"{seed}|{one}".encode()).digest()):
            # The part that is furthest behind its share; what is left over carries to the next
            # difficulty, so that few questions of many difficulties are spread as well.
            for part, share in zip(PARTS, shares, strict=True):
                given[part] += share
            part = max(PARTS, key=lambda one: (given[one], -PARTS.index(one)))
            given[part] -= 1
            found[name] = part
    return found


def leaks(questions: Sequence[SeenParts], part_of: Mapping[str, str]) -> dict[str, int]:
    """How many texts and scripts stand in more than one part."""
    texts: dict[str, set[str]] = defaultdict(set)
    scripts: dict[str, set[str]] = defaultdict(set)
    for one in questions:
        texts[one.text].add(part_of[one.id])
        if one.script:
            scripts[one.script].add(part_of[one.id])
    return {
        "same_text": sum(len(parts) > 1 for parts in texts.values()),
        "same_script": sum(len(parts) > 1 for parts in scripts.values()),
    }

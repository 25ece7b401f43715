"""Splits an episodes file into training, validation and test parts, and counts leaks.

All episodes of a question go to one part, each difficulty is spread evenly, and the same seed gives
the same parts. Texts and scripts that occur in several parts are counted as leaks.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ..format.hashing import plain_line
from .files import read_episodes, write_lines

if TYPE_CHECKING:
    from .files import UsableEpisode

PARTS = ("train", "validation", "test")
"""The names of the parts and of their files."""


@dataclass(frozen=True)
class SeenParts:
    """What a split needs to know of a question."""

    id: str
    difficulty: str
    text: str
    """A short hash of its text, ignoring case, spacing and Unicode compatibility forms."""
    script: str
    """Hash of the script that asks it."""


def split(
    file: Path, folder: Path, shares: Sequence[float], seed: int
) -> dict[str, dict[str, int]]:
    """Write the parts with their shares of the questions; count the episodes in each, and leaks.

    Raises:
        EpisodeError: The file cannot be read, or the parts cannot be written.
    """
    questions = {each.id: each for each in map(_seen, read_episodes(file))}
    part_of = assign(list(questions.values()), shares, seed)
    counts = {}
    for part in PARTS:
        rows = (plain_line(e) for e in read_episodes(file) if part_of[e["question"]["id"]] == part)
        counts[part] = write_lines(folder / f"{part}.jsonl", rows)
    return {"episodes": counts, "leaks": leaks(list(questions.values()), part_of)}


def _seen(episode: UsableEpisode) -> SeenParts:
    question, metadata = episode["question"], episode["teacher_gold_trace"]["submission_metadata"]
    plain = unicodedata.normalize("NFKC", question["question_text"]).casefold().split()
    return SeenParts(
        question["id"],
        str(question["difficulty"]),
        sha256(" ".join(plain).encode()).hexdigest()[:16],
        str(metadata.get("code_hash", "")),
    )


def assign(questions: Sequence[SeenParts], shares: Sequence[float], seed: int) -> dict[str, str]:
    """The part of each question."""
    by_difficulty: dict[str, list[str]] = defaultdict(list)
    for each in questions:
        by_difficulty[each.difficulty].append(each.id)
    found: dict[str, str] = {}
    given = dict.fromkeys(PARTS, 0.0)
    for _, ids in sorted(by_difficulty.items()):
        for name in sorted(ids, key=lambda each: sha256(f"{seed}|{each}".encode()).digest()):
            # The part that is furthest behind its share. The rest carries over to the next
            # difficulty, so that a few questions of many difficulties are spread evenly too.
            for part, share in zip(PARTS, shares, strict=True):
                given[part] += share
            part = max(PARTS, key=lambda each: (given[each], -PARTS.index(each)))
            given[part] -= 1
            found[name] = part
    return found


def leaks(questions: Sequence[SeenParts], part_of: Mapping[str, str]) -> dict[str, int]:
    """The number of texts and of scripts that occur in more than one part."""
    texts: dict[str, set[str]] = defaultdict(set)
    scripts: dict[str, set[str]] = defaultdict(set)
    for each in questions:
        texts[each.text].add(part_of[each.id])
        if each.script:
            scripts[each.script].add(part_of[each.id])
    return {
        "same_text": sum(len(parts) > 1 for parts in texts.values()),
        "same_script": sum(len(parts) > 1 for parts in scripts.values()),
    }

"""What is in an episodes file, in figures: read once, one line at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import log2
from pathlib import Path
from typing import Any

from .files import read_episodes


@dataclass
class Stats:
    """The figures of a file."""

    episodes: int = 0
    """Lines."""
    verified: int = 0
    """Lines whose `verified` is true."""
    consistency_runs: int = 0
    """Of all episodes together."""
    questions: set[str] = field(default_factory=set)
    """The questions' ids."""
    difficulty: Counter[str] = field(default_factory=Counter)
    """Episodes by difficulty."""
    majority: Counter[str] = field(default_factory=Counter)
    """Episodes by size of the majority, of the runs that answered: `2 of 3`."""
    steps: Counter[int] = field(default_factory=Counter)
    """Episodes by accepted answers."""
    characters: Counter[int] = field(default_factory=Counter)
    """Conversations by length: the power of two that it reaches, in characters."""
    longest: int = 0
    """Characters of the longest conversation."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why episodes are not verified."""

    def add(self, episode: dict[str, Any]) -> None:
        """Count an episode."""
        agreed, question = episode["triangulation_metadata"], episode["question"]
        talk = episode["conversation_for_sft"]
        length = len(talk["system_prompt"]) + sum(len(m["content"]) for m in talk["messages"])
        self.episodes += 1
        self.verified += episode["verified"]
        self.consistency_runs += agreed["n_consistency_runs"]
        self.questions.add(question["id"])
        self.difficulty[str(question["difficulty"] or "none")] += 1
        self.majority[f"{agreed['majority_count']} of {agreed['n_consistency_succeeded']}"] += 1
        self.steps[question["n_steps"] or 0] += 1
        self.characters[int(log2(max(length, 1)))] += 1
        self.longest = max(self.longest, length)
        told = episode["teacher_gold_trace"]["submission_metadata"].get("not_verified_because")
        self.reasons.update(told if isinstance(told, list) else [])

    def to_dict(self) -> dict[str, Any]:
        """The figures as the JSON of the command."""
        return {
            "episodes": self.episodes,
            "verified": self.verified,
            "verified_rate": self.verified / self.episodes if self.episodes else None,
            "questions": len(self.questions),
            "consistency_runs": self.consistency_runs,
            "difficulty": dict(sorted(self.difficulty.items(), key=_band)),
            "majority": dict(sorted(self.majority.items(), key=_sizes)),
            "steps": {str(key): count for key, count in sorted(self.steps.items())},
            "characters": {str(2**key): count for key, count in sorted(self.characters.items())},
            "longest": self.longest,
            "reasons": dict(self.reasons.most_common()),
        }


def _band(item: tuple[str, int]) -> tuple[int, str]:
    """The easy first, those without difficulty last."""
    name = item[0]
    return (_BANDS.index(name) if name in _BANDS else len(_BANDS), name)


_BANDS = ("EASY", "MEDIUM", "HARD", "VERY_HARD")


def _sizes(item: tuple[str, int]) -> tuple[int, ...]:
    """The numbers of `2 of 3`."""
    return tuple(int(part) for part in item[0].split(" of "))


def stats_of(path: Path, advanced: Callable[[int], None] | None = None) -> Stats:
    """Count a file.

    Args:
        path: The file.
        advanced: Told how many bytes were read, after each line.

    Raises:
        EpisodeError: It cannot be read, or a line is no episode.
    """
    stats = Stats()
    for episode in read_episodes(path, advanced):
        stats.add(episode)
    return stats


_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bars(title: str, counts: dict[str, int], width: int = 40) -> Iterator[str]:
    """A bar chart in text: a line for each key, the longest bar `width` characters."""
    if not counts:
        return
    yield title
    most, label = max(counts.values()), max(map(len, counts))
    for key, count in counts.items():
        eighths = max(1, round(8 * width * count / most))
        bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
        yield f"  {key:>{label}}  {bar} {count}"

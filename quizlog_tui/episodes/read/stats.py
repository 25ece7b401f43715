"""Statistics of an episodes file, which is read once, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .files import read_episodes

if TYPE_CHECKING:
    from .files import UsableEpisode


@dataclass
class Stats:
    """The statistics of a file."""

    episodes: int = 0
    """Number of episodes."""
    verified: int = 0
    """Number of episodes whose `verified` is true."""
    consistency_runs: int = 0
    """Number of consistency runs of all episodes."""
    questions: set[str] = field(default_factory=set)
    """The ids of the questions."""
    difficulty: Counter[str] = field(default_factory=Counter)
    """Number of episodes by difficulty."""
    majority: Counter[str] = field(default_factory=Counter)
    """Number of episodes by majority among the runs that answered, such as `2 of 3`."""
    steps: Counter[int] = field(default_factory=Counter)
    """Number of episodes by number of accepted answers."""
    characters: Counter[int] = field(default_factory=Counter)
    """Number of conversations by the binary logarithm of their length in characters."""
    longest: int = 0
    """Length of the longest conversation in characters."""
    reasons: Counter[str] = field(default_factory=Counter)
    """The reasons why episodes are not verified, counted."""

    def add(self, episode: UsableEpisode) -> None:
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
        reasons = episode["teacher_gold_trace"]["submission_metadata"].get("not_verified_because")
        self.reasons.update(reasons if isinstance(reasons, list) else [])

    def to_dict(self) -> dict[str, Any]:
        """The statistics as printed by the command with `--json`."""
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
    """Sort key: the easiest first, episodes without a difficulty last."""
    name = item[0]
    return (_BANDS.index(name) if name in _BANDS else len(_BANDS), name)


_BANDS = ("EASY", "MEDIUM", "HARD", "VERY_HARD")


def _sizes(item: tuple[str, int]) -> tuple[int, ...]:
    """The numbers of `2 of 3`."""
    return tuple(int(part) for part in item[0].split(" of "))


def stats_of(path: Path, advanced: Callable[[int], None] | None = None) -> Stats:
    """The statistics of a file; `advanced` gets the number of bytes read after each line.

    Raises:
        EpisodeError: The file cannot be read, or a line is not an episode.
    """
    stats = Stats()
    for episode in read_episodes(path, advanced):
        stats.add(episode)
    return stats


_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bars(title: str, counts: dict[str, int], width: int = 40) -> Iterator[str]:
    """A bar chart as text: one line per key, the longest bar with `width` characters."""
    if not counts:
        return
    yield title
    most, label = max(counts.values()), max(map(len, counts))
    for key, count in counts.items():
        eighths = max(1, round(8 * width * count / most))
        bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
        yield f"  {key:>{label}}  {bar} {count}"

"""The guides: short texts in Markdown about one topic each, for the shell and the screens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ..errors import UsageError, did_you_mean

TOPICS = (
    "first-quiz",
    "screens",
    "shell",
    "models",
    "proof",
    "episodes",
    "web-quizzes",
    "python",
    "http",
    "agents",
    "record-format",
    "sandbox",
    "hostile",
    "performance",
    "many-machines",
    "troubleshooting",
    "design",
    "contributing",
    "security",
)
"""All guides, in the order in which a newcomer may read them."""
_SUCCESSORS = {"extending": "there are no plug-ins; programs use `quizlog help python`"}
"""What to read instead of a guide that is gone."""
_ALL = "`quizlog help` lists the guides"
_FOLDER = Path(__file__).resolve().parent
_MARK = re.compile(r"^<!-- .* -->\n", re.M)
"""Where a table begins or ends that is made from the code."""
_HEADING = re.compile(r"^(#+) (.+)$")


class GuideSection(NamedTuple):
    """A part of a guide, from one heading to the next."""

    topic: str
    heading: str
    text: str
    """All lines below the heading."""
    level: int = 1
    """How many signs `#` the heading has."""
    above: str = ""
    """The heading of the second level that it is below; empty if there is none."""

    @property
    def anchor(self) -> str:
        """What a link to the heading names, as GitHub makes it."""
        return re.sub(r"[^a-z0-9 _-]", "", self.heading.lower()).replace(" ", "-")

    @property
    def title(self) -> str:
        """The heading, behind the one that it is below."""
        return f"{self.above} › {self.heading}" if self.above else self.heading

    @property
    def markdown(self) -> str:
        """The heading and the text."""
        return f"{'#' * self.level} {self.heading}\n{self.text}\n"


def topics() -> dict[str, str]:
    """The title of each guide by its topic, in the order of `TOPICS`."""
    texts = {name: _text(name) for name in TOPICS}
    return {name: text.partition("\n")[0].removeprefix("# ") for name, text in texts.items()}


def guide(topic: str) -> str:
    """The text of a guide.

    Raises:
        UsageError: There is no such topic.
    """
    if topic not in TOPICS:
        hint = _SUCCESSORS.get(topic) or f"{did_you_mean(topic, TOPICS)} {_ALL}".lstrip()
        raise UsageError(f"there is no guide about {topic!r}", hint=hint)
    return _MARK.sub("", _text(topic))


def _text(topic: str) -> str:
    return (_FOLDER / f"{topic}.md").read_text(encoding="utf-8")


def sections(topic: str) -> list[GuideSection]:
    """The parts of a guide, in order."""
    found: list[tuple[str, int, str, list[str]]] = []
    above, in_block = "", False
    for line in guide(topic).splitlines():
        in_block ^= line.startswith("```")
        heading = None if in_block else _HEADING.match(line)
        if heading:
            level = len(heading[1])
            above = heading[2] if level == 2 else above
            found.append((heading[2], level, above if level > 2 else "", []))
        else:
            found[-1][3].append(line)
    return [
        GuideSection(topic, heading, "\n".join(lines), level, above)
        for heading, level, above, lines in found
    ]


def search(words: str) -> list[GuideSection]:
    """The parts of all guides that contain every word, those with a hit in their heading first."""
    wanted = words.lower().split()
    found = [
        section
        for topic in TOPICS
        for section in sections(topic)
        if wanted and all(word in f"{section.heading}\n{section.text}".lower() for word in wanted)
    ]
    return sorted(found, key=lambda one: not any(word in one.heading.lower() for word in wanted))


def first_hit(section: GuideSection, words: str) -> str:
    """The first line of a part that contains one of the words."""
    wanted = words.lower().split()
    lines = (line.strip() for line in section.text.splitlines())
    return next((line for line in lines if any(word in line.lower() for word in wanted)), "")

"""The guides: short texts in Markdown about one topic each, for the shell and the screens."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path

from ..errors import UsageError

_MARK = re.compile(r"^<!-- .* -->\n", re.M)
"""Where a table begins or ends that is made from the code."""
_FOLDER = Path(__file__).resolve().parent


def topics() -> dict[str, str]:
    """The title of each guide by its topic."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in _FOLDER.glob("*.md")}
    return {name: texts[name].partition("\n")[0].removeprefix("# ") for name in sorted(texts)}


def guide(topic: str) -> str:
    """The text of a guide.

    Raises:
        UsageError: There is no such topic.
    """
    known = topics()
    if topic not in known:
        near = get_close_matches(topic, known, n=1, cutoff=0.4)
        nearest = f"did you mean {near[0]}? " if near else ""
        hint = f"{nearest}`quizlog help` lists the guides"
        raise UsageError(f"there is no guide about {topic!r}", hint=hint)
    text = (_FOLDER / f"{topic}.md").read_text(encoding="utf-8")
    return _MARK.sub("", text)

"""The guides: short texts in Markdown about one topic each, for the shell and the screens."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError

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
        hint = f"there are: {', '.join(known)}"
        raise UsageError(f"there is no guide about {topic!r}", hint=hint)
    return (_FOLDER / f"{topic}.md").read_text(encoding="utf-8")

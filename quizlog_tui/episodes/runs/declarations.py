"""Reads what a script's author or a record's reviewer declares for training data.

In a script these are comments on separate lines: `#hint: add the numbers` and `#difficulty: HARD`.
In a record they are `feedback` entries whose verdict is `hint` (the text is the hint) or `gold`
(this run is the reference). The module also finds the variables that answers are assigned to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from ...replay.script.source import Source

if TYPE_CHECKING:
    from ..format.schema import Difficulty

_HINT = re.compile(r"#\s*hint:\s*(\S.*)")
_DIFFICULTY = re.compile(r"#\s*difficulty:\s*(EASY|MEDIUM|HARD|VERY_HARD)\s*")
_BANDS: tuple[tuple[int, Difficulty], ...] = ((3, "EASY"), (6, "MEDIUM"), (8, "HARD"))


def hint_of(source: Source, extras: Mapping[str, object] | None = None) -> str | None:
    """The hint declared in the script, else the last one in the record's feedback, else None."""
    found = [match[1].strip() for match in _declared(source, _HINT)]
    if found:
        return "\n".join(found)
    texts = [item.get("text") for item in _feedback(extras or {}, "hint")]
    return next((text.strip() for text in reversed(texts) if isinstance(text, str)), None) or None


def is_gold(extras: Mapping[str, object]) -> bool:
    """Whether the record's feedback declares it the reference."""
    return any(True for _ in _feedback(extras, "gold"))


def difficulty_of(source: Source, n_steps: int, *, derive: bool) -> Difficulty | None:
    """The declared difficulty, else the band of `n_steps` if `derive`: up to 3 EASY, 6, 8, more."""
    for match in _declared(source, _DIFFICULTY):
        return cast("Difficulty", match[1])
    if not derive:
        return None
    return next((name for most, name in _BANDS if n_steps <= most), "VERY_HARD")


def _declared(source: Source, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    if not pattern.search("\n".join(source.lines)):
        return  # finding comments takes time
    for number, comment in sorted(source.comments.items()):
        match = pattern.fullmatch(comment)
        if match and source.line(number).strip() == comment.strip():
            yield match


def _feedback(extras: Mapping[str, object], verdict: str) -> Iterator[Mapping[str, object]]:
    entries = extras.get("feedback")
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, Mapping) and entry.get("verdict") == verdict:
            yield entry


@lru_cache(maxsize=64)
def names_by_line(data: bytes) -> dict[int, str]:
    """The variable that each line of a script assigns to, if it is a simple name."""
    found: dict[int, str] = {}
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return found
    for node in ast.walk(tree):  # outer statements come first, inner ones overwrite them
        target = _target(node)
        if isinstance(target, ast.Name):
            first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
            found.update(dict.fromkeys(range(first, last + 1), target.id))
    return found


def _target(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return node.targets[0]
    if isinstance(node, ast.AnnAssign | ast.NamedExpr):
        return node.target
    return None

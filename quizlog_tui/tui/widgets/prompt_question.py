"""A question that can be answered, its choices, and the input that fits it. Uses no widgets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from ...replay.script.input_kinds import JSON, MATRIX, TEXTAREA, YESNO
from ...replay.script.input_type import InputType, listed_options
from ...text import one_line
from .documents import Table, line

EditorName = Literal["box", "grid"]
"""The inputs that may replace the plain line: several lines, or cells of a matrix."""
_YES_NO = re.compile(r"\b(yes|y)\b\W{0,3}(?:/|\||,|or)\W{0,3}\b(no|n)\b", re.I)


@dataclass(frozen=True)
class PromptQuestion:
    """A question."""

    text: str
    kind: InputType
    """The kind of answer that it expects."""
    before: str = ""
    """The text printed before it, which may contain options or a matrix."""

    @property
    def heard(self) -> str:
        """The whole text that the user has read before answering."""
        return f"{self.before}\n{self.text}"

    @cached_property
    def options(self) -> tuple[str, ...]:
        """What there is to choose from."""
        return options(self.text, self.kind)

    @cached_property
    def table(self) -> Table:
        """The rows that list the options."""
        rows = option_rows(self.options, self.heard)
        return Table(len(rows), lambda index: line(("  ", ""), rows[index], cut=True))

    @cached_property
    def editor(self) -> EditorName | None:
        """The input for this kind of answer; None if the plain line fits best."""
        if self.kind.name == MATRIX:
            return "grid" if _is_small_matrix(self.kind, self.heard) else None
        return "box" if self.kind.rows or self.kind.name in (TEXTAREA, JSON) else None

    @property
    def for_lines(self) -> PromptQuestion:
        """The same question with the input for several lines."""
        return replace(self, kind=replace(self.kind, name=TEXTAREA))

    def fits_editor(self, answer: str) -> bool:
        """Whether that input can show a whole answer."""
        return self.editor != "grid" or _is_matrix(answer)


def _is_small_matrix(kind: InputType, text: str) -> bool:
    from .editors import is_small, size_in  # not loaded before: few questions need it

    return is_small(*size_in(text, kind.rows))


def _is_matrix(answer: str) -> bool:
    from .editors import holds_matrix

    return holds_matrix(answer)


def options(question: str, kind: InputType) -> tuple[str, ...]:
    """The choices named in the question, or yes and no as the question spells them."""
    if kind.choices:
        return kind.choices
    if kind.name != YESNO:
        return ()
    written = _YES_NO.search(question)
    return (written[1], written[2]) if written else ("yes", "no")


def option_rows(options: Sequence[str], heard: str) -> tuple[str, ...]:
    """The row of each option: its line in the printed text, such as `a) red`."""
    lines = dict(listed_options(heard))
    return tuple(one_line(lines.get(option, option)) for option in options)

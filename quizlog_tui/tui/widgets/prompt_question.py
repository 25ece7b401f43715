"""A question that can be answered, and its choices and input. Uses no widgets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ...replay.script.input_kinds import TEXTAREA
from ...replay.script.input_type import InputType
from ..draw.options import option_rows, option_table, options
from .documents import Table
from .editors.registry import EditorKind, editor_for


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
        return option_table(option_rows(self.options, self.heard))

    @cached_property
    def editor(self) -> EditorKind | None:
        """The input for this kind of answer; None if the plain line fits best."""
        return editor_for(self.kind, self.heard)

    @property
    def for_lines(self) -> PromptQuestion:
        """The same question with the input for several lines."""
        return replace(self, kind=replace(self.kind, name=TEXTAREA))

    def fits_editor(self, answer: str) -> bool:
        """Whether that input can show a whole answer."""
        return self.editor is None or self.editor.holds(answer)

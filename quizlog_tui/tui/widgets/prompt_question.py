"""A question that can be answered, and what follows from it for the input. No widgets here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ...replay.script.input_type import InputType
from ..draw.options import option_rows, option_table, options
from .editors.registry import EditorKind, editor_for
from .lines.documents import Table


@dataclass(frozen=True)
class PromptQuestion:
    """What is asked."""

    text: str
    kind: InputType
    """What kind of answer it wants."""
    before: str = ""
    """What was printed before it, in which options or a matrix may be shown."""

    @property
    def heard(self) -> str:
        """All that one has read when one answers."""
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
        """The input that fits better than the plain line; None if the line does."""
        return editor_for(self.kind, self.heard)

    def fits_editor(self, answer: str) -> bool:
        """Whether that input can show an answer whole."""
        return self.editor is None or self.editor.holds(answer)

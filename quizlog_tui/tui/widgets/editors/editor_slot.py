"""Holds the input that replaces the plain line for a kind of answer."""

from __future__ import annotations

import asyncio

from textual.widget import Widget

from ..prompt_question import PromptQuestion
from .editor import Editor
from .registry import EditorKind


class FittedInput:
    """Shows at most one input; creates each on first use.

    Args:
        panel: Where the inputs are shown.
        before: What they are shown above, as a selector.
    """

    def __init__(self, panel: Widget, before: str) -> None:
        self._panel = panel
        self._before = before
        self._question: PromptQuestion | None = None
        self._editors: dict[EditorKind, Editor] = {}
        self._fitted: dict[EditorKind, PromptQuestion] = {}
        self._text: str | None = None
        self._begins = False
        self._turn = asyncio.Lock()

    @property
    def shown(self) -> bool:
        """Whether an input replaces the plain line."""
        return self._question is not None

    @property
    def _kind(self) -> EditorKind | None:
        return None if self._question is None else self._question.editor

    @property
    def _editor(self) -> Editor | None:
        """The input shown; None if there is none or it is still being created."""
        return None if self._kind is None else self._editors.get(self._kind)

    @property
    def draft(self) -> str | None:
        """Its text, or the text about to be inserted; None if the plain line is used."""
        if self._text is not None or self._editor is None:
            return self._text
        return self._editor.draft

    def put(self, text: str) -> None:
        """Put a text into the input, or into the next one shown."""
        self._text = text

    def show(self, question: PromptQuestion | None) -> None:
        """Show the input for a question; None removes the one shown."""
        self._question = question
        for kind, editor in self._editors.items():
            editor.display = kind == self._kind
        if question is None:
            self._text = None
        else:
            self._panel.run_worker(self.fit())

    def begin(self) -> None:
        """Focus the input as soon as it exists."""
        if self._editor is not None:
            self._editor.begin()
        self._begins = True  # it may be about to be made, or to get another size
        self._panel.run_worker(self.fit())

    async def arranged(self) -> None:
        """Wait until the input exists."""
        async with self._turn:
            pass

    async def fit(self) -> None:
        """Adapt the input to the current question, and insert its text."""
        async with self._turn:  # one after the other: an input is made but once
            question, kind = self._question, self._kind
            if question is None or kind is None:
                return
            focused = self._begins or self._panel.has_focus_within
            self._begins = False
            await self._make(kind)
            await self._fill(kind, question, focused=focused)

    async def _make(self, kind: EditorKind) -> None:
        if kind not in self._editors:
            editor = kind.make()
            await self._panel.mount(editor, before=self._before)
            self._editors[kind] = editor

    async def _fill(self, kind: EditorKind, question: PromptQuestion, *, focused: bool) -> None:
        editor, fresh = self._editors[kind], self._fitted.get(kind) != question
        if fresh:
            self._fitted[kind] = question
            await editor.fit(question.kind, question.heard)
        text, self._text = self._text, None
        if text is not None:
            await editor.fill(text)
        if focused and (fresh or text is not None or not editor.has_focus_within):
            editor.begin()

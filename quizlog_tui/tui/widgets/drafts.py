"""Keeps typed but unsent text with its question while other steps are shown."""

from __future__ import annotations


class Drafts:
    """The drafts of all questions except the one shown, whose draft is in its input."""

    def __init__(self) -> None:
        self._question = ""
        self._sent = False
        self._drafts: dict[str, str] = {}

    @property
    def any_elsewhere(self) -> bool:
        """Whether text was typed for a question that is not shown."""
        return any(self._drafts.values())

    def send(self) -> None:
        """Note that the answer was sent: text typed from now on is for the next question."""
        self._sent = True

    def take_back(self) -> None:
        """Note that the answer is back in the input: typed text is for the question shown."""
        self._sent = False

    def turn_to(self, question: str, typed: str, line: str) -> str | None:
        """The draft to put into the input of a question; None if the question is already shown.

        Args:
            question: What tells it from all others.
            typed: What stands in the input shown.
            line: What stands in the plain line, where one types ahead.
        """
        if question == self._question:
            return None
        if typed and not self._sent:
            self._drafts[self._question] = typed
        ahead = line if self._sent else ""
        self._question, self._sent = question, False
        return ahead or self._drafts.pop(question, "")

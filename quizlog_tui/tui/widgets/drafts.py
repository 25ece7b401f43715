"""What is typed and not sent: it stays with its question when one looks elsewhere. Pure."""

from __future__ import annotations


class Drafts:
    """The drafts of all questions but the one shown, whose draft stands in its input."""

    def __init__(self) -> None:
        self._question = ""
        self._sent = False
        self._drafts: dict[str, str] = {}

    def send(self) -> None:
        """The answer is on its way: what is typed from now on is for the question to come."""
        self._sent = True

    def take_back(self) -> None:
        """An answer stands in the input again: what is typed is for the question shown."""
        self._sent = False

    def turn_to(self, question: str, typed: str, line: str) -> str | None:
        """What is to stand in the input of another question; None if it is the one shown.

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

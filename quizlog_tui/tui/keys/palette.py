"""The entries of the command palette: the actions of the screen below it, and where one can go.

One can go to steps, branches, records, themes and the settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from ..screens.base import Destination, Program, QuizlogScreen
from .actions import ACTIONS, Action
from .keymap import effective, shown_key
from .own_commands import own_actions

_SLICE = 200
"""Destinations that are matched before other work gets its turn: a record may have many steps."""


def rank(label: float, words: float) -> float:
    """The score of an entry, from the matcher's scores of its label and of all its words.

    Any match in its label is before all others.
    """
    return 1 + label / (1 + label) if label > 0 else words / (1 + words)


class ActionCommands(Provider):
    """Finds actions by their words."""

    async def discover(self) -> Hits:
        """All actions of this screen."""
        for action in self._actions():
            yield DiscoveryHit(Content(self._words(action)), self._call(action))

    async def search(self, query: str) -> Hits:
        """The actions that match."""
        matcher = self.matcher(query)
        for action in self._actions():
            words = self._words(action)
            score = rank(matcher.match(action.label), matcher.match(words))
            if score > 0:
                yield Hit(score, Content(words), self._call(action))

    def _actions(self) -> Iterator[Action]:
        screen, own, audit = self.screen, list[Action](), None
        if isinstance(screen, QuizlogScreen):  # else it is a dialog
            commands, audit = screen.program.own_commands, screen.audit
            own = [*ACTIONS[screen.SCOPE], *own_actions(commands, screen.SCOPE)]
        for action in (*own, *ACTIONS["app"]):
            if action.id != "app.palette" and not action.is_refused(audit):
                yield action

    def _call(self, action: Action) -> Callable[[], Awaitable[None]]:
        async def call() -> None:
            await self.screen.run_action(action.call)

        return call

    def _words(self, action: Action) -> str:
        key = shown_key(effective(action, self.app._keymap)[0])
        return f"{action.label}: {action.help}  ({key})"


class DestinationCommands(Provider):
    """Finds steps, branches, records, themes and the settings by their words."""

    async def search(self, query: str) -> Hits:
        """The destinations that match."""
        matcher = self.matcher(query)
        for index, each in enumerate(self._destinations()):
            words = f"{each.label}: {each.about}" if each.about else each.label
            score = rank(matcher.match(each.label), matcher.match(words))
            if score > 0:
                yield Hit(score, Content(words), each.go)
            if index % _SLICE == 0:
                await asyncio.sleep(0)

    def _destinations(self) -> Iterator[Destination]:
        for place in (self.screen, self.app):
            if isinstance(place, QuizlogScreen | Program):
                yield from place.destinations()

"""The entries of the command palette: the actions of the screen below it."""

from __future__ import annotations

from collections.abc import Iterator

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from .actions import ACTIONS, Action
from .key_names import shown_key
from .keymap import effective
from .own_commands import own_actions


class ActionCommands(Provider):
    """Finds actions by their words."""

    async def discover(self) -> Hits:
        """All actions of this screen."""
        for action in self._actions():
            yield DiscoveryHit(Content(self._words(action)), self._call(action))

    async def search(self, query: str) -> Hits:
        """The actions that match; matches in the name come before matches in the description."""
        matcher = self.matcher(query)
        for action in self._actions():
            words = self._words(action)
            score = matcher.match(words)
            if score > 0:
                yield Hit(score + matcher.match(action.label), Content(words), self._call(action))

    def _actions(self) -> Iterator[Action]:
        scope = getattr(self.screen, "SCOPE", "")
        own = own_actions(self.app, scope)
        for action in (*ACTIONS.get(scope, ()), *own, *ACTIONS["app"]):
            if action.id != "app.palette":
                yield action

    def _call(self, action: Action):  # type: ignore[no-untyped-def]
        async def call() -> None:
            await self.screen.run_action(action.call)

        return call

    def _words(self, action: Action) -> str:
        key = shown_key(effective(action, self.app._keymap)[0])
        return f"{action.label}: {action.help}  ({key})"

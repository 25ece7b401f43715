"""Puts the keys and commands of the user's settings in force in the program."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.app import App

from ...config import Config, ConfigProblem, config_path
from .actions import ACTIONS
from .keymap import effective, key_problems, textual_keys
from .own_commands import OwnCommand, read_own_commands


class UserKeys:
    """The keys as the user has them.

    Args:
        app: The program.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self.commands: dict[str, OwnCommand] = {}
        """The user's own commands, by name."""

    def take(self, config: Config) -> list[ConfigProblem]:
        """Put keys and commands in force; what is wrong with the others."""
        problems = key_problems(config.keys, str(config_path()))
        if not problems:
            self._app.set_keymap(textual_keys(config.keys))
        keys = {} if problems else config.keys
        found, wrong = read_own_commands(config.commands, keys, str(config_path()))
        for command in found:
            self.commands[command.name] = command
            action = command.action
            self._app.bind(action.keys, action.call, description=action.label, show=False)
        return problems + wrong

    @property
    def ways_out(self) -> set[str]:
        """The keys that act even while a screen is still being painted."""
        actions = (action for action in ACTIONS["app"] if action.id in ("app.back", "app.quit"))
        return {key for action in actions for key in effective(action, self._app._keymap)}

    def quits(self, event: events.Event) -> bool:
        """Whether this is the key that ends the program at any time."""
        quit_ = next(action for action in ACTIONS["app"] if action.id == "app.quit")
        return isinstance(event, events.Key) and event.key in effective(quit_, self._app._keymap)

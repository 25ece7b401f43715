"""Textual's bindings, made from the table of actions."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from .actions import ACTIONS, Action
from .key_names import shown_key


def bindings(scope: str) -> list[BindingType]:
    """The bindings of a scope, each with the id that a key map may name."""
    return [_binding(action) for action in ACTIONS[scope]]


def screen_bindings(scope: str) -> list[BindingType]:
    """The bindings of a full screen: its own, then those that work everywhere."""
    return [*bindings(scope), *bindings("app")]


def _binding(action: Action) -> Binding:
    return Binding(
        action.keys,
        action.call,
        action.label,
        show=action.footer,
        key_display=shown_key(action.keys.split(",")[0]),
        tooltip=action.help,
        id=action.id,
    )

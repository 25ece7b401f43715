"""Where leaving a screen leads: back to the library that it was opened from, or out of quizlog."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.binding import Binding
from textual.screen import Screen


def leads_to_library(screen: Screen[Any]) -> bool:
    """Whether the screen below is the library."""
    stack = screen.app.screen_stack
    below = stack[stack.index(screen) - 1] if screen in stack[1:] else None
    return getattr(below, "SCOPE", "") == "library"


def labelled(binding: Binding, screen: Screen[Any]) -> Binding:
    """A key as the footer names it: the one that leaves the player says that it goes back."""
    if binding.id == "player.library" and leads_to_library(screen):
        return replace(binding, description="Library")
    return binding

"""The screens that a picture may show. Does not import Textual."""

from __future__ import annotations

SCREENS: dict[str, tuple[str, ...]] = {
    "player": (),
    "tree": ("escape", "b"),
    "compare": ("escape", "c", "enter"),
    "consensus": ("escape", "d"),
    "sweep": ("escape", "s"),
    "library": (),
    "episodes": (),
}
"""Each screen with the keys that open it from the first one."""

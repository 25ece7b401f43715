"""Copies text: with the desktop's own means where there is one, else through the terminal."""

from __future__ import annotations

from textual.app import App


def copy(app: App[None], text: str) -> str:
    """Copy; how it was done, in words for the user."""
    if not app.is_web and _native(text):  # in a browser the desktop here is another's
        return "copied"
    app.copy_to_clipboard(text)
    return "copied through the terminal (OSC 52), if it allows that"


def _native(text: str) -> bool:
    """Whether a program of the desktop took the text."""
    import pyperclip

    try:
        pyperclip.copy(text)
    except pyperclip.PyperclipException:
        return False
    return True

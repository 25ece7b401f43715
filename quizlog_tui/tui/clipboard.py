"""Copies text to the desktop's clipboard if there is one, else through the terminal."""

from __future__ import annotations

from textual.app import App


def copy(app: App[None], text: str) -> str:
    """Copy a text and return a message that says how."""
    if not app.is_web and _native(text):  # in a browser the desktop here is another's
        return "copied"
    app.copy_to_clipboard(text)
    return "copied through the terminal (OSC 52), if it allows that"


def _native(text: str) -> bool:
    """Whether a clipboard program of the desktop accepted the text."""
    import pyperclip

    try:
        pyperclip.copy(text)
    except pyperclip.PyperclipException:
        return False
    return True

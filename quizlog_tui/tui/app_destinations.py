"""What the palette finds on every screen: records, themes, the settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import config_path
from ..errors import QuizlogError, UsageError
from . import external
from .destinations import Destination, record_destinations, theme_destinations
from .messages import OpenRecord
from .toasts import complain

if TYPE_CHECKING:
    from .app import QuizlogApp


def app_destinations(app: QuizlogApp) -> Iterator[Destination]:
    """The records of the library and those shown last, the themes, the settings."""
    yield from record_destinations(_records(app), lambda path: app.post_message(OpenRecord(path)))
    yield from theme_destinations(app.available_themes, app.take_theme)
    if app.audit is None:
        about = f"open {config_path()} in $EDITOR"
        yield Destination("Settings", about, lambda: _edit_settings(app))


def _records(app: QuizlogApp) -> list[Path]:
    """The records of the library in its order, then those shown last, each once."""
    from .screens.library import LibraryScreen

    libraries = (screen for screen in app.screen_stack if isinstance(screen, LibraryScreen))
    listed = [path for library in libraries for path in library.paths]
    recent = [] if app.audit and app.audit.folder else app.state.recent
    known = {Path(os.path.realpath(path)) for path in listed}
    return listed + [path for path in recent if path not in known and os.path.isfile(path)]


def _edit_settings(app: QuizlogApp) -> None:
    path = config_path()
    try:
        if not path.is_file():
            hint = "`quizlog config init` writes the file"
            raise UsageError("there are no settings yet", where=str(path), hint=hint)
        external.edit(app, path, None)
    except QuizlogError as error:
        complain(app, error)

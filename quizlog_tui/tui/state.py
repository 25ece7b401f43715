"""Remembers places and themes from one run to the next. Losing the file does no harm."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from ..errors import RecordError
from ..files.durable import FileKind, write_text
from ..files.paths import user_folder

_MOST = 200
"""Maximum number of places; the oldest are removed first."""


class State:
    """A small JSON file in the platform's folder for state."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or user_folder("state") / "screens.json"
        self._data = _loaded(self._path)

    @property
    def theme(self) -> str:
        """The theme chosen last; empty if none."""
        return str(self._data.get("theme") or "")

    @theme.setter
    def theme(self, name: str) -> None:
        self._data["theme"] = name
        self._save()

    @property
    def sorting(self) -> str:
        """How the library was sorted last; empty if never."""
        return str(self._data.get("sorting") or "")

    @sorting.setter
    def sorting(self, order: str) -> None:
        self._data["sorting"] = order
        self._save()

    @property
    def last(self) -> str:
        """The record shown last; empty if none."""
        return str(self._data.get("last") or "")

    @property
    def recent(self) -> list[Path]:
        """The records shown, the last one first."""
        places = self._data.get("places")
        return [Path(name) for name in reversed(places)] if isinstance(places, dict) else []

    def place(self, record: Path) -> dict[str, Any]:
        """The remembered `step` and `pointer` of a record."""
        places = self._data.get("places")
        found = places.get(os.path.realpath(record)) if isinstance(places, dict) else None
        return found if isinstance(found, dict) else {}

    def remember(self, record: Path, step: int, pointer: int) -> None:
        """Remember the step shown and the record's pointer at that time."""
        places = self._data.get("places")
        kept = places if isinstance(places, dict) else {}
        name = os.path.realpath(record)  # `resolve` fails at a loop of links
        kept.pop(name, None)
        kept[name] = {"step": step, "pointer": pointer}
        self._data |= {"last": name, "places": dict(list(kept.items())[-_MOST:])}
        self._save()

    def _save(self) -> None:
        # A read-only home must not stop anybody from looking at a record.
        with contextlib.suppress(RecordError):
            write_text(self._path, json.dumps(self._data), STATE)


def _loaded(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _is_state(path: Path) -> bool:
    return bool(_loaded(path))


STATE = FileKind("the state of the screens", _is_state, beside=True, makes_folder=True)

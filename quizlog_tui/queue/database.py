"""What all who use the queue agree on: its name, its database's address, how values are written.

Knows nothing of what the work is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dbos import Serializer
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from ..errors import ConfigError
from ..solver.redaction import Redaction

APPLICATION = "quizlog"
QUEUE = "quizlog-tasks"
FORMAT = "quizlog-work-1"
"""Names what is written and in which order: work of another format is not taken up."""
OPEN = ["ENQUEUED", "PENDING"]
"""The states of work that has not ended."""
_SERVER = "postgresql+psycopg"
_SERVERS = ("postgres", "postgresql", _SERVER)
"""Schemes of a PostgreSQL server's address."""


def file_of(url: str) -> Path | None:
    """The file of a database that is one; None for a server's.

    Raises:
        ConfigError: It is neither a file's address nor a PostgreSQL server's.
    """
    parsed = _parse(url)
    return Path(parsed.database or "") if parsed.drivername == "sqlite" else None


def system_url(url: str) -> str:
    """The address in the form that DBOS expects.

    Raises:
        ConfigError: As `file_of`.
    """
    return _parse(url).render_as_string(hide_password=False)


def server_arguments(url: str) -> dict[str, Any]:
    """The keyword arguments with which psycopg connects to a PostgreSQL server.

    Raises:
        ConfigError: As `file_of`.
    """
    parsed = _parse(url)
    return dict(parsed.get_dialect()().create_connect_args(parsed)[1])


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise _unknown() from None
    if parsed.drivername in _SERVERS:
        return parsed.set(drivername=_SERVER)
    if parsed.drivername != "sqlite" or not parsed.database:
        raise _unknown()
    return parsed


def _unknown() -> ConfigError:
    hint = "postgresql://USER:PASSWORD@HOST/NAME, or sqlite:///PATH"
    return ConfigError("is no database for tasks", where="TASK_DATABASE_URL", hint=hint)


class Clean(Serializer):
    """JSON without keys or secrets; what failed is kept as its text."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction

    def name(self) -> str:
        """Which format this is."""
        return FORMAT

    def serialize(self, data: Any) -> str:
        """The text that is kept of a value."""
        plain = json.loads(json.dumps(data, default=_failed))
        return json.dumps(self._redaction.clean_value(plain))

    def deserialize(self, text: str) -> Any:
        """The value of a text that was kept."""
        return json.loads(text, object_hook=_raised)


def _failed(value: Any) -> dict[str, str]:
    return {"quizlog failed": f"{type(value).__name__}: {value}"}


def _raised(data: dict[str, Any]) -> Any:
    return RuntimeError(data["quizlog failed"]) if data.keys() == {"quizlog failed"} else data

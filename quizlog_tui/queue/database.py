"""What all who use the queue agree on: its name, its database's address, how values are written.

Knows nothing of what the work is.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dbos import Serializer

from ..errors import ConfigError
from ..solver.redaction import Redaction

APPLICATION = "quizlog"
QUEUE = "quizlog-tasks"
FORMAT = "quizlog-work-1"
"""Names what is written and in which order: work of another format is not taken up."""
OPEN = ["ENQUEUED", "PENDING"]
"""The states of work that has not ended."""


def file_of(url: str) -> Path | None:
    """The file of a database that is one; None for a server's.

    Raises:
        ConfigError: It is neither a file's address nor a PostgreSQL server's.
    """
    if url.startswith("sqlite:///"):
        return Path(url.removeprefix("sqlite:///"))
    if url.startswith(("postgresql:", "postgresql+psycopg:", "postgres:")):
        return None
    hint = "postgresql://USER:PASSWORD@HOST/NAME, or sqlite:///PATH"
    raise ConfigError("is no database for tasks", where="TASK_DATABASE_URL", hint=hint)


def system_url(url: str) -> str:
    """The address as DBOS wants it."""
    return url.replace("postgres:", "postgresql:", 1)


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

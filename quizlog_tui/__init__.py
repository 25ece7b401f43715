"""quizlog: replay, audit and fork multi-step quizzes.

The Python API. Names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bundle.check import verify_bundle as verify_bundle
    from .drift.report import drift_report as drift_report
    from .drift.sides import compare as compare
    from .errors import QuizlogError as QuizlogError
    from .replay.align import align as align
    from .replay.limits import Limits as Limits
    from .replay.lint.check import lint as lint
    from .replay.replayer import Replayer as Replayer
    from .replay.replayer import replay as replay
    from .replay.source import read_source as read_source
    from .replay.transcript import Step as Step
    from .replay.transcript import Transcript as Transcript
    from .reply import Reply as Reply
    from .session import Session as Session
    from .session import open_record as open  # noqa: A004, F401

__version__ = "0.1.0"

_WHERE = {
    "QuizlogError": "errors",
    "Limits": "replay.limits",
    "Replayer": "replay.replayer",
    "replay": "replay.replayer",
    "Step": "replay.transcript",
    "Transcript": "replay.transcript",
    "Reply": "reply",
    "Session": "session",
    "open": "session",
    "align": "replay.align",
    "compare": "drift.sides",
    "drift_report": "drift.report",
    "lint": "replay.lint.check",
    "read_source": "replay.source",
    "verify_bundle": "bundle.check",
}
__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    """Load a public name from the module that has it."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f".{_WHERE[name]}", __name__)
    value = getattr(module, "open_record" if name == "open" else name)
    globals()[name] = value
    return value

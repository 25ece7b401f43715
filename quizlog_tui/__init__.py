"""quizlog: replay, audit and fork multi-step quizzes.

The Python API. Names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .errors import QuizlogError as QuizlogError
    from .proof.bundle.check import verify_bundle as verify_bundle
    from .proof.compare import align as align
    from .proof.compare import compare as compare
    from .proof.drift import drift_report as drift_report
    from .proof.lint.check import lint as lint
    from .replay.process.process import Limits as Limits
    from .replay.replayer import Replayer as Replayer
    from .replay.replayer import replay as replay
    from .replay.script.source import read_source as read_source
    from .replay.transcript import Step as Step
    from .replay.transcript import Transcript as Transcript
    from .server.tasks import tasks_router as tasks_router
    from .session.reply import Reply as Reply
    from .session.session import Session as Session
    from .session.session import open_record as open  # noqa: A004, F401
    from .solver.backend import Backend as Backend
    from .solver.decision_text import read_decisions as read_decisions
    from .solver.voting.decide import decide as decide
    from .webquiz.task.tasks import open_tasks as open_tasks

__version__ = "0.1.0"

_WHERE = {
    "QuizlogError": "errors",
    "Limits": "replay.process.process",
    "Replayer": "replay.replayer",
    "replay": "replay.replayer",
    "Step": "replay.transcript",
    "Transcript": "replay.transcript",
    "Reply": "session.reply",
    "Session": "session.session",
    "open": "session.session",
    "align": "proof.compare",
    "compare": "proof.compare",
    "drift_report": "proof.drift",
    "lint": "proof.lint.check",
    "read_source": "replay.script.source",
    "Backend": "solver.backend",
    "decide": "solver.voting.decide",
    "read_decisions": "solver.decision_text",
    "open_tasks": "webquiz.task.tasks",
    "tasks_router": "server.tasks",
    "verify_bundle": "proof.bundle.check",
}
__all__ = list(_WHERE)


def __getattr__(name: str) -> object:
    """Load a public name from the module that has it."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f".{_WHERE[name]}", __name__)
    value = getattr(module, "open_record" if name == "open" else name)
    globals()[name] = value
    return value

"""What is done about a plug-in whose input raises: it is told in one line, and used no more."""

from __future__ import annotations

from traceback import walk_tb

from textual.widget import Widget
from textual.worker import WorkerFailed

from ....errors import ConfigError
from ....plugins import INPUT_KINDS, broken
from ...toasts import Notifier, complain
from .editor import Editor
from .registry import refuse_plugin


def failed_editor(error: Exception) -> Editor | None:
    """The input of a plug-in in which an exception was raised; None if it was elsewhere."""
    raised = error.error if isinstance(error, WorkerFailed) else error
    for frame, _ in walk_tb(raised.__traceback__):
        widget = frame.f_locals.get("self")
        if isinstance(widget, Widget):
            for node in widget.ancestors_with_self:
                if isinstance(node, Editor) and node.plugin:
                    return node
    return None


def give_up_plugin(name: str, error: Exception, where: Notifier) -> bool:
    """Use a plug-in's input no more and say why; False if that was said before."""
    if not refuse_plugin(name):
        return False
    raised = error.error if isinstance(error, WorkerFailed) else error
    told = raised if isinstance(raised, ConfigError) else broken(INPUT_KINDS, name, raised)
    complain(where, told)
    return True

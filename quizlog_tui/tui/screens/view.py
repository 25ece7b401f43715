"""The interface through which the parts of a screen use it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from textual.app import App
from textual.geometry import Size
from textual.message import Message
from textual.timer import Timer
from textual.worker import Worker

from ..keys.typed_keys import KeyGate
from .slow_work import SlowWork

P = ParamSpec("P")
T = TypeVar("T")


class ScreenView(Protocol):
    """A full screen, as its parts see it."""

    @property
    def app(self) -> App[Any]:
        """The program, which shows other screens over this one."""

    @property
    def size(self) -> Size:
        """Columns and rows."""

    @property
    def is_active(self) -> bool:
        """Whether this is the top screen."""

    @property
    def slow_work(self) -> SlowWork:
        """Runs slow work and shows its errors."""

    @property
    def gate(self) -> KeyGate:
        """Stops keys that were typed before their target was painted."""

    def key(self, name: str) -> str:
        """The key of an action id under the user's key map."""

    def notify(self, message: str, *, severity: Any = ..., markup: bool = ...) -> None:
        """Show a notification."""

    def run_worker(self, work: Any, *, group: str = ..., exclusive: bool = ...) -> Worker[Any]:
        """Run a coroutine beside the screen's messages."""

    def set_interval(self, interval: float, callback: Callable[[], None]) -> Timer:
        """Call something repeatedly."""

    def post_message(self, message: Message) -> bool:
        """Send a message, which goes on to the program."""


class DrawnView(ScreenView, Protocol):
    """A screen that its parts can redraw."""

    def draw(self) -> None:
        """Draw the present state."""


def in_worker(
    group: str = "default", *, exclusive: bool = False
) -> Callable[
    [Callable[Concatenate[Any, P], Awaitable[T]]], Callable[Concatenate[Any, P], Worker[T]]
]:
    """Run a method of a part as a worker of its `view`, as Textual's `work` does for a screen's.

    Args:
        group: The group of the worker.
        exclusive: Whether it ends the others of its group.
    """

    def decorated(
        method: Callable[Concatenate[Any, P], Awaitable[T]],
    ) -> Callable[Concatenate[Any, P], Worker[T]]:
        @wraps(method)
        def start(part: Any, /, *args: P.args, **kwargs: P.kwargs) -> Worker[T]:
            work = partial(method, part, *args, **kwargs)
            worker: Worker[T] = part.view.run_worker(work, group=group, exclusive=exclusive)
            return worker

        return start

    return decorated

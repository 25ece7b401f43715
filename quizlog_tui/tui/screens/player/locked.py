"""The player in audit mode: which keys it refuses, and what stands in the place of the input."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ....errors import ReadOnlyError
from ....replay.transcript import Transcript
from ....terminal_text import plain
from ...toasts import complain
from .player_state import PlayerState

P = ParamSpec("P")
T = TypeVar("T")


def writes(
    doing: str, kind: str = ""
) -> Callable[[Callable[Concatenate[Any, P], T]], Callable[Concatenate[Any, P], None]]:
    """An action that audit mode refuses at once, before it asks or runs anything.

    It is a method of a part of the player, which has the `session` and the `view` to complain on.

    Args:
        doing: What it would write.
        kind: Which kind of writing that is; see `Audit.check`.
    """

    def decorated(
        action: Callable[Concatenate[Any, P], T],
    ) -> Callable[Concatenate[Any, P], None]:
        @wraps(action)
        def checked(part: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
            try:
                if part.session.audit is not None:
                    part.session.audit.check(doing, kind)
            except ReadOnlyError as error:
                complain(part.view, error)
            else:
                action(part, *args, **kwargs)

        return checked

    return decorated


def locked_text(state: PlayerState, shown: Transcript) -> tuple[str, str]:
    """Title and text of a question that cannot be answered, with the recorded answer.

    Args:
        state: What the player shows.
        shown: Its run up to the step shown.
    """
    raised = shown.status == "error"
    asked = plain((shown.steps[-1] if raised else shown.last).prompt or "(no prompt)")
    answer = shown.steps[-1].input if raised else state.recorded
    said = [asked.rstrip()]
    if answer is not None:
        said.append(f"answered: {answer or '(empty)'}")
    return f"Question at step {state.step - raised}, locked", "\n".join(said)

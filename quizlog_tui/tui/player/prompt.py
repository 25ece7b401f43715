"""Draws the question with its input below the output, or the reason why there is none.

There is none in audit mode, if the script cannot be read, and where the run has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...replay.transcript import Transcript
from ...session.session import Session
from ...session.timeline import Moment, Timeline
from ...terminal_text import plain
from ...text import plural
from ..widgets.prompt_panel import PromptPanel
from ..widgets.prompt_question import PromptQuestion
from .player_state import PlayerState

_VERBS = {"answer": "Question", "fork": "Fork", "amend": "Amend", "retry": "Try again"}

_LONG = 40
"""Characters of a recorded answer that may not fit below the input."""
_NO_QUESTION = "(the question is not recorded)"
"""Shown if the record does not contain the question."""


class PromptDrawing:
    """Draws the question at the step shown.

    Args:
        panel: Where it stands.
        session: The open record.
        key: Gives the key of an action, by its id, as the user has it.
        moments: The steps of the run with what was tried at each.
    """

    def __init__(
        self,
        panel: PromptPanel,
        session: Session,
        key: Callable[[str], str],
        moments: Timeline,
    ) -> None:
        self._panel = panel
        self._session = session
        self._key = key
        self._moments = moments

    def draw(self, state: PlayerState, shown: Transcript) -> None:
        """Draw the question at a step, or the state if there is none.

        Args:
            state: What the player shows.
            shown: Its run up to the step shown.
        """
        whole_step = not state.head.hidden
        raised = shown.status == "error" and state.step > 0
        if self._session.missing is not None:
            reload = self._key("player.reload")
            text = _recorded_text(self._session, shown, state.head.hidden, reload)
            self._panel.tell(f"As recorded at step {state.step}", text)
        elif not whole_step or not (shown.status == "in_progress" or raised):
            self._panel.tell(*self._end_text(state, shown))
        elif self._session.audit is not None:
            self._panel.tell(*_locked_text(state, shown))
        elif raised:
            self._ask_again(state, shown)
        else:
            self._ask(state, shown)

    def _ask(self, state: PlayerState, shown: Transcript) -> None:
        old = _old_answers(self._moments[state.step])
        last = shown.last
        asked = PromptQuestion(shown.next_prompt or "", last.kind, last.printed_before)
        self._panel.ask(_heading(state.step, state.mode), asked, old)
        self._remark(state, old)

    def _ask_again(self, state: PlayerState, shown: Transcript) -> None:
        """Ask the question before an error again."""
        last = shown.steps[-1]
        asked = PromptQuestion(last.question or "", last.kind, last.printed_before)
        self._panel.ask(_heading(state.step - 1, "retry"), asked)
        self._remark(state, _old_answers(self._moments[state.step]))

    def _remark(self, state: PlayerState, old: Sequence[str]) -> None:
        """Show recorded and earlier answers below the input, and how to reuse them."""
        said = []
        if state.recorded is not None:
            long = len(state.recorded) > _LONG or "\n" in state.recorded
            shows = f" ({self._key('player.recorded')} shows all of it)" if long else ""
            said.append(f"recorded{shows}: {state.recorded or '(empty)'}")
        behind = len(state.whole.steps) - self._session.pointer
        if behind > 0:
            takes, tail = self._key("player.redo_tail"), plural(behind, "recorded answer")
            said.append(f"{takes} replays the {tail}")
        takes = "↑↓ " if self._panel.suggests else f"{self._key('player.plain')} ↑↓ "
        if self._panel.options:
            said.append(f"{takes}options")
            takes = ""
        others = [answer for answer in old if answer != state.recorded]
        if others:
            said.append(f"{takes}other branches: {', '.join(others[:4])}")
        self._panel.remark(" · ".join(said))

    def _end_text(self, state: PlayerState, shown: Transcript) -> tuple[str, str]:
        if state.head.hidden:
            on, last = self._key("player.event_forward"), self._key("player.last")
            return "Playing", f"The question comes later: {on} goes on, {last} goes to the end."
        if shown.status == "error":
            return "End", "The script cannot start."
        count = plural(state.step, "answer")
        back, fork = self._key("player.back"), self._key("player.fork")
        forks = f", fork with {fork}" if fork else ""
        return "End", f"Finished after {count}. Step back with {back}{forks}."


def _heading(at: int, verb: str) -> str:
    """What the next answer will do, and at which step."""
    return f"{_VERBS[verb]} at step {at}"


def _old_answers(moment: Moment) -> list[str]:
    """All answers ever given at a stop on any branch, the recorded one first."""
    found = [moment.answer, *(one.answer for one in moment.tries)]
    return list(dict.fromkeys(answer for answer in found if answer is not None))


def _locked_text(state: PlayerState, shown: Transcript) -> tuple[str, str]:
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


def _recorded_text(session: Session, shown: Transcript, hidden: int, reload: str) -> str:
    """The text in place of the input: the recorded question, and how to repair the record.

    Args:
        session: The open record.
        shown: The run as it is recorded, up to the step shown.
        hidden: Events of that step which are not shown yet.
        reload: The key that reads the record and its script again.
    """
    error = session.missing
    asked = shown.status == "in_progress" and not hidden
    question = f"{shown.next_prompt or _NO_QUESTION}\n" if asked else ""
    why = f"{session.record.script}: {error.message}" if error else ""
    mend = f"Put it back, or edit `script:` in {session.path.name}; then press {reload}."
    return f"{question}Nothing can be run. {why}. {mend}"

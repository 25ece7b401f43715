"""Puts a record's pending question to the models, and their decision back into the record.

The command line, the screens and the server all use this module to connect a session and the
solver. A person's answer is never replaced: if the models answer differently, their answer starts a
new branch. Every decision is stored with the record.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import UsageError
from ..files.paths import decisions_path
from ..files.scratch import scratch_folder
from ..record.branches import free_name, leaves_tail
from ..record.lineage import agreements
from ..record.who import Giver
from ..replay.script.input_kinds import is_free_text
from ..replay.transcript import Transcript
from ..session.reply import Reply
from ..session.session import Session
from .decision import Decision, ModelQuestion, Refusal
from .decision_text import answer_text, append_decision, check_decisions_place
from .solve import Panel, Progress, answering_panel, solve

_AGENT = "agent"
"""The stem of the names of branches that models start."""
_MAX_FILE = 64 * 1024 * 1024
"""Maximum size in bytes of a file that a model's code gets."""
_WITHHELD = frozenset({".py", ".pyc", ".yaml", ".yml", ".jsonl", ".lock"})
"""Suffixes of files that models never get: scripts and records contain the answers."""

_Tell = Callable[[Progress], None]
_Agree = Callable[[Panel], None]
"""Called with the models before they are asked; raises if they must not be."""


def question_of(session: Session) -> ModelQuestion:
    """The pending question; after an error, the one whose answer raised it.

    Raises:
        UsageError: No question is pending.
    """
    steps = session.transcript.steps
    if session.transcript.status == "success" or (
        session.transcript.status == "error" and not steps
    ):
        hint = "rewind it to an earlier step"
        raise UsageError("the questionnaire asks nothing", where=str(session.path), hint=hint)
    failed = session.transcript.status == "error"
    at = len(steps) - 1 if failed else len(steps)
    asks = steps[at] if failed else session.transcript.last
    return ModelQuestion(
        text=asks.question or "",
        context=_said_before(session.transcript, at),
        input_type=asks.input_type,
        choices=tuple(asks.choices),
        record=session.path.name,
        branch=session.record.branch,
        pointer=at,
        code_hash=session.source.code_hash,
    )


def _said_before(transcript: Transcript, at: int) -> str:
    """The text printed, asked and answered before the question of step `at`."""
    all_steps = (*transcript.steps, transcript.last)
    asked = (f"{''.join(s.written)}{s.prompt or ''}{s.input or ''}\n" for s in all_steps[:at])
    return "".join((*asked, *all_steps[at].written))


def refusals(session: Session, question: ModelQuestion) -> tuple[Refusal, ...]:
    """The answers to this question, in any branch, at which the script raises, with the messages.

    Deleted branches count too: their answers are still wrong.
    """
    at = question.pointer or 0
    answers = list(dict.fromkeys(_failed_answers(session, at)))
    ends = session.fan_out(at, answers) if answers else []
    return tuple(
        Refusal(answer, end.last_error.message)
        for answer, end in zip(answers, ends, strict=True)
        if isinstance(end, Transcript) and end.last_error
    )


def _failed_answers(session: Session, at: int) -> Iterator[str]:
    """The answers at a step after which a branch ended with an error or an unknown status."""
    record = session.record
    shared = agreements(record, record.inputs.upto(at))
    for branch in session.all_branches:
        may_fail = branch.active or branch.status in ("error", None)
        if may_fail and branch.length == at + 1 and shared[branch.name] == at:
            yield record.path_of(branch.name)[at]
    if session.pointer == at + 1:
        yield record.inputs[at]


@contextmanager
def question_files(folder: Path, question: ModelQuestion) -> Iterator[Path]:
    """A folder with copies of the files next to the script that the questionnaire has mentioned."""
    text = f"{question.context}\n{question.text}"
    with scratch_folder("question") as copies:
        for path in sorted(folder.iterdir()):
            if _is_mentioned(path, text):
                shutil.copyfile(path, copies / path.name)
        yield copies


def _is_mentioned(path: Path, text: str) -> bool:
    """Whether a text mentions a file that models may get."""
    if path.name.startswith("."):  # settings and keys, as in `.env`
        return False
    if path.suffix.lower() in _WITHHELD or path.is_symlink() or not path.is_file():
        return False
    mention = re.search(rf"(?<![\w.-]){re.escape(path.name)}(?![\w-])", text)
    return mention is not None and path.stat().st_size <= _MAX_FILE


@dataclass(frozen=True)
class Pending:
    """A record's pending question, read once, so that others may use the record meanwhile."""

    record: Path
    folder: Path
    """The script's folder."""
    question: ModelQuestion
    refused: tuple[Refusal, ...]
    """Answers known to be wrong."""


def read_pending(session: Session) -> Pending:
    """The pending question of a record.

    Raises:
        UsageError: No question is pending.
    """
    question = question_of(session)
    refused = refusals(session, question)
    return Pending(session.path, session.source.path.parent, question, refused)


async def ask_about(
    pending: Pending,
    panel: Panel,
    *,
    budget: float | None = None,
    tell: _Tell = lambda p: None,
    agree: _Agree = lambda panel: None,
) -> Decision:
    """Ask the models a pending question; return the decision and store it with the record.

    The budget is in seconds, unlimited if None.

    Raises:
        DecisionError: The decision cannot be stored.
    """
    question, refused = pending.question, pending.refused
    check_decisions_place(decisions_path(pending.record))
    with question_files(pending.folder, question) as folder:
        asked = answering_panel(panel, question, folder, refused)
        agree(asked)
        decision = await solve(
            question, asked, folder=folder, refused=refused, budget=budget, tell=tell
        )
    await asyncio.to_thread(append_decision, decisions_path(pending.record), decision)
    return decision


async def ask(
    session: Session,
    panel: Panel,
    *,
    budget: float | None = None,
    tell: _Tell = lambda p: None,
    agree: _Agree = lambda panel: None,
) -> Decision:
    """Read the pending question and ask the models, as `ask_about` does.

    Raises:
        UsageError: No question is pending.
        DecisionError: The decision cannot be stored.
    """
    pending = await asyncio.to_thread(read_pending, session)
    return await ask_about(pending, panel, budget=budget, tell=tell, agree=agree)


def accept(session: Session, decision: Decision) -> Reply:
    """Answer the question with the decision.

    Raises:
        UsageError: The decision has no answer, or the record has moved on since.
    """
    if decision.verdict.why is None:
        raise UsageError("the models decided nothing", hint="answer the question yourself")
    with session.locked():
        question = question_of(session)
        at = question.pointer or 0
        if (question.text, at) != (decision.question.text, decision.question.pointer):
            message = "the record asks another question now"
            raise UsageError(message, hint="ask the models again")
        text = answer_text(decision.verdict.answer, question)
        retries = session.transcript.status == "error"
        if not retries and leaves_tail(session.record, at, text):
            name = free_name(session.record, _AGENT)
            return session.fork(at, text, name, giver=_giver(session, decision))
        return session.answer(text, giver=_giver(session, decision))


def _giver(session: Session, decision: Decision) -> Giver:
    """The models that decided: a single one that was asked alone, or those whose votes counted."""
    names = ", ".join(decision.verdict.contributors) or None
    return Giver(session.giver.door, "decision" if len(decision.models) > 1 else "model", names)


def agreed(decision: Decision) -> bool:
    """Whether the models agree well enough to continue without a person.

    This takes more than half of the weight, from at least two models, or from one if no other was
    asked. Free texts never agree; for them the primary model's answer is enough.
    """
    verdict = decision.verdict
    open_ = [each for each in verdict.classes if not each.refused]
    chosen = next((each for each in open_ if each.members == verdict.contributors), None)
    if chosen is None or verdict.why is None:
        return False
    if is_free_text(decision.question.input_type) and verdict.why == "primary":
        return True
    enough = len(chosen.members) > 1 or len(decision.models) == 1
    return enough and 2 * chosen.weight > sum(each.weight for each in open_)


@dataclass(frozen=True)
class _AutopilotResult:
    """How a run of the autopilot ended."""

    ended: Literal["finished", "raised", "disagreement", "undecided"]
    reply: Reply
    """The record's last reply."""
    decisions: tuple[Decision, ...]
    """All decisions of the run, oldest first."""


async def run_autopilot(
    session: Session,
    panel: Panel,
    *,
    budget: float | None = None,
    tell: _Tell = lambda p: None,
    wait: Callable[[Session], None] = lambda session: None,
    answered: Callable[[Decision, Reply], None] = lambda decision, reply: None,
) -> _AutopilotResult:
    """Answer question after question until the script ends or the models disagree.

    The budget of each question is in seconds, unlimited if None. `wait` is called before each
    answer, and waits while a person holds the record.
    """
    decisions: tuple[Decision, ...] = ()
    while True:
        decision = await ask(session, panel, budget=budget, tell=tell)
        decisions = (*decisions, decision)
        if not agreed(decision):
            ended: Literal["disagreement", "undecided"] = (
                "disagreement" if decision.verdict.classes else "undecided"
            )
            return _AutopilotResult(ended, session.reply(), decisions)
        wait(session)
        reply = accept(session, decision)
        answered(decision, reply)
        if reply.status != "in_progress":
            return _AutopilotResult(
                "finished" if reply.status == "success" else "raised", reply, decisions
            )

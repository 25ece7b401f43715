"""A record's pending question to the models, and their decision back into the record.

The one door between a session and the solver, for the command line, the screens and the server.
What a person answered is never replaced: where models answer otherwise, they get a branch of their
own beside it. Every decision is kept beside the record.
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
from ..files.scratch import scratch_folder
from ..record.branches import free_name, leaves_tail
from ..record.lineage import agreements
from ..replay.transcript import Transcript
from ..session.reply import Reply
from ..session.session import Session
from .decisions.answer_text import answer_text
from .decisions.decision import Decision, Question, Refusal
from .decisions.decision_file import append_decision, decisions_path
from .solve import Panel, Progress, answering_panel, solve

AGENT = "agent"
"""What the branches of models are named after."""
MAX_FILE = 64 * 1024 * 1024
"""Larger files are not given to a model's code."""
_OWN = frozenset({".py", ".pyc", ".yaml", ".yml", ".jsonl", ".lock"})
"""Endings of files that models never get: scripts and records hold the answers."""

Tell = Callable[[Progress], None]
Agree = Callable[[Panel], None]
"""Hears who will be asked, before anybody is; raises if they may not be."""


def question_of(session: Session) -> Question:
    """The pending question; after an error, the one that was answered wrong.

    Raises:
        UsageError: Nothing is asked.
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
    return Question(
        text=asks.prompt or "",
        context=_said_before(session.transcript, at),
        input_type=asks.input_type,
        choices=tuple(asks.choices),
        record=session.path.name,
        branch=session.branch,
        pointer=at,
        code_hash=session.source.code_hash,
    )


def _said_before(transcript: Transcript, at: int) -> str:
    """What was printed, asked and answered before the question of step `at`."""
    all_steps = (*transcript.steps, transcript.last)
    asked = (f"{''.join(s.written)}{s.prompt or ''}{s.input or ''}\n" for s in all_steps[:at])
    return "".join((*asked, *all_steps[at].written))


def refusals(session: Session, question: Question) -> tuple[Refusal, ...]:
    """Answers to this question at which the script raises, from all branches, with its messages.

    Deleted branches count too: what they show about an answer stays true.
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
    """Answers at a step after which a branch ended with an error, or nobody recorded how."""
    record = session.record
    shared = agreements(record, record.inputs.upto(at))
    for branch in session.all_branches:
        may_fail = branch.active or branch.status in ("error", None)
        if may_fail and branch.length == at + 1 and shared[branch.name] == at:
            yield record.path_of(branch.name)[at]
    if session.pointer == at + 1:
        yield record.inputs[at]


@contextmanager
def question_files(folder: Path, question: Question) -> Iterator[Path]:
    """A folder with copies of those of the script's files that the questionnaire has named.

    Args:
        folder: Where the script lies.
        question: What is asked, with all that was printed before it.
    """
    said = f"{question.context}\n{question.text}"
    with scratch_folder("question") as given:
        for path in sorted(folder.iterdir()):
            if _is_given(path, said):
                shutil.copyfile(path, given / path.name)
        yield given


def _is_given(path: Path, said: str) -> bool:
    if path.name.startswith("."):  # settings and keys, as in `.env`
        return False
    if path.suffix.lower() in _OWN or path.is_symlink() or not path.is_file():
        return False
    named = re.search(rf"(?<![\w.-]){re.escape(path.name)}(?![\w-])", said)
    return named is not None and path.stat().st_size <= MAX_FILE


@dataclass(frozen=True)
class Pending:
    """A record's pending question, read once: models may think about it while others move on."""

    record: Path
    folder: Path
    """Where its script lies."""
    question: Question
    refused: tuple[Refusal, ...]
    """Answers known to be wrong."""


def read_pending(session: Session) -> Pending:
    """The pending question of a record.

    Raises:
        UsageError: Nothing is asked.
    """
    question = question_of(session)
    refused = refusals(session, question)
    return Pending(session.path, session.source.path.parent, question, refused)


async def ask_about(
    pending: Pending,
    panel: Panel,
    *,
    budget: float | None = None,
    tell: Tell = lambda p: None,
    agree: Agree = lambda panel: None,
) -> Decision:
    """Ask the models a pending question; the decision, kept beside the record.

    Args:
        pending: The question.
        panel: Who is asked, where no recording answers.
        budget: Seconds for it.
        tell: Hears what happens.
        agree: May prevent it.

    Raises:
        DecisionError: The decision cannot be kept.
    """
    question, refused = pending.question, pending.refused
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
    tell: Tell = lambda p: None,
    agree: Agree = lambda panel: None,
) -> Decision:
    """Read the pending question, and ask the models about it as `ask_about` does.

    Raises:
        UsageError: Nothing is asked.
        DecisionError: The decision cannot be kept.
    """
    pending = await asyncio.to_thread(read_pending, session)
    return await ask_about(pending, panel, budget=budget, tell=tell, agree=agree)


def accept(session: Session, decision: Decision) -> Reply:
    """Answer the question with what was decided.

    Raises:
        UsageError: Nothing was decided, or the record has moved on since.
    """
    if decision.verdict.why is None:
        raise UsageError("nothing was decided", hint="answer it yourself")
    with session.locked():
        question = question_of(session)
        at = question.pointer or 0
        if (question.text, at) != (decision.question.text, decision.question.pointer):
            raise UsageError("the record asks something else by now", hint="ask the models again")
        text = answer_text(decision.verdict.answer, question)
        retries = session.transcript.status == "error"
        if not retries and leaves_tail(session.record, at, text):
            return session.fork(at, text, free_name(session.record, AGENT))
        return session.answer(text)


def agreed(decision: Decision) -> bool:
    """Whether models agree well enough to go on without a person.

    More than half of the weight, from two models at least; from one only if no other was asked.
    Free texts cannot agree: there the primary model's will do.
    """
    verdict = decision.verdict
    open_ = [one for one in verdict.classes if not one.refused]
    chosen = next((one for one in open_ if one.members == verdict.contributors), None)
    if chosen is None or verdict.why is None:
        return False
    if decision.question.input_type == "textarea" and verdict.why == "primary":
        return True
    enough = len(chosen.members) > 1 or len(decision.models) == 1
    return enough and 2 * chosen.weight > sum(one.weight for one in open_)


@dataclass(frozen=True)
class Flight:
    """How an autopilot's run ended."""

    ended: Literal["finished", "raised", "disagreement", "undecided"]
    reply: Reply
    """Where the record stands."""
    decisions: tuple[Decision, ...]
    """All that was decided on the way."""


async def fly(
    session: Session,
    panel: Panel,
    *,
    budget: float | None = None,
    tell: Tell = lambda p: None,
    answered: Callable[[Decision, Reply], None] = lambda decision, reply: None,
) -> Flight:
    """Answer question after question, to the end or until models disagree.

    Args:
        session: The record.
        panel: Who is asked.
        budget: Seconds for each question.
        tell: Hears what happens to a question.
        answered: Hears of each answer given.
    """
    decisions: tuple[Decision, ...] = ()
    while True:
        decision = await ask(session, panel, budget=budget, tell=tell)
        decisions = (*decisions, decision)
        if not agreed(decision):
            ended: Literal["disagreement", "undecided"] = (
                "disagreement" if decision.verdict.classes else "undecided"
            )
            return Flight(ended, session.reply(), decisions)
        reply = accept(session, decision)
        answered(decision, reply)
        if reply.status != "in_progress":
            return Flight("finished" if reply.status == "success" else "raised", reply, decisions)

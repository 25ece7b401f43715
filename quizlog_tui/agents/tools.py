"""The tools of the MCP server: each names its record, and may name the step it expects.

Nothing lives in a connection: a record is what its file says, whoever asks.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import count, islice
from pathlib import Path
from random import SystemRandom
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from ..debug.inspection_text import inspection_lines
from ..errors import RecordError
from ..proof.compare import Side, compare, difference_lines, early_end, runs_of, side_at
from ..proof.verify import verify
from ..record.summary import summary
from ..record.who import Giver, claimed_name
from ..replay.replayer import Replayer
from ..replay.uncached_runs import UncachedRuns
from ..session.new_record import new_record
from ..session.open_sessions import OpenSessions, TakenOverError, expect_pointer
from ..session.reply import Reply
from ..session.reply_text import questionnaire, state_lines
from ..session.served_folders import SCRIPT, SHEET, NotServedError
from ..session.session import Session
from ..text import is_whole, one_line
from .results import refused, told, without_paths

MOST_LISTED = 1000
"""Maximum number of records, and of scripts, in a list."""
_PROGRESS_SECONDS = 1.0
"""Seconds between two reports of progress."""

T = TypeVar("T")
Model = Annotated[
    str | None, Field(description="the model that gives the answer, for the record; optional")
]
Record = Annotated[str, Field(description="the record, as list_quizzes names it")]
Step = Annotated[int, Field(ge=0, description="index of a question; 0 is the first")]
Pointer = Annotated[
    int | None,
    Field(ge=0, description="the step that this call expects; refused if the record is elsewhere"),
]


def _whole(text: str) -> str:
    if not is_whole(text):  # HTTP lets it in, and no reply could show it
        raise PydanticCustomError("half", "holds half of a surrogate pair")
    return text


Text = Annotated[str, AfterValidator(_whole)]
Answer = Annotated[Text, Field(description="the answer, exactly as it is typed at the question")]


class QuizTools:
    """The tools, over the open records of a server.

    Args:
        sessions: The open records.
        seat: Whether the client is under test: it sees no line of a script, and no warning.
    """

    def __init__(self, sessions: OpenSessions, *, seat: bool) -> None:
        self._sessions = sessions
        self._seat = seat

    # -- a record and its moves

    async def show(self, record: Record, ctx: Context) -> CallToolResult:
        """Show a quiz: all it printed, the answers so far, and its pending question."""

        def act(session: Session) -> CallToolResult:
            return self.told(session, session.reply(), record)

        return await self.move(ctx, record, act)

    async def answer(
        self,
        record: Record,
        text: Answer,
        ctx: Context,
        pointer: Pointer = None,
        model: Model = None,
    ) -> CallToolResult:
        """Answer the pending question of a quiz; shows what follows.

        A wrong answer is no failed call: the status is `error`, with a message and a score. The
        next answer then tries the same question again.
        """
        return await self.give(ctx, record, text, pointer, giver_of(ctx, model))

    async def give(
        self, ctx: Context, record: str, text: str, pointer: int | None, giver: Giver
    ) -> CallToolResult:
        """Answer the pending question for somebody, and tell what follows."""

        def act(session: Session) -> CallToolResult:
            expect_pointer(session, pointer)
            return self.told(session, session.answer(text, giver=giver).newest(), record)

        return await self.change(ctx, record, act, giver)

    async def rewind(
        self, record: Record, step: Step, ctx: Context, pointer: Pointer = None
    ) -> CallToolResult:
        """Go back to a question; no answer is lost."""

        def act(session: Session) -> CallToolResult:
            expect_pointer(session, pointer)
            return self.told(session, session.rewind(step), record)

        return await self.change(ctx, record, act, giver_of(ctx))

    async def fork(
        self,
        record: Record,
        step: Step,
        text: Answer,
        ctx: Context,
        name: Annotated[Text | None, Field(description="the branch; default: fork-1, ...")] = None,
        pointer: Pointer = None,
        model: Model = None,
    ) -> CallToolResult:
        """Give another answer at a question, on a new branch that becomes the active one."""
        giver = giver_of(ctx, model)

        def act(session: Session) -> CallToolResult:
            expect_pointer(session, pointer)
            return self.told(session, session.fork(step, text, name, giver).newest(), record)

        return await self.change(ctx, record, act, giver)

    async def inspect(
        self,
        record: Record,
        ctx: Context,
        step: Annotated[int | None, Field(ge=0, description="default: the pending one")] = None,
    ) -> CallToolResult:
        """Show what the script knows at a question: stack, variables, and what changed."""

        def act(session: Session) -> CallToolResult:
            found = session.inspect(step)
            text = "".join(f"{line}\n" for line in inspection_lines(found))
            data = self._without_paths({"record": record, **found.to_dict()})
            return told(data, self._sessions.folders.shown(text))

        return await self.move(ctx, record, act)

    async def move(self, ctx: Context, record: str, act: Callable[[Session], T]) -> T:
        """What `act` makes of a record, in its turn."""
        path = self._sessions.folders.find(SHEET, record)
        return await reported(ctx, self._sessions.move(path, act), partial(self._doing, path))

    async def change(
        self, ctx: Context, record: str, act: Callable[[Session], CallToolResult], giver: Giver
    ) -> CallToolResult:
        """Change a record in its turn, once no person holds it.

        If the person has answered meanwhile, it is refused with what their answers led to.
        """
        path = self._sessions.folders.find(SHEET, record)
        work = self._sessions.change(path, act, giver.name or "an agent")
        try:
            return await reported(ctx, work, partial(self._doing, path))
        except TakenOverError as error:
            refusal, since = error, error.since

        def show(session: Session) -> CallToolResult:
            text = questionnaire(replace(session.reply(), since=min(since, session.pointer)))
            return refused(refusal, self._sessions.folders, text)

        return await self.move(ctx, record, show)

    def _doing(self, path: Path) -> str:
        held = self._sessions.waits_for_person(path)
        return "a person holds the record" if held else "the script runs"

    def told(self, session: Session, reply: Reply, record: str) -> CallToolResult:
        """What a reply says, with the record's name as the client gave it."""
        notes = () if self._seat else session.warnings
        lines = [f"note: {one_line(note)}" for note in notes]
        lines += state_lines(session, reply, source=not self._seat)
        shown = [self._sessions.folders.shown(line) for line in lines]
        return told(reply.to_dict() | {"record": record}, questionnaire(reply), shown)

    # -- the folder

    async def list_quizzes(self) -> CallToolResult:
        """List the records that can be shown and answered, and the scripts that can be opened."""
        data = await self._sessions.off_loop(self._listed)
        return told(data, "".join(f"{line}\n" for line in _list_lines(data)))

    def _listed(self) -> dict[str, Any]:
        records, asking = map(self._sessions.folders.names, (SHEET, SCRIPT))
        scripts = [name for name, _ in islice(asking, MOST_LISTED)]
        listed = [summary(path).to_dict(name) for name, path in islice(records, MOST_LISTED)]
        return {"records": listed, "scripts": scripts}

    async def open_quiz(
        self,
        quiz: Annotated[str, Field(description="a script or a record, as list_quizzes names it")],
        ctx: Context,
        seed: Annotated[
            int | None, Field(ge=-(10**30), le=10**30, description="default: a random one")
        ] = None,
    ) -> CallToolResult:
        """Begin a quiz: make a new record of a script, and show it. A record is only shown."""
        try:
            script = self._sessions.folders.find(SCRIPT, quiz)
        except NotServedError:
            return await self.show(quiz, ctx)
        path = await self._sessions.off_loop(partial(self._made, script, seed))

        def act(session: Session) -> CallToolResult:
            session.save()
            name = self._sessions.folders.shown(str(path))
            return self.told(session, session.reply(), name)

        return await reported(ctx, self._sessions.move(path, act), partial(self._doing, path))

    def _made(self, script: Path, seed: int | None) -> Path:
        """Make a record of a script beside it, with the first name that finds nothing; its path."""
        chosen = SystemRandom().randrange(10**6) if seed is None else seed
        for number in count(1):
            path = script.with_name(f"{script.stem}{f'-{number}' if number > 1 else ''}.yaml")
            name = self._sessions.folders.shown(str(path))
            if os.path.lexists(path) or self._sessions.folders.leads_to(SHEET, name):
                continue
            try:
                new_record(script, path, chosen)
            except RecordError:
                if not os.path.lexists(path):
                    raise
            else:
                return path
        raise AssertionError

    # -- judgements

    async def verify(self, record: Record, ctx: Context) -> CallToolResult:
        """Check by fresh replays that the record shows what its script really does."""
        path = self._sessions.folders.find(SHEET, record)
        runs = UncachedRuns(self._sessions.replayers.limits)

        def judge() -> CallToolResult:
            self._sessions.script_of(path)
            verdict = verify(path, runs)
            lines = (verdict.headline, *(f"   {each}" for each in verdict.remarks))
            text = "".join(f"{one_line(line)}\n" for line in lines)
            data = self._without_paths(verdict.to_dict() | {"record": record})
            return told(data, self._sessions.folders.shown(text))

        return await reported(ctx, self._sessions.off_loop(judge, runs.give_up), _replays)

    async def diff(
        self,
        a: Annotated[str, Field(description="a record, or record@branch")],
        b: Annotated[str, Field(description="another, or @branch of the same record")],
        ctx: Context,
    ) -> CallToolResult:
        """Compare two runs: where they part, step by step."""
        with Replayer(self._sessions.replayers.limits) as replayer:
            compared = partial(self._compared, a, b, replayer)
            return await reported(ctx, self._sessions.off_loop(compared, replayer.cancel), _replays)

    def _compared(self, a: str, b: str, replayer: Replayer) -> CallToolResult:
        names = (a, f"{a.rpartition('@')[0] or a}{b}" if b.startswith("@") else b)
        sides = [self._side(name) for name in names]
        runs = runs_of(sides, replayer)
        found = compare(runs[0][0], runs[1][0], ended=(runs[0][1], runs[1][1]))
        notes = [
            f"note: {one_line(early_end(name, run, ended))}"
            for name, (run, ended) in zip(names, runs, strict=True)
            if ended is not None
        ]
        lines = difference_lines(found, *names, [side.givers for side in sides])
        text = "".join(f"{line}\n" for line in lines)
        return told(found.to_dict(), text, notes)

    def _side(self, name: str) -> Side:
        """The run of a served record, or of one of its branches."""
        record, at, branch = name.rpartition("@")
        path = self._sessions.folders.find(SHEET, record if at else name)
        self._sessions.script_of(path)
        return side_at(path, branch if at else None)

    def _without_paths(self, data: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = without_paths(data, self._sessions.folders)
        return found


def giver_of(ctx: Context, model: str | None = None) -> Giver:
    """The agent that calls, by the name that its client gives; or the model that it names."""
    params = ctx.session.client_params
    info = params and params.client_info
    client = claimed_name(f"{info.name} {info.version}") if info else None
    answers = claimed_name(model or "")
    if answers is None:
        return Giver("mcp", "agent", client)
    return Giver("mcp", "model", f"{answers} ({client})" if client else answers)


def _list_lines(data: Mapping[str, Any]) -> Iterator[str]:
    for each in data["records"]:
        score = "" if each["score"] is None else f", score {each['score']:g}"
        yield f"record {each['record']}: {each['status'] or 'unreadable'}{score}"
    for name in data["scripts"]:
        yield f"script {name}"
    if not data["records"] and not data["scripts"]:
        yield "no record and no script is served"


# -- waiting


async def reported(context: Context, work: Coroutine[Any, Any, T], doing: Callable[[], str]) -> T:
    """What `work` returns; the client is told every second that it goes on.

    If the client cancels its call or leaves, the work is cancelled, and ends in its own time.

    Args:
        context: The call that waits.
        work: The work.
        doing: Says what is done.
    """
    task = asyncio.ensure_future(work)
    seconds = 0
    try:
        while not (await asyncio.wait([task], timeout=_PROGRESS_SECONDS))[0]:
            seconds += 1
            await context.report_progress(seconds, message=f"{doing()}: {seconds} s")
        return task.result()
    finally:
        if not task.done():
            task.add_done_callback(_forget)
            task.cancel()


def _replays() -> str:
    return "the script is replayed"


def _forget(task: asyncio.Future[Any]) -> None:
    """Take the outcome of a task that nobody waits for, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()

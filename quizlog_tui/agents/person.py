"""The human's seat: the client asks its person the pending question, and the answer is theirs.

The SDK runs the functions before the tool's own once a round; in protocols from 2026 on, each round
is a call of its own. A question is asked again if it has another text than in the round before, so
the text holds the step: of two equal questions, the answer to one is never given to the other.
"""

# No `from __future__ import annotations`: the SDK evaluates those of inner functions elsewhere.

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import (
    AcceptedElicitation,
    Context,
    Elicit,
    ElicitationResult,
    Resolve,
)
from mcp.types import CallToolResult
from pydantic import BaseModel, Field, create_model

from ..errors import UsageError
from ..record.who import Giver
from ..replay.transcript import Step
from ..session.open_sessions import expect_pointer
from ..session.reply import Reply
from ..session.reply_text import questionnaire
from ..session.session import Session
from ..text import one_line, visible
from .tools import Pointer, QuizTools, Record

_PERSON = Giver("mcp", "person")
_MOST_SHOWN = 4000
"""Maximum number of characters shown with a question: the last ones."""


@dataclass(frozen=True)
class _Asked:
    """A pending question for a person."""

    pointer: int
    message: str
    form: type[BaseModel]


class _Answer(BaseModel):
    """The form of an answer; each question's own has a field of this name."""

    text: Any


def person_tool(quiz: QuizTools) -> Callable[..., Any]:
    """The tool that has the person answer."""

    async def asked(record: Record, ctx: Context, pointer: Pointer = None) -> _Asked:
        _check_asks(ctx)

        def read(session: Session) -> _Asked:
            expect_pointer(session, pointer)
            return _question(session.reply())

        return await quiz.move(ctx, record, read)

    async def given(question: Annotated[_Asked, Resolve(asked)]) -> Elicit[Any]:
        return Elicit(question.message, question.form)

    async def answer(
        record: Record,
        ctx: Context,
        question: Annotated[_Asked, Resolve(asked)],
        said: Annotated[ElicitationResult[_Answer], Resolve(given)],
        pointer: Pointer = None,
    ) -> CallToolResult:
        """Ask the person at this client the pending question, and give their answer."""
        if not isinstance(said, AcceptedElicitation):
            hint = "call answer again when they want to"
            raise UsageError("the person gave no answer; nothing was recorded", hint=hint)
        return await quiz.give(ctx, record, said.data.text, question.pointer, _PERSON)

    return answer


def _check_asks(ctx: Context) -> None:
    """Check that the client can ask its person.

    Raises:
        UsageError: It cannot.
    """
    able = ctx.client_capabilities
    if able is None or able.elicitation is None:
        hint = "use a client with elicitation, or serve without --person"
        raise UsageError("this client cannot ask its person a question", hint=hint)


def _question(reply: Reply) -> _Asked:
    """The form of the pending question; after an error, of the last one again.

    Raises:
        UsageError: Nothing is asked.
    """
    steps = reply.transcript.steps
    if reply.status == "success" or (reply.status == "error" and not steps):
        raise UsageError("nothing is asked any more", hint="show tells how the quiz ended")
    if reply.status == "in_progress":
        step, said = reply.transcript.last, questionnaire(reply.newest()).rstrip("\n")
    else:
        step, said = steps[-1], _after_error(reply)
    return _Asked(reply.pointer, f"{said[-_MOST_SHOWN:]}\n(step {reply.pointer})", _form(step))


def _after_error(reply: Reply) -> str:
    """What was wrong with the last answer, and its question."""
    question = visible(reply.transcript.steps[-1].question or "")
    return f"{one_line(reply.transcript.error_text())}\n{question}"


def _form(step: Step) -> type[BaseModel]:
    """A text, or one of the choices that the question names; numbers stay as they are typed."""
    kind: Any = Literal[tuple(step.choices)] if step.choices else str
    field = Field(title="Answer", description=step.input_type)
    return create_model("Answer", text=(kind, field))

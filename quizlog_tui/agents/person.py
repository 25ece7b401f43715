"""The human's seat: the client asks its person the pending question, and the answer is theirs.

The SDK runs the functions before the tool's own once a round; in protocols from 2026 on, each round
is a call of its own. A question is asked again if it has another text than in the round before, so
the text holds the step: of two equal questions, the answer to one is never given to the other.
"""

from __future__ import annotations

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
from ..session.open_sessions import expect_pointer
from ..session.reply import Reply
from ..session.reply_text import questionnaire
from ..session.session import Session
from .tools import Pointer, QuizTools, Record

_PERSON = Giver("mcp", "person")


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
        text = said.data.text

        def act(session: Session) -> CallToolResult:
            expect_pointer(session, question.pointer)
            return quiz.told(session, session.answer(text, giver=_PERSON).newest(), record)

        return await quiz.move(ctx, record, act)

    return answer


def _question(reply: Reply) -> _Asked:
    """The form of a pending question.

    Raises:
        UsageError: Nothing is asked.
    """
    if reply.next_prompt is None:
        ended = reply.status == "success"
        hint = "the quiz is finished" if ended else "rewind it to a question"
        raise UsageError("nothing is asked", hint=hint)
    shown = questionnaire(reply.newest()).rstrip("\n")
    return _Asked(reply.pointer, f"{shown}\n(step {reply.pointer})", _form(reply))


def _form(reply: Reply) -> type[BaseModel]:
    """A text, or one of the choices that the question names; numbers stay as they are typed."""
    kind: Any = Literal[tuple(reply.choices)] if reply.choices else str
    field = Field(title="Answer", description=reply.input_type)
    return create_model("Answer", text=(kind, field))

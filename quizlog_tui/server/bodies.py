"""What a request's body may say: the two forms of a step, and the two of a question to models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise PydanticCustomError("string_type", "must be a text")
    return value


Text = Annotated[Any, AfterValidator(_text), WithJsonSchema({"type": "string"})]
"""Any text JSON can carry, also with halves of surrogate pairs, which pydantic's own refuses."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ScriptStep(_Body):
    """A script with a seed and all answers so far (spec 1); the server keeps no state of it."""

    script_id: Text
    seed: Annotated[int, Field(ge=-(10**30), le=10**30)] = 0
    inputs: list[Text] = []


class SheetStep(_Body):
    """A record, and an answer to its pending question; none only shows it (spec 1)."""

    sheet_id: Text
    input: Text | None = None
    pointer: Annotated[
        int | None,
        Field(ge=0, description="the step the answer is for; refused if it is another by now"),
    ] = None
    new: Annotated[bool, Field(description="print only what the answer led to")] = False


def _step_form(body: Any) -> str:
    return "sheet" if isinstance(body, Mapping) and "sheet_id" in body else "script"


Step = Annotated[
    Annotated[ScriptStep, Tag("script")] | Annotated[SheetStep, Tag("sheet")],
    Discriminator(_step_form),
]

Budget = Annotated[float | None, Field(gt=0, le=3600, description="seconds", strict=False)]


class RecordSolve(_Body):
    """The pending question of a record, for models."""

    sheet_id: Text
    accept: Annotated[
        Literal["never", "agreed", "always"],
        Field(description="answer it with what was decided: not, if models agree, or in any case"),
    ] = "never"
    budget: Budget = None


class AskedQuestion(_Body):
    """A question of no record."""

    text: Text
    context: Text = ""
    input_type: Text = "text"
    choices: list[Text] = []


class QuestionSolve(_Body):
    """Any question, for models."""

    question: AskedQuestion
    budget: Budget = None


def _solve_form(body: Any) -> str:
    return "question-form" if isinstance(body, Mapping) and "question" in body else "record"


Solve = Annotated[
    Annotated[RecordSolve, Tag("record")] | Annotated[QuestionSolve, Tag("question-form")],
    Discriminator(_solve_form),
]

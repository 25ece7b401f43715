"""The forms of request bodies: two for a step, and two for a question to models."""

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
"""Any text that JSON can carry, lone surrogates included, which pydantic's `str` refuses."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ScriptStep(_Body):
    """A script with a seed and all answers so far; the server keeps no state."""

    script_id: Text
    seed: Annotated[int, Field(ge=-(10**30), le=10**30)] = 0
    inputs: list[Text] = []


class SheetStep(_Body):
    """A record and an answer to its pending question; without an answer it is only shown."""

    sheet_id: Text
    input: Text | None = None
    pointer: Annotated[
        int | None,
        Field(ge=0, description="the step that the answer is for; refused unless it is pending"),
    ] = None
    new: Annotated[bool, Field(description="print only what follows the answer")] = False


def _step_form(body: Any) -> str:
    return "sheet" if isinstance(body, Mapping) and "sheet_id" in body else "script"


Step = Annotated[
    Annotated[ScriptStep, Tag("script")] | Annotated[SheetStep, Tag("sheet")],
    Discriminator(_step_form),
]

Budget = Annotated[float | None, Field(gt=0, le=3600, description="seconds", strict=False)]


class RecordSolve(_Body):
    """Ask models the pending question of a record."""

    sheet_id: Text
    accept: Annotated[
        Literal["never", "agreed", "always"],
        Field(description="whether to answer the record: never, if the models agree, or always"),
    ] = "never"
    budget: Budget = None


class AskedQuestion(_Body):
    """A question without a record."""

    text: Text
    context: Text = ""
    input_type: Text = "text"
    choices: list[Text] = []


class QuestionSolve(_Body):
    """Ask models a question without a record."""

    question: AskedQuestion
    budget: Budget = None


def _solve_form(body: Any) -> str:
    return "question-form" if isinstance(body, Mapping) and "question" in body else "record"


Solve = Annotated[
    Annotated[RecordSolve, Tag("record")] | Annotated[QuestionSolve, Tag("question-form")],
    Discriminator(_solve_form),
]

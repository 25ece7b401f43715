"""The forms of request bodies, and the schemas of responses for `/openapi.json`."""

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
    TypeAdapter,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from ..record.who import MOST_NAME, By
from ..session.reply import REPLY_SCHEMA
from .admission import MAX_BODY, READ_SECONDS


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


class Claim(_Body):
    """Who gives an answer, as the client says; nothing checks it."""

    by: By
    name: Annotated[str, Field(max_length=MOST_NAME)] | None = None


class SheetStep(_Body):
    """A record and an answer to its pending question; without an answer it is only shown."""

    sheet_id: Text
    input: Text | None = None
    who: Annotated[Claim | None, Field(description="who gives the answer, for the record")] = None
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
STEP: TypeAdapter[ScriptStep | SheetStep] = TypeAdapter(Step)
"""Checks a step."""
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


# -- responses


_Responses = dict[int | str, dict[str, Any]]
_TEXT = {"type": "string"}
_NO_TEXT = {"type": ["string", "null"]}
_NUMBER = {"type": ["number", "null"]}
_VERSION = {"type": "integer", "const": 1}
_DECISION = {"type": "object", "description": "as `quizlog decisions --json` gives it"}


def _object(**properties: Any) -> dict[str, Any]:
    whole = {"schema_version": _VERSION} | properties
    return {"type": "object", "properties": whole, "required": list(whole)}


def _json(schema: dict[str, Any], about: str) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


_ERROR = _object(
    error={
        "type": "object",
        "properties": {
            "message": _TEXT,
            "where": _NO_TEXT,
            "hint": _NO_TEXT,
            "exit_code": {"type": "integer"},
        },
    }
)
_REPLY_OR_NONE = {"oneOf": [REPLY_SCHEMA, {"type": "null"}]}
_DECIDED = _object(decision=_DECISION, agreed={"type": "boolean"}, reply=_REPLY_OR_NONE)
FAULTS: _Responses = {
    code: _json(_ERROR, about)
    for code, about in {
        400: "the request cannot be read",
        401: "the token is missing or wrong",
        403: "the request comes from another site's page, or names another host",
        404: "there is no such route, or no such file is served",
        408: f"the request did not arrive within {READ_SECONDS:g} seconds",
        409: "the record's state forbids it, or somebody else holds or changed it",
        413: f"the body is larger than {MAX_BODY // 2**20} MB",
        415: "the body is not JSON",
        422: "a field of the body, a record or a script is invalid",
        503: "no models are configured, the server is ending, or it lacks memory or the like",
        504: "the script went over a limit",
        507: "the server's disk is full; nothing was written",
    }.items()
}
REPLY: _Responses = {200: _json(REPLY_SCHEMA, "the state of the questionnaire")}
HEALTH: _Responses = {
    200: _json(
        _object(
            status=_TEXT,
            version=_TEXT,
            sessions={"type": "integer"},
            processes={"type": "integer"},
        ),
        "the server answers",
    )
}
DECIDED: _Responses = {
    200: {
        "description": "the decision; with `Accept: text/event-stream`, also the progress",
        "content": {
            "application/json": {"schema": _DECIDED},
            "text/event-stream": {"schema": _TEXT},
        },
    }
}
DECISION: _Responses = {200: _json(_object(decision=_DECISION), "the decision")}
DECISIONS: _Responses = {
    200: _json(
        _object(
            decisions={"type": "array", "items": _DECISION},
            faults={"type": "array", "items": _TEXT},
        ),
        "all decisions, oldest first, and the lines that could not be read",
    )
}
_TRIGGER = {name: {"type": "string", "maxLength": 4096} for name in ("email", "secret", "url")}
TRIGGER: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "object", "properties": _TRIGGER, "required": list(_TRIGGER)}
            }
        },
    }
}
"""The JSON body of a trigger, regardless of its Content-Type. Unknown fields are ignored."""
STARTED: _Responses = {
    200: _json(
        {"type": "object", "properties": {"status": {"const": "accepted"}, "task_id": _TEXT}},
        "the new task, or the open one for the same page and person",
    ),
    **{
        code: _json(_ERROR, about)
        for code, about in {
            400: "the body is not JSON, or a field is missing or invalid",
            403: "the secret is wrong",
            408: "the body did not arrive in time",
            413: "the body is too large",
            429: "too many tasks are waiting, or too many wrong secrets were sent; see Retry-After",
        }.items()
    },
}

"""The JSON that a model must reply with, and the parser that finds it in the reply's text.

Models wrap JSON and code in fences and add other text. The result is always a checked object, or
one line that says what is wrong and can be sent back to the model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from ..syntax import UNREADABLE, parse
from .decision_text import answer_fault, strict_loads

_MAX_ANSWER = 1_000_000
"""Maximum length of an answer's JSON text; a payload must be under 1 MB."""
_MAX_CODE = 200_000
"""Maximum length of a model's code."""
_MAX_SHORT = 20_000
"""Maximum length of an explanation."""
MAX_FETCHES = 8
"""Maximum number of HTTP requests that one reply may ask for."""
_TRIES = 64
"""Maximum number of braces that are tried as the start of an object."""


class BadReplyError(ValueError):
    """A reply does not follow its contract; the text says why, in one line."""


def _answer(value: Any) -> Any:
    fault = answer_fault(value)
    if fault:
        raise ValueError(fault)
    if len(json.dumps(value)) > _MAX_ANSWER:
        raise ValueError("is too long")
    return value


def _share(value: Any) -> Any:
    """A confidence from 0 to 1, converted from a percentage if necessary."""
    if isinstance(value, str):
        percent = value.strip().endswith("%")
        value = float(value.strip().rstrip("%")) / (100 if percent else 1)
    if isinstance(value, bool):
        raise ValueError("must be a number")
    is_percent = isinstance(value, (int, float)) and 1 < value <= 100
    return value / 100 if is_percent else value


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _or_none(value: Any) -> Any:
    """Headers; null, which some models write, means none."""
    return {} if value is None else value


_FENCED = re.compile(
    r"(?<![`~])(?P<fence>`{3,}+|~{3,}+)[ \t]*+\{?\.?(?P<language>[\w.+#-]{0,30})[^\n`]{0,99}\n"
    r"(?P<body>.*?)(?:(?P=fence)[`~]{0,9}[ \t\r]*+$|\Z)",
    re.M | re.S,
)
"""A block of code in Markdown; the last one may lack its end."""
_WHOLE = re.compile(r"(?P<fence>`{3,}+|~{3,}+)[^\n]*\n(?P<body>.*?)(?:(?P=fence)[`~]{0,9})?", re.S)
"""A single block, which may hold fences itself."""
_IN_LINE = re.compile(r"(`{1,3}|~{3})(?:(?:python3?|py)\s)?([^\n]*)\1", re.I)
_PYTHON = re.compile(r"(?:i?python|py)[\d.]*|tool_code", re.I)
"""Languages that models name for Python."""


def unwrapped(code: str) -> str:
    """Code without what models put around it: fences, words beside them, a common indentation.

    Code that is Python as it stands is not changed, nor is code that is not Python in any way.
    """
    fenced = _WHOLE.fullmatch(code.strip())
    otherwise = dedent(fenced["body"]) if fenced else code  # perhaps Python of another version
    return next(filter(_is_python, (code, *_readings(code), otherwise)), otherwise)


def _readings(code: str) -> Iterator[str]:
    """What the code may be meant to be, the likeliest first."""
    yield from _shifted(code)
    blocks = [(m["language"], dedent(m["body"])) for m in _FENCED.finditer(code)]
    python = [body for language, body in blocks if _PYTHON.fullmatch(language)]
    unnamed = [body for language, body in blocks if _PYTHON.fullmatch(language or "python")]
    for bodies in (python, unnamed, *([body] for _, body in reversed(blocks))):
        if bodies:
            yield from _shifted("\n".join(bodies))
    if in_line := _IN_LINE.fullmatch(code.strip()):
        yield in_line[2].strip()


def _shifted(code: str) -> Iterator[str]:
    """The code without a common indentation, which its first line or texts in it may lack."""
    yield dedent(code)
    first, _, rest = code.partition("\n")
    yield f"{first.strip()}\n{dedent(rest)}"
    yield f"if True:\n{code}"


def _is_python(code: str) -> bool:
    try:
        parse(code)
    except UNREADABLE:
        return False
    return True


Answer = Annotated[Any, AfterValidator(_answer)]
_Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
_Code = Annotated[str, Field(max_length=_MAX_CODE), AfterValidator(unwrapped)]
_Short = Annotated[str, Field(max_length=_MAX_SHORT)]
_Share = Annotated[float, BeforeValidator(_share), Field(ge=0, le=1, allow_inf_nan=False)]


class Solution(BaseModel):
    """A model's first reply."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    code: _Code | None = None
    """Python that leaves its answer in the variable `answer`; null if none is needed."""
    answer: Answer = None
    """The answer, if known."""
    explanation: _Short | None = None
    language: Literal["python", "Python", "py", "python3"] | None = "python"

    @model_validator(mode="after")
    def _says_something(self) -> Solution:
        if self._is_empty():
            raise ValueError("give `code`, `answer`, or both")
        return self

    def _is_empty(self) -> bool:
        return self.answer is None and not (self.code and self.code.strip())


class FetchRequest(BaseModel):
    """An HTTP request that a model asks for."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    method: Annotated[_Method, BeforeValidator(_upper)] = "GET"
    url: Annotated[str, Field(min_length=1, max_length=2_000)]
    """Absolute, or relative to the question's page."""
    headers: Annotated[dict[str, str], BeforeValidator(_or_none), Field(max_length=20)] = {}
    body: Answer = None
    """A text, which is sent unchanged, or another JSON value, which is sent as JSON."""


class Research(Solution):
    """A model's first reply if it may ask for HTTP requests before it answers."""

    fetch: Annotated[tuple[FetchRequest, ...], Field(max_length=MAX_FETCHES)] = ()

    @model_validator(mode="before")
    @classmethod
    def _no_fetch(cls, data: Any) -> Any:
        is_null = isinstance(data, dict) and data.get("fetch", ()) is None
        return data | {"fetch": ()} if is_null else data

    def _is_empty(self) -> bool:
        return not self.fetch and super()._is_empty()


class Final(BaseModel):
    """A model's reply after it has seen all candidates."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    final_answer: Answer
    confidence: _Share | None = None
    explanation: _Short | None = None
    corrected_code: _Code | None = None


C = TypeVar("C", Solution, Final)


def parse_reply(text: str, contract: type[C], clean: Callable[[Any], Any]) -> C:
    """The checked object in a reply; `clean` removes keys from a value.

    Raises:
        BadReplyError: The reply contains no object that follows the contract.
    """
    found = None
    for data in _objects(text):
        if contract.model_fields.keys() & data.keys():
            found = data  # the last one: drafts come before the answer
    if found is None:
        names = ", ".join(contract.model_fields)
        raise BadReplyError(f"no JSON object with the keys {names}")
    try:
        return contract.model_validate(clean(found))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise BadReplyError(f"{place}: {said}" if place else said) from None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text: the whole text, or else those starting at its braces."""
    try:
        data = strict_loads(text)
    except ValueError:
        yield from _scattered(text)
        return
    if isinstance(data, dict):
        yield data


def _scattered(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(parse_constant=_refuse)
    end = 0
    for _, brace in zip(range(_TRIES), re.finditer(r"\{", text), strict=False):
        if brace.start() < end:
            continue
        try:
            data, end = decoder.raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        yield data


def _refuse(name: str) -> Any:
    raise ValueError(name)

"""The models one asks: what `models.yaml` says of them. No model's name stands in code.

Keys are never in the file: it names the environment variable that holds one.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    model_validator,
)

from ...errors import ConfigError
from ...files.paths import user_folder
from ...record.text.yaml_text import parse
from .env_file import PRIMARY
from .transport import MAX_WEIGHT, NAME, Voter

MODEL_SECONDS = Voter.seconds
"""How long a model may take, repair included; 10 (spec 2.2.4) is short for those that reason."""
HUMAN_SECONDS = 600.0
"""How long a person may take."""
MAX_MODELS = 32
"""More are refused."""
MAX_FILE = 1_000_000
"""Bytes of a file of models."""


def _endpoint(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must start with http:// or https://")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must hold no key, user or query: name the key's variable in api_key_env")
    return url.rstrip("/")


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or re.match(r"(?i)sk-", name):
        raise ValueError("must be the name of an environment variable, not a key")
    return name


Name = Annotated[str, Field(pattern=f"^{NAME}$")]
Word = Annotated[str, Field(min_length=1, max_length=4096)]


class ModelSettings(BaseModel):
    """One voter: an endpoint, a local program, or a person."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    """Its name in decisions; unique."""
    base_url: Annotated[Word, AfterValidator(_endpoint)] | None = None
    """An OpenAI-compatible endpoint, up to `/v1`."""
    model: Word | None = None
    """The model's name there."""
    api_key_env: Annotated[str, AfterValidator(_variable)] | None = None
    """The environment variable that holds the key."""
    json_mode: Literal["schema", "object", "prompt"] = "object"
    """How JSON is asked for: by its schema, as any object, or in words only."""
    max_output_tokens: Annotated[int, Field(gt=0)] | None = None
    command: Annotated[tuple[Word, ...], Field(min_length=1)] | None = None
    """A local program: the prompt on its stdin, JSON on its stdout."""
    human: StrictBool = False
    """Whether a person answers."""
    family: Name | None = None
    """The provider family it belongs to."""
    weight: Annotated[float, Field(ge=0, le=MAX_WEIGHT, allow_inf_nan=False)] = 1.0
    primary: StrictBool = False
    """Whether its answer counts where no other rule decides."""
    timeout: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] | None = None
    """Seconds it may take, repair included."""

    @property
    def voter(self) -> Voter:
        """Who is asked."""
        seconds = self.timeout or (HUMAN_SECONDS if self.human else MODEL_SECONDS)
        return Voter(self.name, self.family, self.weight, self.primary, seconds)

    @model_validator(mode="after")
    def _one_kind(self) -> ModelSettings:
        kinds = [self.base_url is not None, self.command is not None, self.human]
        if sum(kinds) != 1:
            raise ValueError("give exactly one of base_url, command, human")
        if self.base_url and not self.model:
            raise ValueError("the key 'model' is missing: the model's name at base_url")
        return self


class Models(BaseModel):
    """All voters, and what concerns them together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: Annotated[tuple[ModelSettings, ...], Field(min_length=1, max_length=MAX_MODELS)]
    family_cap: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """The most weight one provider family has in a class."""

    def with_primary(self, name: str) -> Models:
        """The same with another primary model (spec 2.2.4, `PRIMARY_MODEL`); as it is for "".

        Raises:
            ConfigError: There is none of this name.
        """
        if not name:
            return self
        if name not in {one for model in self.models for one in (model.name, model.model)}:
            known = ", ".join(model.name for model in self.models)
            raise ConfigError(f"no model {name!r}", where=PRIMARY, hint=f"one of {known}")
        chosen = next(m.name for m in self.models if name in (m.name, m.model))
        models = tuple(
            model.model_copy(update={"primary": model.name == chosen}) for model in self.models
        )
        return self.model_copy(update={"models": models})

    @model_validator(mode="after")
    def _distinct(self) -> Models:
        names = [model.name for model in self.models]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise ValueError(f"two models are named {twice!r}")
        if sum(model.primary for model in self.models) > 1:
            raise ValueError("more than one model is primary: keep one")
        return self


def default_models() -> Path:
    """Where a user's models are configured."""
    return user_folder("config") / "models.yaml"


def read_models(path: Path) -> Models:
    """The models of a file.

    Raises:
        ConfigError: It cannot be read or says something else; with the line and the mend.
    """
    data, lines = parse(_text(path), str(path))
    try:
        return Models.model_validate(data)
    except ValidationError as error:
        raise _complaint(error, lines, path) from None


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_FILE:
            raise ConfigError("is too big for a file of models", where=str(path))
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError("there is no file of models", where=str(path), hint=EXAMPLE) from None
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "not UTF-8 text"
        raise ConfigError(f"cannot read: {said}", where=str(path)) from None


EXAMPLE = "see `quizlog models --help` for one"


def _complaint(error: ValidationError, lines: dict[str, int], path: Path) -> ConfigError:
    """The first fault as one line: file and line, key, what is wrong, the nearest valid key."""
    first: Any = error.errors(include_url=False, include_input=False)[0]
    place = ""
    for part in first["loc"]:
        step = f"[{part}]" if isinstance(part, int) else f"{'.' if place else ''}{part}"
        place = place + step if isinstance(part, int) or f"{place}{step}" in lines else place
    line = lines.get(place)
    where = f"{path}:{line}" if line else str(path)
    return ConfigError(_said(first), where=where, hint=_hint(first))


_PLAIN = {
    "tuple_type command": "must be a list of words, as [./solve.sh, --fast]",
    "tuple_type models": "must be a list of models, each with a name",
    "too_short command": "must be a list of at least one word",
    "too_short models": "must be a list of at least one model",
    "model_type": "must be a mapping with the key 'models'",
    "model_type models": "must be a mapping with the key 'name'",
    "missing": "is missing",
    "string_type": "must be a text",
    "string_pattern_mismatch": "must be a name of letters, digits, '.', '_' and '-'",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false",
}
"""What a kind of fault means in plain words, at a key or anywhere."""


def _said(first: Any) -> str:
    names = ".".join(str(part) for part in first["loc"] if part != "function-after")
    if first["type"] == "extra_forbidden":
        return f"unknown key {first['loc'][-1]!r}"
    kind = str(first["type"])
    place = next((part for part in reversed(first["loc"]) if isinstance(part, str)), "")
    said = str(first["msg"]).removeprefix("Value error, ")
    said = _PLAIN.get(f"{kind} {place}") or _PLAIN.get(kind) or said.replace("Input should", "must")
    return f"{names}: {said}" if names else said


def _hint(first: Any) -> str | None:
    if first["type"] != "extra_forbidden":
        return EXAMPLE if first["loc"] in ((), ("models",)) else None
    known = Models if len(first["loc"]) == 1 else ModelSettings
    near = get_close_matches(str(first["loc"][-1]), known.model_fields, 1)
    return f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known.model_fields)}"

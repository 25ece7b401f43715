"""The models that can be asked, as configured in `models.yaml`. No model's name is in the code.

The file contains no keys: it names the environment variables that hold them. A models file in the
settings folder is the user's own. Another one may be a stranger's, and so may a program that it
names relative to itself: that is started only if the user has allowed it, at this place and with
these bytes, for this file. What is allowed is stored as TOML in the settings folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
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

from ...config import config_folder
from ...errors import ConfigError, did_you_mean
from ...files.durable import write_own_text
from ...files.paths import user_folder
from ...files.regular_file import hex_digest, read_regular
from ...record.yaml_text import parse
from ...text import one_line
from .env_file import PRIMARY
from .transport import MAX_WEIGHT, NAME, Voter

MODEL_SECONDS = Voter.seconds
"""Seconds that a model may take, repair included; 10 would be too few for models that reason."""
HUMAN_SECONDS = 600.0
"""Seconds that a person may take."""
_MAX_MODELS = 32
"""Maximum number of models."""
_MAX_FILE = 2**20
"""Maximum size of a models file in bytes."""


def _endpoint(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must start with http:// or https://")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must not hold a key, user or query: name the variable in api_key_env")
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
    """The model's name at the endpoint."""
    api_key_env: Annotated[str, AfterValidator(_variable)] | None = None
    """The environment variable that holds the key."""
    json_mode: Literal["schema", "object", "prompt"] = "object"
    """How JSON is requested: by its schema, as any object, or in words only."""
    max_output_tokens: Annotated[int, Field(gt=0)] | None = None
    command: Annotated[tuple[Word, ...], Field(min_length=1)] | None = None
    """A local program that gets the prompt on stdin and writes JSON to stdout."""
    human: StrictBool = False
    """Whether a person answers."""
    family: Name | None = None
    """The provider family it belongs to."""
    weight: Annotated[float, Field(ge=0, le=MAX_WEIGHT, allow_inf_nan=False)] = 1.0
    primary: StrictBool = False
    """Whether its answer counts if no other rule decides."""
    timeout: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] | None = None
    """Seconds it may take, repair included."""

    @property
    def voter(self) -> Voter:
        """The voter that these settings describe."""
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
    """All voters, and the settings they share."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: Annotated[tuple[ModelSettings, ...], Field(min_length=1, max_length=_MAX_MODELS)]
    family_cap: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Maximum weight of one provider family in a class."""

    def with_primary(self, name: str) -> Models:
        """The same models with another primary one; unchanged if `name` is empty.

        Raises:
            ConfigError: There is no model with this name.
        """
        if not name:
            return self
        if name not in {each for model in self.models for each in (model.name, model.model)}:
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
    """The path of the user's models file, which need not exist."""
    return user_folder("config") / "models.yaml"


def read_models(path: Path) -> Models:
    """Read a models file. A program that it names relative to its folder gets its full path.

    Raises:
        ConfigError: It cannot be read or is invalid; the error names the line and the fix.
    """
    found = _as_written(path)
    models = tuple(_with_full_path(model, path) for model in found.models)
    return found.model_copy(update={"models": models})


def programs_beside(path: Path) -> list[Path]:
    """The full paths of the programs that a models file names relative to its folder.

    Raises:
        ConfigError: It cannot be read or is invalid.
    """
    found = (_beside(model, path) for model in _as_written(path).models)
    return list(dict.fromkeys(filter(None, found)))


def _with_full_path(model: ModelSettings, path: Path) -> ModelSettings:
    program = _beside(model, path)
    if program is None or model.command is None:
        return model
    return model.model_copy(update={"command": (str(program), *model.command[1:])})


def _beside(model: ModelSettings, path: Path) -> Path | None:
    """The full path of a model's program if it is named relative to the models file's folder."""
    name = model.command[0] if model.command else ""
    is_relative = os.sep in name and not os.path.isabs(name)
    return path.absolute().parent / name if is_relative else None


def _as_written(path: Path) -> Models:
    data, lines = parse(_text(path), str(path))
    try:
        return Models.model_validate(data)
    except ValidationError as error:
        raise _first_error(error, lines, path) from None


def _text(path: Path) -> str:
    try:
        return read_regular(path, _MAX_FILE).decode()
    except FileNotFoundError:
        raise ConfigError("there is no models file", where=str(path), hint=_EXAMPLE) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise ConfigError(f"cannot read: {reason}", where=str(path)) from None


_EXAMPLE = "see `quizlog models --help` for one"


def _first_error(error: ValidationError, lines: dict[str, int], path: Path) -> ConfigError:
    """The first fault in one line: file and line, key, what is wrong, the nearest valid key."""
    first: Any = error.errors(include_url=False, include_input=False)[0]
    place = ""
    for part in first["loc"]:
        step = f"[{part}]" if isinstance(part, int) else f"{'.' if place else ''}{part}"
        place = place + step if isinstance(part, int) or f"{place}{step}" in lines else place
    line = lines.get(place)
    where = f"{path}:{line}" if line else str(path)
    return ConfigError(_message(first), where=where, hint=_hint(first))


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
"""Plain words for a type of fault, at a certain key or anywhere."""


def _message(first: Any) -> str:
    names = ".".join(str(part) for part in first["loc"] if part != "function-after")
    if first["type"] == "extra_forbidden":
        return f"unknown key {first['loc'][-1]!r}"
    kind = str(first["type"])
    place = next((part for part in reversed(first["loc"]) if isinstance(part, str)), "")
    words = str(first["msg"]).removeprefix("Value error, ").replace("Input should", "must")
    words = _PLAIN.get(f"{kind} {place}") or _PLAIN.get(kind) or words
    return f"{names}: {words}" if names else words


def _hint(first: Any) -> str | None:
    if first["type"] != "extra_forbidden":
        return _EXAMPLE if first["loc"] in ((), ("models",)) else None
    if first["loc"][-1] == "plugin":  # of packages that were voters once
        return "a voter of your own is a program: name it by `command`"
    known = Models if len(first["loc"]) == 1 else ModelSettings
    near = did_you_mean(str(first["loc"][-1]), known.model_fields)
    return near or f"there are: {', '.join(known.model_fields)}"


_MOST_BYTES = 100_000_000
"""The size of the biggest program that can be allowed."""
_LINE = re.compile(r'^"(sha256:[0-9a-f]{64})"', re.M)
_HEAD = (
    "# Programs beside models files that quizlog may start, by a digest of both.\n"
    "# Delete a line to take it back.\n"
)


def allowed_programs_path() -> Path:
    """The path of the file, which may not exist."""
    return config_folder() / "programs.toml"


def programs_to_allow(models: Path) -> list[Path]:
    """The programs that a models file names relative to itself and the user has not allowed.

    Raises:
        ConfigError: The models file or a program cannot be read.
    """
    if os.path.realpath(models.absolute().parent) == os.path.realpath(config_folder()):
        return []
    allowed = _allowed()
    return [each for each in programs_beside(models) if _digest(models, each) not in allowed]


def allow_program(models: Path, program: Path) -> None:
    """Allow a program that a models file names, by its full path, from now on.

    Raises:
        ConfigError: It cannot be read, or the file of what is allowed cannot be written.
    """
    about = re.sub(r'["\\]', "?", one_line(f"{program}, for {models.absolute()}"))
    path = allowed_programs_path()
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else _HEAD
        write_own_text(path, f'{before}"{_digest(models, program)}" = "{about}"\n')
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "is not UTF-8 text"
        raise ConfigError(f"cannot store what is allowed: {said}", where=str(path)) from None


def check_allowed(models: Path) -> None:
    """Refuse a models file with programs that the user has not allowed.

    Raises:
        ConfigError: There is one; the message names it.
    """
    for program in programs_to_allow(models):
        raise refused(models, program)


def refused(models: Path, program: Path) -> ConfigError:
    """The error that a program is not allowed, with what to do."""
    asking = f"quizlog models check --models {shlex.quote(str(models))}"
    hint = f"run `{asking}` at a terminal, which asks you; or write its full path there"
    said = f"names the program {program}, which you have not allowed as both are now"
    return ConfigError(said, where=str(models), hint=hint)


def _allowed() -> set[str]:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return set(_LINE.findall(allowed_programs_path().read_text(encoding="utf-8")))
    return set()


def _digest(models: Path, program: Path) -> str:
    """What identifies both files: their places and their bytes."""
    parts = [
        part for path in (models, program) for part in (os.path.realpath(path), _bytes_of(path))
    ]
    return f"sha256:{hex_digest(repr(parts).encode())}"


def _bytes_of(path: Path) -> str:
    try:
        return hex_digest(read_regular(path, _MOST_BYTES))
    except OSError as error:
        raise ConfigError(f"cannot read: {error.strerror}", where=str(path)) from None

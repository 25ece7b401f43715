"""The user's settings: one TOML file in the platform's configuration folder.

Every setting is a field of `Config` with its default, its meaning and its check; no other module
knows the keys of the file. The file is only read, except that `init_config` writes a first one.

The author of notes and verdicts is the one in the settings, or the one given when asked. The login
name is not used: notes travel with records, and it identifies a person and a machine.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from .errors import ConfigError, RecordError, UsageError, did_you_mean
from .files.durable import FileKind, asked_before, write_bytes
from .files.paths import user_folder


class ConfigProblem(NamedTuple):
    """One fault in the settings file."""

    where: str
    """File and key."""
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return ": ".join(self.finding)

    @property
    def finding(self) -> tuple[str, str]:
        """Its place, and what is wrong with what to do."""
        return self.where, self.message + (f" ({self.hint})" if self.hint else "")


def _setting(default: Any, about: str, check: Callable[[Any], str] = lambda value: "") -> Any:
    return field(default=default, metadata={"about": about, "check": check})


def _between(least: float, most: float) -> Callable[[Any], str]:
    return lambda value: "" if least <= value <= most else f"must be from {least:g} to {most:,}"


@dataclass(frozen=True)
class Config:
    """All settings. A field is named like its key, or `section_key` for a key in a section."""

    theme: str = _setting("", "theme of the screens; empty: the one chosen last")
    author: str = _setting("", "name on notes and verdicts; empty: asked once")
    mouse: bool = _setting(True, "take the mouse; false leaves it to the terminal")
    confirm_branches: bool = _setting(
        True, "ask on the screen before an answer at an earlier step starts a branch"
    )
    audit: bool = _setting(False, "open the screens read-only, as `quizlog tui --read-only` does")
    limits_seconds: float = _setting(
        30.0, "longest a script may take from an answer to the next question", _between(0.1, 10**6)
    )
    limits_output_mb: int = _setting(10, "most it may write in that time", _between(1, 10**5))
    limits_memory_mb: int = _setting(2048, "most memory it may use", _between(16, 10**7))
    limits_processes: int = _setting(256, "most processes it may start", _between(1, 10**5))
    cache_checkpoints: int = _setting(64, "most frozen copies kept to go back", _between(0, 10**5))
    cache_memory_mb: int = _setting(512, "most memory of all copies", _between(1, 10**7))
    agents_hold_seconds: float = _setting(
        600.0, "longest a program waits for a record that a person holds", _between(0.1, 10**6)
    )
    keys: Mapping[str, str] = field(
        default_factory=dict, metadata={"about": "other keys: action = 'key,key'"}
    )
    commands: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict,
        metadata={
            "about": "own shell lines on keys: a table for each; they may read $QUIZLOG_RECORD, "
            "$QUIZLOG_BRANCH, $QUIZLOG_STEP, $QUIZLOG_ANSWER and $QUIZLOG_QUESTION"
        },
    )


_SECTIONS = ("limits", "cache", "agents")
"""The TOML tables whose keys are settings."""
EXAMPLES = {
    "keys": '"player.fork" = "f"',
    "commands": "file = {key = 'ctrl+g', run = 'cat -n -- \"$QUIZLOG_RECORD\"', output = 'pager'}",
}
"""The TOML tables whose keys the user names, each with an example of an entry."""


def config_folder() -> Path:
    """The folder of the settings file, the themes and the models file."""
    return user_folder("config")


def config_path() -> Path:
    """The path of the settings file, which need not exist."""
    return config_folder() / "config.toml"


def load_config(path: Path | None = None) -> tuple[Config, list[ConfigProblem]]:
    """The settings and the faults in the file; a faulty setting keeps its default."""
    path = path or config_path()
    try:
        data = _read(path)
    except ConfigError as error:
        return Config(), [ConfigProblem(error.where or str(path), error.message, error.hint or "")]
    known = {each.name: each for each in fields(Config)}
    values: dict[str, Any] = {}
    problems = []
    for key, dotted, value in _entries(data):
        fault = _wrong(known, key, dotted, value)
        if fault is None:
            values[key] = value
        else:
            problems.append(ConfigProblem(f"{path}: {dotted}", *fault))
    return Config(**values), problems


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        hint = "make it readable, or set XDG_CONFIG_HOME to a folder of your own"
        raise ConfigError(f"cannot read: {error.strerror}", where=str(path), hint=hint) from None
    except UnicodeDecodeError:
        raise ConfigError("is not UTF-8 text", where=str(path), hint="save it as UTF-8") from None
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = "`quizlog config init` shows the form"
        raise ConfigError(f"is not TOML: {error}", where=str(path), hint=hint) from None


def _entries(data: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """Field name, dotted key and value of every entry in the file."""
    entries = []
    for key, value in data.items():
        if key in _SECTIONS and isinstance(value, dict):
            entries += [(f"{key}_{name}", f"{key}.{name}", inner) for name, inner in value.items()]
        else:
            entries.append((key, key, value))
    return entries


def _wrong(known: Mapping[str, Any], key: str, dotted: str, value: Any) -> tuple[str, str] | None:
    """What is wrong with a setting and how to fix it; None if nothing is."""
    if key not in known or dotted != _dotted_name(key):
        hint = did_you_mean(dotted, map(_dotted_name, known)) or "remove it"
        return "there is no such setting", hint
    if key in EXAMPLES:
        return _wrong_table(key, value)
    default = known[key].default
    wanted = (int, float) if isinstance(default, float) else type(default)
    if not isinstance(value, wanted) or isinstance(value, bool) != isinstance(default, bool):
        kind = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
        return f"must be {kind[type(default)]}", f"the default is {_toml(default)}"
    fault = known[key].metadata["check"](value)
    return (fault, f"the default is {_toml(default)}") if fault else None


def _wrong_table(key: str, value: Any) -> tuple[str, str] | None:
    hint = f"[{key}] and {EXAMPLES[key]}"
    if key == "keys":
        return None if _holds_texts(value) else ("must be a table of texts", hint)
    if not isinstance(value, dict):
        return "must be a table of tables", hint
    wrong = [name for name, entries in value.items() if not _holds_texts(entries)]
    return (f"{wrong[0]!r} must be a table of texts", hint) if wrong else None


def _holds_texts(value: Any) -> bool:
    """Whether a value is a table of nothing but texts."""
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _dotted_name(name: str) -> str:
    """The key in the file for a field of `Config`."""
    section, _, rest = name.partition("_")
    return f"{section}.{rest}" if section in _SECTIONS else name


def _toml(value: Any) -> str:
    """A setting's value as TOML writes it."""
    import json

    return json.dumps(value, ensure_ascii=False)


def settings(config: Config) -> dict[str, tuple[Any, str]]:
    """Each setting's value and meaning, by its key in the file."""
    return {
        _dotted_name(one.name): (getattr(config, one.name), one.metadata["about"])
        for one in fields(Config)
    }


def template() -> str:
    """A configuration file with every setting at its default, commented out."""
    lines = ["# quizlog's settings; `quizlog config check` tells what is wrong.", ""]
    section = ""
    for name, (value, about) in settings(Config()).items():
        head, _, key = name.rpartition(".")
        if name in EXAMPLES:
            lines += ["", f"[{name}]", f"# {about}", f"# {EXAMPLES[name]}"]
            continue
        if head != section:
            section = head
            lines += ["", f"[{head}]"]
        lines += [f"# {about}", f"# {key} = {_toml(value)}"]
    return "\n".join(lines) + "\n"


def init_config() -> Path:
    """Write a settings file for the user to edit; return its path.

    Raises:
        UsageError: A settings file exists already, or it cannot be written.
    """
    path = config_path()
    if os.path.exists(path):
        raise UsageError("there is a configuration already", where=str(path), hint="edit it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(template(), encoding="utf-8")
    except OSError as error:
        hint = "set XDG_CONFIG_HOME to a folder that you can write"
        raise UsageError(f"cannot write: {error.strerror}", where=str(path), hint=hint) from None
    return path


NEUTRAL = "anonymous"
"""The author's name if none was given."""
_MAX_NAME = 100
"""Maximum number of characters of a name."""
AUTHOR = FileKind("the author's name", asked_before, beside=True, makes_folder=True)
QUESTION = f"Your name on notes and verdicts? (asked once; empty: {NEUTRAL})"


def known_author(config: Config) -> str | None:
    """The name in the settings or given when asked; None if the user was not asked yet."""
    try:
        saved = _answer_path().read_text(encoding="utf-8")[:_MAX_NAME].strip()
    except (OSError, ValueError):
        saved = ""
    return config.author or saved or None


def keep_author(answer: str) -> str:
    """Save the name that the user answered; return it, or the neutral name if it is empty."""
    name = answer[:_MAX_NAME].strip() or NEUTRAL
    path = _answer_path()
    with contextlib.suppress(RecordError):  # a read-only home: the user is asked again next time
        write_bytes(path, f"{name}\n".encode(errors="replace"), AUTHOR)
    return name


def _answer_path() -> Path:
    return user_folder("state") / "author"

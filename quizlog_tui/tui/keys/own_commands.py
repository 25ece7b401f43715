"""The user's own shell lines on keys: read from the settings, checked. No Textual."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from ...config import ConfigProblem
from ...errors import did_you_mean
from ...text import one_line
from .actions import ACTIONS, Action
from .keymap import WIDGETS, effective, is_key, named

VALUES = ("record", "branch", "step", "answer", "question")
"""What a shell line may read, each from an environment variable; see `variable`."""
_OUTPUTS = ("pane", "pager", "none")
"""Where the output may go; the first is the default."""
_SCOPES = ("player", "library")
"""The screens on which own commands work."""
_PLACEHOLDER = re.compile(rf"(?<!\$)\{{({'|'.join(VALUES)})\}}")
"""A value's name in braces, which is never replaced; `${NAME}` is a variable of the shell."""
_READ = re.compile(rf"\bQUIZLOG_({'|'.join(VALUES).upper()})\b")
_CODE = {
    "eval": re.compile(r"\beval\b(.*)", re.S),
    "$((": re.compile(r"\(\((.*?)\)\)", re.S),
    "sh -c": re.compile(r"\b(?:ba|da|fi|k|z)?sh\s+(?:-\w+\s+)*-\w*c\b(.*)", re.S),
    "ssh": re.compile(r"\bssh\b(.*)", re.S),
    "let": re.compile(r"\blet\b(.*)", re.S),
    "[[": re.compile(r"\[\[(.*?)\]\]", re.S),
    "a pair of backticks": re.compile(r"`([^`]*)`"),
}
"""Where a shell line has a text read as code, with that text."""


@dataclass(frozen=True)
class OwnCommand:
    """A shell line of the user's, and the key that runs it."""

    name: str
    """Its name in the palette and in the help."""
    key: str
    """Keys as people write them, comma separated."""
    run: str
    """The shell line, as the shell gets it."""
    output: str = _OUTPUTS[0]

    @property
    def values(self) -> set[str]:
        """The values that the line reads by itself; a program that it starts may read others."""
        return {name.lower() for name in _READ.findall(self.run)}

    @property
    def action(self) -> Action:
        """The command as bindings, palette and help take it."""
        keys = ",".join(map(named, self.key.split(",")))
        call = f"screen.own_command({self.name!r})"
        label, line = one_line(self.name), one_line(self.run)
        return Action(f"commands.{self.name}", keys, call, label, line, writes="record")


def read_own_commands(
    commands: Mapping[str, Mapping[str, str]], keys: Mapping[str, str], where: str
) -> tuple[list[OwnCommand], list[ConfigProblem]]:
    """The commands that can be used, and what is wrong with others; `keys` is the user's map."""
    usable: list[OwnCommand] = []
    problems = []
    taken = _taken_keys(keys)
    for name, entries in commands.items():
        faults = [*_wrong_entries(entries), *_wrong_keys(entries.get("key", ""), taken)]
        faults += _placeholders(entries.get("run", ""))
        if faults:
            problems += [ConfigProblem(f"{where}: commands.{name}", *fault) for fault in faults]
            continue
        command = OwnCommand(name, **entries)
        usable.append(command)
        taken |= {key: f"commands.{name}" for key in effective(command.action, {})}
    return usable, problems


def own_actions(commands: Mapping[str, OwnCommand], scope: str) -> list[Action]:
    """The user's own commands as actions of a screen, by its scope."""
    return [command.action for command in commands.values() if scope in _SCOPES]


def variable(value: str) -> str:
    """The environment variable that holds a value while the line runs."""
    return f"QUIZLOG_{value.upper()}"


def lines_read_twice(
    commands: Mapping[str, Mapping[str, str]], where: str
) -> Iterator[ConfigProblem]:
    """A problem for each line that may have a value read as code. Such a line runs all the same."""
    for name, entries in commands.items():
        for construct, pattern in _CODE.items():
            if any(map(_READ.search, pattern.findall(entries.get("run", "")))):
                said = f"a value within {construct} may be read as code"
                yield ConfigProblem(f"{where}: commands.{name}", said, "read it outside of that")


def lines_not_understood(
    commands: Mapping[str, Mapping[str, str]], where: str
) -> Iterator[ConfigProblem]:
    """A problem for each line that the shell cannot read, such as one with an open quote."""
    for name, entries in commands.items():
        if complaint := _complaint(entries.get("run", "")):
            said = f"the shell cannot read its line: {complaint}"
            yield ConfigProblem(
                f"{where}: commands.{name}", said, "is a quote or bracket left open?"
            )


def _complaint(line: str) -> str:
    """What the shell says of a line that it cannot read; it runs nothing."""
    shell = subprocess.run(["/bin/sh", "-n"], input=line.encode(), capture_output=True, check=False)
    said = shell.stderr.decode(errors="replace").strip().removeprefix("/bin/sh: ")
    return one_line(said) if shell.returncode else ""


_Fault = tuple[str, str]
"""What is wrong, and how to fix it."""


def _wrong_entries(entries: Mapping[str, str]) -> Iterator[_Fault]:
    known = [each.name for each in fields(OwnCommand) if each.name != "name"]
    for name in entries:
        if name not in known:
            hint = did_you_mean(name, known) or f"there are {', '.join(known)}"
            yield f"there is no setting {name!r} of a command", hint
    for name, example in (("key", '"ctrl+g"'), ("run", "'cat -n -- \"$QUIZLOG_RECORD\"'")):
        if not entries.get(name, "").strip():
            yield f"has no {name}", f"such as {name} = {example}"
    output = entries.get("output", _OUTPUTS[0])
    if output not in _OUTPUTS:
        yield f"output cannot go to {output!r}", f"it goes to {', '.join(_OUTPUTS)}"


def _wrong_keys(keys: str, taken: Mapping[str, str]) -> Iterator[_Fault]:
    for part in keys.split(",") if keys.strip() else ():
        key = named(part)
        if not is_key(key):
            yield f"{part.strip()!r} is no key", "such as 'f,F5,ctrl+x,?'"
        elif key in taken:
            yield f"{part.strip()!r} would do both {taken[key]} and this", "choose another"


def _taken_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """The action that each key runs already where own commands work."""
    scopes = (*_SCOPES, *WIDGETS, "app")
    actions = [action for scope in scopes for action in ACTIONS[scope]]
    return {key: action.id for action in actions for key in effective(action, keys)}


def _placeholders(run: str) -> Iterator[_Fault]:
    """Names in braces, which earlier versions replaced by values."""
    for name in dict.fromkeys(_PLACEHOLDER.findall(run)):
        yield f"{{{name}}} is not replaced by a value", f'write "${variable(name)}"'

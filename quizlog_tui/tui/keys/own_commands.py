"""The user's own shell lines on keys: read from the settings, checked. No Textual."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches

from ...config import ConfigProblem
from ...text import one_line
from .actions import ACTIONS, Action
from .key_names import is_key, named
from .keymap import effective

PLACEHOLDERS = ("record", "branch", "step", "answer", "question")
"""What a shell line may name in braces."""
OUTPUTS = ("pane", "pager", "none")
"""Where the output may go; the first is the default."""
SCOPES = ("player", "library")
"""The screens on which own commands work."""
_WIDGETS = ("pane", "list")
_NAMED = re.compile(r"(?<!\$)\{(\w+)\}")
"""A name in braces; `${NAME}` is a variable of the shell."""


@dataclass(frozen=True)
class OwnCommand:
    """A shell line of the user's, and the key that runs it."""

    name: str
    """Its name in the palette and in the help."""
    key: str
    """Keys as people write them, comma separated."""
    run: str
    """The shell line, with placeholders."""
    output: str = OUTPUTS[0]
    """Where its output goes."""

    @property
    def placeholders(self) -> set[str]:
        """The values that the line needs."""
        return {name for name in _NAMED.findall(self.run) if name in PLACEHOLDERS}

    @property
    def action(self) -> Action:
        """The command as bindings, palette and help take it."""
        keys = ",".join(map(named, self.key.split(",")))
        call = f"screen.own_command({self.name!r})"
        label, line = one_line(self.name), one_line(self.run)
        return Action(f"commands.{self.name}", keys, call, label, line)


def read_own_commands(
    commands: Mapping[str, Mapping[str, str]], keys: Mapping[str, str], where: str
) -> tuple[list[OwnCommand], list[ConfigProblem]]:
    """The commands that can be used, and what is wrong with the others.

    Args:
        commands: The table `commands` of the settings.
        keys: The user's key map, whose keys are taken.
        where: The settings file.
    """
    usable: list[OwnCommand] = []
    problems = []
    taken = _taken_keys(keys)
    for name, entries in commands.items():
        faults = [*_wrong_entries(entries), *_wrong_keys(entries.get("key", ""), taken)]
        faults += _wrong_parts(entries.get("run", ""))
        if faults:
            problems += [ConfigProblem(f"{where}: commands.{name}", *fault) for fault in faults]
            continue
        command = OwnCommand(name, **entries)
        usable.append(command)
        taken |= {key: f"commands.{name}" for key in effective(command.action, {})}
    return usable, problems


def own_actions(app: object, scope: str) -> list[Action]:
    """The user's own commands as actions of a screen, by its scope."""
    commands: Mapping[str, OwnCommand] = getattr(app, "own_commands", {})
    return [command.action for command in commands.values() if scope in SCOPES]


def variable(placeholder: str) -> str:
    """The environment variable that holds a placeholder's value while the line runs."""
    return f"QUIZLOG_{placeholder.upper()}"


def shell_line(run: str) -> str:
    """The line as the shell gets it: each placeholder is a quoted variable, never the text itself.

    The shell does not read the value of a variable as code, so no answer or question can run.
    """

    def quoted(match: re.Match[str]) -> str:
        known = match.group(1) in PLACEHOLDERS
        return f'"${variable(match.group(1))}"' if known else match.group()

    return _NAMED.sub(quoted, run)


Fault = tuple[str, str]
"""What is wrong, and how to fix it."""


def _wrong_entries(entries: Mapping[str, str]) -> Iterator[Fault]:
    known = [each.name for each in fields(OwnCommand) if each.name != "name"]
    for name in entries:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            yield f"there is no setting {name!r} of a command", hint
    for name, example in (("key", "ctrl+g"), ("run", "git log -- {record}")):
        if not entries.get(name, "").strip():
            yield f"has no {name}", f'such as {name} = "{example}"'
    output = entries.get("output", OUTPUTS[0])
    if output not in OUTPUTS:
        yield f"output cannot go to {output!r}", f"it goes to {', '.join(OUTPUTS)}"


def _wrong_keys(keys: str, taken: Mapping[str, str]) -> Iterator[Fault]:
    for part in keys.split(",") if keys.strip() else ():
        key = named(part)
        if not is_key(key):
            yield f"{part.strip()!r} is no key", "such as 'f,F5,ctrl+x,?'"
        elif key in taken:
            yield f"{part.strip()!r} would do both {taken[key]} and this", "choose another"


def _taken_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """The action that each key runs already where own commands work."""
    scopes = (*SCOPES, *_WIDGETS, "app")
    actions = [action for scope in scopes for action in ACTIONS[scope]]
    return {key: action.id for action in actions for key in effective(action, keys)}


def _wrong_parts(run: str) -> Iterator[Fault]:
    """What is wrong in a shell line; a quote that is not closed hides the rest."""
    *quotes, end = _quotes(run)
    if end:
        yield f"the quote {end} is not closed", "close it, or write \\ before it"
        return
    for match in _NAMED.finditer(run):
        name, quote = match.group(1), quotes[match.start()]
        if name in PLACEHOLDERS and quote:
            yield f"{{{name}}} stands in quotes", "leave them out; its value is quoted already"
        if name not in PLACEHOLDERS and not quote:
            near = get_close_matches(name, PLACEHOLDERS, n=1, cutoff=0.4)
            known = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
            hint = f"did you mean {{{near[0]}}}?" if near else f"there are {known}"
            yield f"there is no {{{name}}}", hint


def _quotes(run: str) -> Iterator[str]:
    """The quote that each character of a shell line stands in, and the one left open at its end."""
    open_quotes = [""]  # a `$(` begins a line of its own
    passed = False
    for at, sign in enumerate(run):
        quote = open_quotes[-1]
        yield quote
        if passed or (sign == "\\" and quote != "'"):
            passed = not passed
        elif sign == "(" and run[at - 1 : at] == "$" and quote != "'":
            open_quotes.append("")
        elif sign == ")" and not quote and len(open_quotes) > 1:
            open_quotes.pop()
        elif sign in "'\"" and quote in ("", sign):
            open_quotes[-1] = "" if quote else sign
    yield next(filter(None, reversed(open_quotes)), "")

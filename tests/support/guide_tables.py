"""The tables in the guides that are made from the code.

A table stands between `<!-- NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from textwrap import wrap
from typing import Any

from quizlog_tui.cli.commands import EXIT_CODES
from quizlog_tui.cli.help import commands
from quizlog_tui.cli.sandbox import exit_code
from quizlog_tui.config import EXAMPLES, Config, settings
from quizlog_tui.files.paths import shipped
from quizlog_tui.sandbox.result import STATUSES
from quizlog_tui.tui.keys.actions import ACTIONS
from quizlog_tui.tui.keys.keymap import shown_key
from quizlog_tui.webquiz.task.settings import TaskSettings
from tests.bench.rows import HERE, as_guide_text

_TITLES = {"app": "Everywhere", "pane": "In text", "list": "In lists"}


def _table(head: str, rows: list[str]) -> str:
    return "\n".join([head, "|---" * (head.count("|") - 1) + "|", *rows]) + "\n"


def _code(text: str) -> str:
    return text and "`{}`".format(text.replace("|", "\\|"))


def keys() -> str:
    """Every key of every screen, with the shell's way to the same."""
    parts = []
    for scope, actions in ACTIONS.items():
        rows = [
            f"| {' '.join(_code(shown_key(key)) for key in action.keys.split(','))} "
            f"| {action.help} | {_code(action.shell)} |"
            for action in actions
        ]
        title = _TITLES.get(scope, scope.capitalize())
        parts.append(f"\n### {title}\n\n" + _table("| key | does | in a shell |", rows))
    return "".join(parts)


def command_table() -> str:
    """Every command with its group."""
    rows = [
        f"| {each['group']} | {_code('quizlog ' + each['usage'])} | {each['about']} |"
        for each in commands()
    ]
    return _table("| to | command | does |", rows)


def option_table() -> str:
    """Every option of every command, save those that all have."""
    rows = [
        f"| {_code(call)} | {_code(', '.join(option['flags']) + _value(option))} | {option['help']} |"
        for each in commands()
        for call, options in [(each["name"] or "RECORD", each["options"])]
        + [(f"{each['name']} {verb['name']}", verb["options"]) for verb in each["verbs"]]
        for option in options
        if option["flags"][-1] not in ("--help", "--json", "--version")
    ]
    return _table("| command | option | means |", rows)


def _value(option: dict[str, str]) -> str:
    return f" {option['metavar']}" if option["metavar"] else ""


def exit_codes() -> str:
    """Every exit code."""
    return _table("| exit code | means |", [f"| {c} | {says} |" for c, says in EXIT_CODES.items()])


def setting_table() -> str:
    """Every setting with its default."""
    rows = [
        f"| `{name}` | {_code(str(value).lower() if isinstance(value, bool) else str(value))} | {about} |"
        for name, (value, about) in settings(Config()).items()
        if name not in EXAMPLES
    ]
    return _table("| setting | default | means |", rows)


def env_table() -> str:
    """Every setting of tasks, as it is named in `.env`, with its default."""
    rows = [
        f"| `{each.name.upper()}` | {_code(_env_value(each.default))} | {each.metadata['about']} |"
        for each in fields(TaskSettings)
    ]
    return _table("| variable | default | means |", rows)


def _env_value(default: Any) -> str:
    number = isinstance(default, int | float) and not isinstance(default, bool)
    return f"{default:g}" if number else str(default or "") if default is not MISSING else ""


def http_statuses() -> str:
    """Every status of an error that a route may answer with."""
    from quizlog_tui.server.bodies import FAULTS

    return _http_table(FAULTS)


def trigger_statuses() -> str:
    """Every status that a trigger may be answered with."""
    from quizlog_tui.server.bodies import STARTED

    return _http_table(STARTED)


def _http_table(responses: Mapping[int | str, Mapping[str, Any]]) -> str:
    rows = [f"| {status} | {each['description']} |" for status, each in responses.items()]
    return _table("| status | means |", rows)


def sandbox_statuses() -> str:
    """Every status of a run in the sandbox, with the exit code of `quizlog sandbox run`."""
    rows = [f"| `{name}` | {exit_code(name)} | {says} |" for name, says in STATUSES.items()]
    return _table("| status | exit code | means |", rows)


def themes() -> str:
    """The shipped themes."""
    names = ", ".join(f"`{path.stem}`" for path in sorted(shipped("themes").glob("*.yaml")))
    return "\n".join(wrap(names + ".", 98, break_on_hyphens=False)) + "\n"


def measured_figures() -> str:
    """The last results of `tests/bench/run`."""
    return as_guide_text(HERE / "results.json")


TABLES: dict[str, Callable[[], str]] = {
    "keys": keys,
    "commands": command_table,
    "options": option_table,
    "exit codes": exit_codes,
    "settings": setting_table,
    "themes": themes,
    "env": env_table,
    "http statuses": http_statuses,
    "trigger statuses": trigger_statuses,
    "sandbox statuses": sandbox_statuses,
    "measured figures": measured_figures,
}

MARKED = re.compile(
    r"<!-- (?!end of)(?P<name>[a-z ]+) -->\n(?P<table>.*?)<!-- end of (?P=name) -->\n", re.S
)


def with_tables(document: str) -> str:
    """A document with its tables made anew."""
    return MARKED.sub(
        lambda m: f"<!-- {m['name']} -->\n{TABLES[m['name']]()}<!-- end of {m['name']} -->\n",
        document,
    )

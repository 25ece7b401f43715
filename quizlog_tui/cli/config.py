"""`quizlog config`: show, check and create the user's settings."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence

from ..config import (
    EXAMPLES,
    ConfigProblem,
    config_folder,
    config_path,
    init_config,
    load_config,
    settings,
)
from ..errors import did_you_mean
from ..text import visible
from .grammar import Parser, command
from .streams import emit_json, tell


def show(arguments: Namespace) -> int:
    """`quizlog config show`: every setting, its value, what it means, and all actions for keys."""
    from ..tui.keys.actions import all_actions
    from ..tui.theming import load_themes, theme_files, theme_names

    config, problems = load_config()
    found = settings(config)
    _narrate(problems)
    if arguments.json:
        values = {name: dict(v) if name in EXAMPLES else v for name, (v, _) in found.items()}
        keys = {action.id: action.keys for action in all_actions()}
        emit_json({"path": str(config_path()), "settings": values, "actions": keys})
        return 0
    there = os.path.exists(config_path())
    print(f"# {config_path()}{'' if there else ' (does not exist; all defaults)'}")
    for name, (value, about) in found.items():
        print(f"{name:<20} {visible(str(value)) or '(empty)':<20} {about}")
    print("\n# actions that [keys] may name, with their keys")
    for action in all_actions():
        own = config.keys.get(action.id, action.keys)
        print(f"{action.id:<24} {visible(own):<24} {action.help}")
    print("\n# themes")
    print("\n".join(sorted(theme_names(load_themes(theme_files())[0]))))
    return 0


def check(arguments: Namespace) -> int:
    """`quizlog config check`: what is wrong in settings, keys and themes; 2 if anything."""
    problems = _all_problems()
    if arguments.json:
        emit_json({"ok": not problems, "problems": [vars(problem) for problem in problems]})
    elif problems:
        _narrate(problems)
    else:
        print(f"{config_folder()}: nothing wrong")
    return 2 if problems else 0


def _all_problems() -> list[ConfigProblem]:
    """What is wrong in the user's settings, keys, commands and themes."""
    from ..tui.keys.keymap import key_problems
    from ..tui.keys.own_commands import lines_read_twice, read_own_commands
    from ..tui.theming import load_themes, theme_files, theme_names

    config, problems = load_config()
    themes, bad_themes = load_themes(theme_files())
    problems += key_problems(config.keys, str(config_path()))
    problems += read_own_commands(config.commands, config.keys, str(config_path()))[1]
    problems += lines_read_twice(config.commands, str(config_path()))
    known = theme_names(themes)
    if config.theme and config.theme not in known:
        hint = did_you_mean(config.theme, known) or "`quizlog config show` lists them"
        said = f"there is no theme {config.theme!r}"
        problems.append(ConfigProblem(f"{config_path()}: theme", said, hint))
    return problems + bad_themes


def init(arguments: Namespace) -> int:
    """`quizlog config init`: write a first file."""
    path = init_config()
    if arguments.json:
        emit_json({"path": str(path)})
    else:
        print(path)
    return 0


def _narrate(problems: Sequence[ConfigProblem]) -> None:
    tell("", (problem.finding for problem in problems), "setting")


_CALLS = {"show": show, "check": check, "init": init}


def run(arguments: Namespace) -> int:
    """Run show, check or init."""
    return _CALLS[arguments.what](arguments)


def _config() -> Parser:
    parser = command(
        "config",
        run,
        group="machine",
        arguments="show|check|init",
        about="show, check or create the settings",
        details="Show all settings, check the files, or create a settings file to edit.",
        example="check",
    )
    parser.add_argument("what", metavar="|".join(_CALLS), choices=list(_CALLS))
    return parser


PARSERS = {"config": _config}
"""The parser function of each command."""

"""The user's settings, and what this machine offers: `quizlog config` and `quizlog doctor`.

The doctor also says what a missing part means. It changes nothing.
"""

from __future__ import annotations

import os
import platform
import sys
from argparse import SUPPRESS, Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from ..config import (
    EXAMPLES,
    ConfigProblem,
    config_folder,
    config_path,
    init_config,
    load_config,
    settings,
)
from ..errors import ConfigError, UsageError, did_you_mean, refusal
from ..text import visible
from .grammar import Parser, command
from .streams import FOR_CODE, emit_json, tell


def _show(arguments: Namespace) -> int:
    """`quizlog config show`: every setting, its value, what it means, and all actions for keys."""
    from ..tui.keys.actions import all_actions
    from ..tui.theming import known_themes

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
    print("\n".join(sorted(known_themes()[0])))
    return 0


def _check(arguments: Namespace) -> int:
    """`quizlog config check`: what is wrong in settings, keys and themes; 2 if anything."""
    problems = _all_problems()
    if arguments.json:
        emit_json({"ok": not problems, "problems": [problem._asdict() for problem in problems]})
    elif problems:
        _narrate(problems)
    else:
        print(f"{config_folder()}: nothing wrong")
    return 2 if problems else 0


def _all_problems() -> list[ConfigProblem]:
    """What is wrong in the user's settings, keys, commands and themes."""
    from ..tui.keys import own_commands
    from ..tui.keys.keymap import key_problems
    from ..tui.theming import known_themes

    config, problems = load_config()
    themes, bad_themes = known_themes()
    where = str(config_path())
    problems += key_problems(config.keys, where)
    problems += own_commands.read_own_commands(config.commands, config.keys, where)[1]
    problems += own_commands.lines_not_understood(config.commands, where)
    problems += own_commands.lines_read_twice(config.commands, where)
    if config.theme and config.theme not in themes:
        hint = did_you_mean(config.theme, themes) or "`quizlog config show` lists them"
        said = f"there is no theme {config.theme!r}"
        problems.append(ConfigProblem(f"{where}: theme", said, hint))
    return problems + bad_themes


def _init(arguments: Namespace) -> int:
    """`quizlog config init`: write a first file."""
    path = init_config()
    if arguments.json:
        emit_json({"path": str(path)})
    else:
        print(path)
    return 0


def _narrate(problems: Sequence[ConfigProblem]) -> None:
    tell("", (problem.finding for problem in problems), "setting")


_CALLS = {"show": _show, "check": _check, "init": _init}


def _run_config(arguments: Namespace) -> int:
    """Run show, check or init."""
    return _CALLS[arguments.what](arguments)


def _config() -> Parser:
    parser = command(
        "config",
        _run_config,
        group="machine",
        arguments="show|check|init",
        about="show, check or create the settings",
        details="Show all settings, check the files, or create a settings file to edit.",
        example="check",
    )
    parser.add_argument("what", metavar="|".join(_CALLS), choices=list(_CALLS))
    return parser


@dataclass(frozen=True)
class _DoctorFinding:
    """The result of a check."""

    name: str
    ok: bool
    says: str


def _findings() -> list[_DoctorFinding]:
    """All findings in the order shown."""
    return [finding for name, look in _LOOKS.items() for finding in _found(name, look)]


def _found(name: str, look: Callable[[], Iterator[_DoctorFinding]]) -> list[_DoctorFinding]:
    """The findings of a check; a system error becomes a finding."""
    try:
        return list(look())
    except Exception as error:
        refused = refusal(error)
        if refused is None:
            raise
        return [_DoctorFinding(name, False, str(refused))]


def _python() -> Iterator[_DoctorFinding]:
    yield _DoctorFinding("python", sys.version_info >= (3, 11), platform.python_version())
    yield _DoctorFinding(
        "system", sys.platform != "win32", f"{platform.system()} {platform.release()}"
    )
    for name in ("textual", "rich", "PyYAML"):
        yield _DoctorFinding(name, True, version(name))


def _processes() -> Iterator[_DoctorFinding]:
    yield _either("fork", hasattr(os, "fork"), "quizzes run", "quizzes cannot run here; use WSL")
    linux = sys.platform == "linux"
    yield _either(
        "clean-up of detached processes",
        linux and Path("/proc/self/task").is_dir(),
        "whatever a script starts ends with it",
        "a daemon that a script detaches may outlive it",
    )
    yield _either(
        "memory limit",
        linux,
        "bounds a script's data",
        "bounds address space only, which some systems ignore",
    )


def _either(name: str, ok: bool, good: str, bad: str) -> _DoctorFinding:
    return _DoctorFinding(name, ok, good if ok else bad)


def _libyaml() -> Iterator[_DoctorFinding]:
    from ..record.yaml_text import has_libyaml

    yield _either("libyaml", has_libyaml(), "records load quickly", "long records load slowly")


def _locks() -> Iterator[_DoctorFinding]:
    said = "only changes by others are detected"
    yield _either("record locks", find_spec("fcntl") is not None, "flock", said)


def _addresses() -> Iterator[_DoctorFinding]:
    from ..replay.process.spawn import same_addresses
    from ..replay.world import UNAVAILABLE

    good = "memory has the same addresses in every run"
    yield _either("fixed addresses", same_addresses(), good, UNAVAILABLE["addresses"])


def _quizzes() -> Iterator[_DoctorFinding]:
    """Check by running a script that does nothing."""
    from ..files.scratch import scratch_folder
    from ..replay.replayer import replay
    from ..replay.script.source import Source
    from ..replay.world import UNAVAILABLE, isolation

    with scratch_folder("doctor") as folder:
        unavailable = replay(Source(folder / "nothing.py", b""), 0, []).unavailable
    good = "an overlay: scripts write to a private copy at no cost"
    yield _either("private folders", "folder" not in unavailable, good, UNAVAILABLE["folder"])
    reach = "scripts reach their own folder, but no other file, network or program"
    good = f"{isolation(unavailable)}: {reach}"
    wrong = "; ".join(
        UNAVAILABLE[name] for name in ("isolation", "signals", "witness") if name in unavailable
    )
    yield _either("isolation of quiz scripts", not wrong, good, wrong)


def _sandbox() -> Iterator[_DoctorFinding]:
    from ..sandbox.executor import advice

    found = advice()
    yield _DoctorFinding("sandbox", found.level is not None, found.says)
    yield _either(
        "libraries for models' code",
        not found.missing,
        f"{', '.join(found.ready)}: loaded before a run starts",
        f"no {' and no '.join(found.missing)}: {FOR_CODE}",
    )


def _browser() -> Iterator[_DoctorFinding]:
    if find_spec("playwright") is None or find_spec("dotenv") is None:
        said = "no quizzes on web pages: pip install 'quizlog-tui[browser]'"
        yield _DoctorFinding("browser", False, said)
        return
    import asyncio

    from ..webquiz.page.browser import executable, own_executable
    from ..webquiz.task.settings import read_settings

    try:
        configured = read_settings().browser_executable
    except ConfigError as error:
        yield _DoctorFinding("browser", False, str(error))
        return
    found = executable(configured) or asyncio.run(own_executable())
    bad = "no Chromium: apt install chromium-headless-shell, or playwright install chromium"
    yield _either("browser", found is not None, f"{found}: quizzes on web pages", bad)


def _examples() -> Iterator[_DoctorFinding]:
    from ..files.paths import example_names

    names = example_names()
    yield _either("examples", bool(names), ", ".join(names), "not found: reinstall quizlog-tui")


_LOOKS = {
    "python": _python,
    "libyaml": _libyaml,
    "processes": _processes,
    "record locks": _locks,
    "fixed addresses": _addresses,
    "quiz scripts": _quizzes,
    "sandbox": _sandbox,
    "browser": _browser,
    "examples": _examples,
}
"""The checks by name."""


def _run_doctor(arguments: Namespace) -> int:
    """`quizlog doctor`."""
    if arguments.attacks:
        hint = "in a checkout of quizlog: python -m tests.attacks"
        raise UsageError("the campaigns of attacks are part of the tests", hint=hint)
    found = _findings()
    if arguments.json:
        emit_json({"findings": [asdict(item) for item in found]})
    else:
        for item in found:
            print(f"{'ok     ' if item.ok else 'missing'}  {item.name}: {item.says}")
    return 0


def _doctor() -> Parser:
    parser = command(
        "doctor",
        _run_doctor,
        group="machine",
        about="report what this machine offers",
        details="Report what this machine offers and what is missing.",
    )
    parser.add_argument("--attacks", action="store_true", help=SUPPRESS)  # moved to the tests
    return parser


PARSERS = {"config": _config, "doctor": _doctor}
"""The parser function of each command."""

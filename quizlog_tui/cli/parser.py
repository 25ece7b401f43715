"""All commands: where each one's grammar is, and its line in the help.

A command lives in one module below this folder, whose `PARSERS` maps its name to what makes its
parser. Only the module of the command that is called is imported.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple

from .. import __version__
from .grammar import Parser, add_allow, add_wait, command


class CommandEntry(NamedTuple):
    """A command in the table."""

    module: str
    """The module that has it, from this folder on."""
    usage: str
    """Its arguments, as the help shows them."""
    about: str
    """What it does, in a line."""


COMMANDS: dict[str, CommandEntry] = {
    "list": CommandEntry("record.library", "[FOLDER]", "the records below a folder"),
    "new": CommandEntry("record.moves", "SCRIPT", "make a record for a script"),
    "rewind": CommandEntry("record.moves", "RECORD K", "pointer to step K, nothing lost"),
    "fork": CommandEntry(
        "record.moves", "RECORD K ANSWER", "another answer at step K, on a branch of its own"
    ),
    "branches": CommandEntry("record.branches", "RECORD", "list the branches"),
    "switch": CommandEntry("record.moves", "RECORD NAME", "make another branch the active one"),
    "rename": CommandEntry("record.branches", "RECORD NAME NEW", "give a branch another name"),
    "note": CommandEntry("record.branches", "RECORD NAME TEXT", "set the remark of a branch"),
    "delete": CommandEntry("record.branches", "RECORD NAME", "hide a branch; its answers stay"),
    "restore": CommandEntry("record.branches", "RECORD NAME", "show a deleted branch again"),
    "feedback": CommandEntry(
        "record.feedback", "RECORD [K] [TEXT]", "list remarks on steps, or add one"
    ),
    "amend": CommandEntry(
        "record.moves",
        "RECORD K ANSWER",
        "another answer at step K, later ones kept while questions agree",
    ),
    "steps": CommandEntry(
        "record.steps", "RECORD", "each step: question, answer, time, remarks, other tries"
    ),
    "bisect": CommandEntry("record.explore", "RECORD", "the first answer that spoils the outcome"),
    "sweep": CommandEntry(
        "record.explore", "RECORD K [ANSWER...]", "what each of several answers at step K leads to"
    ),
    "export": CommandEntry(
        "record.export", "RECORD -o FILE", "the whole record as HTML or Markdown"
    ),
    "verify": CommandEntry(
        "proof.verify", "RECORD", "whether it is what happened: replays under other conditions"
    ),
    "diff": CommandEntry(
        "proof.compare", "A[@BRANCH] [B[@BRANCH]]", "where two runs part, step by step"
    ),
    "drift": CommandEntry(
        "proof.compare", "RECORD", "how far it agrees with its script as it is now"
    ),
    "migrate": CommandEntry(
        "proof.compare", "RECORD", "go on under an edited script; nothing is lost"
    ),
    "bundle": CommandEntry(
        "proof.bundle", "RECORD -o FILE", "pack it with all it takes to verify it elsewhere"
    ),
    "coverage": CommandEntry(
        "proof.coverage", "SCRIPT [RECORD...]", "what its records reached, where to fork next"
    ),
    "lint": CommandEntry("proof.lint", "SCRIPT", "questions, scores and traps of a script, unrun"),
    "solve": CommandEntry(
        "solver.solve", "RECORD", "ask several models the pending question, and decide"
    ),
    "decisions": CommandEntry("solver.decisions", "RECORD", "what models decided, and why"),
    "models": CommandEntry("solver.models", "[check]", "list the configured models, or try each"),
    "serve": CommandEntry("web.serve", "", "answer programs over HTTP"),
    "episodes": CommandEntry(
        "episodes.grammar",
        "VERB ...",
        "training data: build, check, browse, stats, export, upgrade",
    ),
    "task": CommandEntry("web.task", "URL", "work a quiz on web pages, from page to page"),
    "demo-server": CommandEntry("web.demo_server", "", "a quiz server to practise on"),
    "tui": CommandEntry("screens", "[RECORD]", "open the screens"),
    "demo": CommandEntry("screens", "", "a guided first run, with no network and no key"),
    "screenshot": CommandEntry("screens", "RECORD [K]", "the player on a record, as text or SVG"),
    "config": CommandEntry("machine.config", "show|check|init", "settings, keys and themes"),
    "sandbox": CommandEntry("machine.sandbox", "run FILE.py", "run any Python file in the sandbox"),
    "doctor": CommandEntry("machine.doctor", "", "what this machine offers"),
    "help": CommandEntry(
        "machine.guides", "[TOPIC]", "the guides, such as what is promised of hostile scripts"
    ),
}
"""Every command by its name, in the order of the help."""


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The command to run, as a namespace with `run`.

    Raises:
        UsageError: The words make no command.
    """
    first = next((word for word in words if not word.startswith("-")), "")
    if first in COMMANDS and "--" not in words[: words.index(first)]:
        rest = list(words)
        rest.remove(first)
        return parser_of(first).parse_words(rest)
    return record_parser().parse_words(words)


def parser_of(name: str) -> Parser:
    """The grammar of a command."""
    module = import_module(f".{COMMANDS[name].module}", __package__)
    parsers: dict[str, Callable[[], Parser]] = module.PARSERS
    return parsers[name]()


def record_parser() -> Parser:
    """The grammar of `quizlog [RECORD [ANSWER]]`, whose help lists all commands."""
    from .record.moves import record

    about = "Replay, audit and fork a questionnaire."
    parser = command("quizlog", record, about, epilog=_epilog())
    parser.add_argument("--version", action="version", version=f"quizlog {__version__}")
    parser.add_argument("record", nargs="?", help="the record file")
    parser.add_argument("answer", nargs="?", help="the answer to the pending question")
    parser.add_argument("--stdin", action="store_true", help="read the answer from stdin")
    parser.add_argument("--new", action="store_true", help="show only what is new")
    parser.add_argument(
        "--explain", action="store_true", help="say whether one can come back here at once"
    )
    parser.add_argument(
        "--keep-files", metavar="DIR", help="copy the files that the script writes to DIR"
    )
    parser.add_argument(
        "--raw", action="store_true", help="exactly the bytes a plain run would have written"
    )
    add_allow(parser)
    add_wait(parser)
    return parser


def _epilog() -> str:
    lines = [
        ("RECORD", "show the questionnaire up to the pointer"),
        ("RECORD ANSWER", "answer the pending question (-- before an answer like --x)"),
        ("", "open the screens"),
        *((f"{name} {entry.usage}".strip(), entry.about) for name, entry in COMMANDS.items()),
    ]
    table = "\n".join(f"  quizlog {usage:<27} {about}" for usage, about in lines)
    return (
        f"commands:\n{table}\n\n`quizlog COMMAND --help` tells more. "
        "A record named like a command: ./new\n\n"
        "exit codes: 0 done, 1 the script raised, 2 bad usage or unreadable file, 3 a difference\n"
        "was found, 4 a limit or a lock, 130 interrupted"
    )

"""The table of commands: group, module, usage, description and example of each.

The `PARSERS` of a command's module maps its name to the function that makes its parser. The help,
guides, man page and shell completions are made from this table.
"""

from __future__ import annotations

from typing import NamedTuple


class CommandEntry(NamedTuple):
    """A command in the table."""

    group: str
    """Its group in the help."""
    module: str
    """Its module, relative to this package."""
    usage: str
    """Its arguments, as the help shows them."""
    about: str
    """What it does, in one line."""
    example: str
    """A call that works with the shipped examples, after the command's name."""


COMMANDS: dict[str, CommandEntry] = {
    "tui": CommandEntry(
        "look", "screens", "[RECORD]", "open the screens; so does quizlog alone", "adventure"
    ),
    "demo": CommandEntry("look", "screens", "", "a guided first run; no network, no key", ""),
    "list": CommandEntry("look", "record.library", "[FOLDER]", "list the records in a folder", ""),
    "steps": CommandEntry(
        "look",
        "record.steps",
        "RECORD",
        "list all steps: question, answer, time, notes",
        "adventure",
    ),
    "inspect": CommandEntry(
        "look",
        "record.inspect",
        "RECORD [K]",
        "show variables, stack and expressions at a step",
        "adventure 3 --expr 'room, items'",
    ),
    "trace": CommandEntry(
        "look",
        "record.trace",
        "RECORD [K]",
        "list the lines that ran before a step",
        "adventure 3",
    ),
    "find": CommandEntry(
        "look",
        "record.find",
        "WORDS [RECORD|FOLDER]",
        "find words in all branches, or all records",
        "lamp adventure",
    ),
    "feedback": CommandEntry(
        "look",
        "record.feedback",
        "RECORD [K] [TEXT]",
        "list the notes on steps, or add one",
        'adventure 5 "an old riddle" --verdict right --author ann',
    ),
    "export": CommandEntry(
        "look",
        "record.export",
        "RECORD -o FILE",
        "write the whole record as HTML or Markdown",
        "adventure -o adventure.html",
    ),
    "screenshot": CommandEntry(
        "look",
        "screens",
        "RECORD [K]",
        "draw a screen as text or SVG",
        "adventure 6 -o adventure.svg",
    ),
    "cast": CommandEntry(
        "look",
        "cast",
        "RECORD -o FILE",
        "make an animation: .cast or .svg",
        "adventure -o adventure.cast",
    ),
    "new": CommandEntry(
        "move",
        "record.moves",
        "SCRIPT [-- ARG...]",
        "make a record for a script",
        "quiz.py -o quiz.yaml",
    ),
    "rewind": CommandEntry(
        "move",
        "record.moves",
        "RECORD K",
        "set the pointer to step K; nothing is lost",
        "adventure 2",
    ),
    "fork": CommandEntry(
        "move",
        "record.moves",
        "RECORD K ANSWER",
        "give another answer at step K, on a new branch",
        "adventure 6 no --name modest",
    ),
    "amend": CommandEntry(
        "move",
        "record.moves",
        "RECORD K ANSWER",
        "change answer K; keep later ones that still fit",
        'adventure 5 "the map"',
    ),
    "branches": CommandEntry("move", "record.branches", "RECORD", "list the branches", "adventure"),
    "switch": CommandEntry(
        "move", "record.moves", "RECORD NAME", "make another branch active", "adventure main"
    ),
    "rename": CommandEntry(
        "move",
        "record.branches",
        "RECORD NAME NEW",
        "rename a branch",
        "adventure dark unlit",
    ),
    "note": CommandEntry(
        "move",
        "record.branches",
        "RECORD NAME TEXT",
        "set the note of a branch",
        'adventure greedy "took all of it"',
    ),
    "delete": CommandEntry(
        "move",
        "record.branches",
        "RECORD NAME",
        "hide a branch; its answers stay",
        "adventure greedy",
    ),
    "restore": CommandEntry(
        "move",
        "record.branches",
        "RECORD NAME",
        "show a deleted branch again",
        "adventure greedy",
    ),
    "diff": CommandEntry(
        "compare",
        "proof.compare",
        "A[@BRANCH] [B[@BRANCH]]",
        "show where two runs part, step by step",
        "adventure@main @greedy",
    ),
    "sweep": CommandEntry(
        "compare",
        "record.explore",
        "RECORD K [ANSWER...]",
        "try several answers at step K",
        "adventure 6 yes no",
    ),
    "bisect": CommandEntry(
        "compare",
        "record.explore",
        "RECORD",
        "find the answer that makes the outcome fail",
        "adventure",
    ),
    "coverage": CommandEntry(
        "compare",
        "proof.coverage",
        "SCRIPT [RECORD...]",
        "show what records reached, and what they did not",
        "quiz.py",
    ),
    "verify": CommandEntry(
        "prove",
        "proof.verify",
        "RECORD",
        "check that replays show what the record shows",
        "adventure",
    ),
    "drift": CommandEntry(
        "prove",
        "proof.compare",
        "RECORD",
        "show how far a record fits an edited script",
        "adventure",
    ),
    "migrate": CommandEntry(
        "prove", "proof.compare", "RECORD", "continue a record under an edited script", "adventure"
    ),
    "bundle": CommandEntry(
        "prove",
        "proof.bundle",
        "RECORD -o FILE",
        "pack a record, to verify it elsewhere",
        "adventure -o adventure.zip",
    ),
    "lint": CommandEntry(
        "prove",
        "proof.lint",
        "SCRIPT",
        "list questions, scores and traps; run nothing",
        "quiz.py",
    ),
    "solve": CommandEntry(
        "ask models",
        "solver.solve",
        "RECORD",
        "ask several models, and decide",
        "linear-algebra",
    ),
    "decisions": CommandEntry(
        "ask models",
        "solver.decisions",
        "RECORD",
        "show what was decided, and why",
        "linear-algebra",
    ),
    "models": CommandEntry(
        "ask models",
        "solver.models",
        "[check]",
        "list the configured models, or try each",
        "check",
    ),
    "task": CommandEntry(
        "web",
        "web.task",
        "URL",
        "solve a quiz on web pages",
        "http://127.0.0.1:8765/q01-start",
    ),
    "demo-server": CommandEntry(
        "web", "web.demo_server", "", "serve a practice quiz on web pages", "--solve"
    ),
    "serve": CommandEntry("web", "web.serve", "", "start the HTTP server", "--folder records"),
    "episodes": CommandEntry(
        "data",
        "episodes.grammar",
        "VERB ...",
        "training data: build, check, browse, export ...",
        "build adventure -o episodes.jsonl",
    ),
    "config": CommandEntry(
        "machine",
        "machine.config",
        "show|check|init",
        "show, check or create the settings",
        "check",
    ),
    "sandbox": CommandEntry(
        "machine",
        "machine.sandbox",
        "run FILE.py",
        "run any Python file in the sandbox",
        "run code.py",
    ),
    "doctor": CommandEntry("machine", "machine.doctor", "", "report what this machine offers", ""),
    "completions": CommandEntry(
        "machine",
        "machine.completions",
        "bash|zsh|fish",
        "print a shell's completion script",
        "bash",
    ),
    "help": CommandEntry(
        "machine", "machine.guides", "[TOPIC]", "read or search the guides", "proof"
    ),
}
"""Every command by its name, in the order of the help."""

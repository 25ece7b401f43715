"""The command that exports a whole record as a document."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from ..replay.replayer import CHECKPOINTS
from ..report.export import checked_form, export
from ..text import one_line
from .grammar import Parser, add_force, add_redact, command, refuse_existing
from .moves import narrate_warnings, one_move
from .streams import emit_json, noting_progress, private_data, tell_private


def _run_export(arguments: Namespace) -> int:
    """`quizlog export RECORD -o FILE`."""
    target = Path(arguments.output)
    # Comes first: --force helps no file that is not an export, and must not be offered.
    checked_form(target, player=arguments.player)
    refuse_existing(target, arguments)
    with one_move(arguments, checkpoints=CHECKPOINTS) as session:
        narrate_warnings(session)
        report = export(
            session, target, _progress, redact=arguments.redact, player=arguments.player
        )
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr)
        with noting_progress(lambda: f"{target} is written"):
            if arguments.json:
                names = [branch.name for branch in report.branches]
                told = {"record": str(session.path), "file": str(target), "branches": names}
                private = private_data(report.private, removed=arguments.redact)
                emit_json(told | {"private": private})
            else:
                print(one_line(str(target)))
                print(f"-- branches written: {len(report.branches)}", file=sys.stderr)
                in_it = "private, and in the file; --redact removes it"
                tell_private(report.private, "removed" if arguments.redact else in_it)
        return 0


def _export() -> Parser:
    parser = command(
        "export",
        _run_export,
        group="look",
        arguments="RECORD -o FILE",
        about="write the whole record as HTML or Markdown",
        details=(
            "Write the whole record with all its branches as one HTML or Markdown file. Lists\n"
            "what in it names this machine or looks like a secret; --redact removes that.\n"
            "--force replaces an earlier export, but no other file."
        ),
        example="adventure -o adventure.html",
    )
    parser.add_argument("record")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help=".html or .md")
    add_force(parser)
    add_redact(parser)
    about = "add a player to the HTML: steps by keys, a list of questions, branches to choose"
    parser.add_argument("--player", action="store_true", help=about)
    return parser


def _progress(done: int, total: int) -> None:
    """Show progress if stderr is a terminal."""
    if sys.stderr.isatty():
        print(f"\rrunning branch {done + 1} of {total}", end="", file=sys.stderr, flush=True)


PARSERS = {"export": _export}
"""The parser function of each command."""

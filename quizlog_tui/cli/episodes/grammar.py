"""`quizlog episodes`: the parsers of its verbs; `verbs` runs them."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from ...episodes.read.index import USUAL
from ...errors import UsageError
from ..grammar import Parser, add_force, command
from .export import export
from .verbs import browse, build, check, stats, upgrade


def _which(arguments: Namespace) -> int:
    raise UsageError("which verb?", hint="quizlog episodes build|check|browse|stats|export|upgrade")


def _episodes() -> Parser:
    about = "Training data: episodes whose `verified: true` is literally true."
    parser = command("quizlog episodes", _which, about)
    verbs = parser.add_subparsers(metavar="VERB", title="verbs")
    _add_build(_verb(verbs, "build", build, "Make episodes from records."))
    lenient = _verb(verbs, "check", check, "Check every line; exit code 3 if a rule is broken.")
    lenient.add_argument("file")
    lenient.add_argument("--lenient", action="store_true", help="accept older formats too")
    _verb(verbs, "browse", browse, "Browse a file on the screen.").add_argument("file")
    _verb(verbs, "stats", stats, "Count what is in a file.").add_argument("file")
    _add_export(_verb(verbs, "export", export, "Write a format that trainers read."))
    older = _verb(verbs, "upgrade", upgrade, "Convert older lines to the present format.")
    older.add_argument("file")
    older.add_argument("-o", "--output", metavar="FILE", required=True, help="the new file")
    add_force(older)
    return parser


def _verb(verbs: Any, name: str, run: Callable[[Any], int], about: str) -> Parser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser: Parser = verbs.add_parser(
        name, help=about, description=about, allow_abbrev=False, formatter_class=formatter
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="one JSON object on stdout"
    )
    return parser


def _add_build(parser: Parser) -> None:
    parser.add_argument("records", metavar="RECORD", nargs="+")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default=USUAL,
        help=f"default: {USUAL}; new episodes are added to it",
    )
    parser.add_argument(
        "--branch", metavar="NAME", help="the branch of a single record; default: the active one"
    )
    parser.add_argument(
        "--runs",
        metavar="N",
        type=int,
        default=0,
        help="ask the models for N independent runs of each",
    )
    parser.add_argument(
        "--queue", action="store_true", help="with --runs: the hosts of the task queue answer"
    )
    parser.add_argument("--env", metavar="FILE", help="variables; with --queue")
    parser.add_argument(
        "--models", metavar="FILE", help="with --runs; default: the configured models"
    )
    parser.add_argument(
        "--replay", metavar="FOLDER", help="with --runs: use the replies recorded in FOLDER"
    )
    parser.add_argument(
        "--unsafe-local", action="store_true", help="run code even without isolation"
    )
    parser.add_argument(
        "--no-derive", action="store_true", help="set no difficulty unless the script declares one"
    )
    parser.add_argument(
        "--keep-retries", action="store_true", help="keep refused answers in the conversation"
    )


def _add_export(parser: Parser) -> None:
    from ...episodes.export.forms import FORMS

    forms = (*FORMS, "splits")
    parser.add_argument("file")
    parser.add_argument("--to", metavar="FORM", choices=forms, required=True, help=", ".join(forms))
    parser.add_argument("-o", "--output", metavar="PATH", help="default: rows to stdout")
    add_force(parser)
    parser.add_argument("--all", action="store_true", help="include episodes that are not verified")
    parser.add_argument(
        "--scripts", metavar="DIR", help="with verifiers: copy the scripts too, for replaying"
    )
    parser.add_argument("--shares", help="with splits; default: 80/10/10")
    parser.add_argument("--seed", type=int, help="with splits; default: 0")


PARSERS = {"episodes": _episodes}
"""The parser function of each command."""

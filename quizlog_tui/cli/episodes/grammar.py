"""`quizlog episodes`: the grammar of its verbs; what they do is in `episode_verbs`."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable
from typing import Any

from ...episodes.read.index import USUAL
from ...errors import UsageError
from ...plugins import EXPORTERS, plugin_names
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
    lenient.add_argument("--lenient", action="store_true", help="read older forms too")
    _verb(verbs, "browse", browse, "Look into a file on the screen.").add_argument("file")
    _verb(verbs, "stats", stats, "Count what is in a file.").add_argument("file")
    _add_export(_verb(verbs, "export", export, "Write the forms that trainers read."))
    older = _verb(verbs, "upgrade", upgrade, "Bring older lines into the present form.")
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
        help=f"default: {USUAL}; kept and added to",
    )
    parser.add_argument(
        "--branch", metavar="NAME", help="of a single record; default: its active branch"
    )
    parser.add_argument(
        "--runs",
        metavar="N",
        type=int,
        default=0,
        help="ask the models for N independent runs of each",
    )
    parser.add_argument(
        "--queue", action="store_true", help="of --runs: the hosts that work tasks answer them"
    )
    parser.add_argument("--env", metavar="FILE", help="of --queue; default: .env")
    parser.add_argument("--models", metavar="FILE", help="of --runs; default: as configured")
    parser.add_argument("--replay", metavar="FOLDER", help="of --runs: replies recorded there")
    parser.add_argument(
        "--unsafe-local", action="store_true", help="run code even where nothing isolates it"
    )
    parser.add_argument("--fold-case", action="store_true", help="case makes no difference in text")
    parser.add_argument(
        "--no-derive", action="store_true", help="no difficulty where the script declares none"
    )
    parser.add_argument(
        "--keep-retries", action="store_true", help="refused answers stay in the conversation"
    )


class _Forms(tuple[str, ...]):
    """Names of forms; those of plug-ins too, which are looked for only by name."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in plugin_names(EXPORTERS)


def _add_export(parser: Parser) -> None:
    from ...episodes.export.forms import FORMS

    forms = _Forms((*FORMS, "splits"))
    parser.add_argument("file")
    parser.add_argument("--to", metavar="FORM", choices=forms, required=True, help=", ".join(forms))
    parser.add_argument("-o", "--output", metavar="PATH", help="default: rows to stdout")
    add_force(parser)
    parser.add_argument("--all", action="store_true", help="episodes that are not verified too")
    parser.add_argument(
        "--scripts", metavar="DIR", help="of verifiers: take the scripts along, for replaying"
    )
    parser.add_argument("--shares", help="of splits; default: 80/10/10")
    parser.add_argument("--seed", type=int, help="of splits; default: 0")


PARSERS = {"episodes": _episodes}
"""What makes each command's parser."""

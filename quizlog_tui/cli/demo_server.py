"""`quizlog demo-server`: the quiz server to practise on, until interrupted."""

from __future__ import annotations

import sys
from argparse import Namespace
from threading import Event

from ..errors import UsageError
from . import emit_json
from .extras import needs
from .grammar import Parser, command

PORT = 8765
_EMAIL = "jon@quiz.test"


def demo_server(arguments: Namespace) -> int:
    """`quizlog demo-server`.

    Raises:
        UsageError: The port is taken, or there is no such page.
    """
    needs("solver", "pydantic")
    from ..quiz.demo_server.grader import Options
    from ..quiz.demo_server.web import quiz_server

    options = Options(
        grading=arguments.grading, latency=arguments.latency, chain=tuple(arguments.page)
    )
    try:
        with quiz_server(options, arguments.port) as server:
            if arguments.json:
                emit_json({"url": server.url, "first": server.first(_EMAIL)})
            else:
                print(server.first(_EMAIL))
            sys.stdout.flush()
            said = f"pages at {server.url}, submissions at {server.url}/_log; Ctrl-C ends it"
            print(f"quizlog: {said}", file=sys.stderr)
            Event().wait()
    except OSError as error:
        hint = "name another with --port N"
        raise UsageError(f"port {arguments.port}: {error.strerror}", hint=hint) from None
    return 0


def _parser() -> Parser:
    about = (
        "A quiz server to practise on, on this machine only. Prints the URL of its first page.\n"
        "/_log shows all submissions and requests, /_score the score under both rules."
    )
    parser = command("quizlog demo-server", demo_server, about)
    parser.add_argument("--port", type=_port, default=PORT, metavar="N", help="default: 8765")
    parser.add_argument("--page", action="append", default=[], metavar="ID", help="only this page")
    parser.add_argument("--grading", choices=["last", "max"], default="last")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    return parser


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port < 65536:
        raise ValueError(text)
    return port


PARSERS = {"demo-server": _parser}
"""What makes each command's parser."""

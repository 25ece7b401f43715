"""The command that starts the HTTP server."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..files.paths import record_path
from .grammar import Parser, add_models, add_replies, command, port
from .models import ask_for_programs
from .streams import emit_json, needs, say

if TYPE_CHECKING:
    from ..webquiz.task.settings import TaskSettings

_PORT = 8642

TOKEN = "QUIZLOG_TOKEN"
"""The environment variable with the secret that clients must send."""


def serve(arguments: Namespace) -> int:
    """`quizlog serve`."""
    if arguments.screens is not None:
        return _serve_screens(arguments)
    if arguments.write:
        raise UsageError("--write is for --screens only", hint="leave it out")
    needs("server", "fastapi", "uvicorn", "httpx", "dotenv")
    from ..server.admission import allowed_bounds
    from ..server.app import ServerSettings
    from ..server.lookup import served
    from ..server.run import address, listening, rules_for
    from ..server.run import serve as run
    from ..solver.models.choice import Choice, cost_note, doubts

    folders = served(Path(name) for name in arguments.folder or ["."])
    rules = rules_for(arguments.host, os.environ.get(TOKEN, "").strip() or None)
    models = Path(arguments.models) if arguments.models else None
    replay, env = (Path(name) if name else None for name in (arguments.replay, arguments.env))
    choice = Choice(models, replay, env=env)
    ask_for_programs(choice, arguments)
    tasks = _task_settings(env)
    for text in (*doubts(choice), *filter(None, [cost_note(choice)])):
        say(f"note: {text}")
    with listening(arguments.host, arguments.port) as sock:

        def started() -> None:
            names = [str(root) for root in folders.roots]
            if arguments.json:
                emit_json({"url": address(sock), "folders": names})
            else:
                print(address(sock))
            sys.stdout.flush()
            takes = " and takes tasks" if tasks else ""
            say(f"serves {', '.join(names)}{takes}; Ctrl-C ends it")

        run(ServerSettings(folders, rules, choice, allowed_bounds(), tasks), sock, started)
    return 0


def _serve_parser() -> Parser:
    epilog = f"{TOKEN} in the environment: the token that clients must send"
    details = (
        "Answer steps and questions over HTTP: POST /quizlog/next, POST /solve, GET /decisions,\n"
        "GET /health, GET /openapi.json. It serves only files in the given folders.\n"
        "With a USER_SECRET (in the environment or .env) also tasks: POST /run, GET /tasks."
    )
    parser = command(
        "serve",
        serve,
        group="web",
        about="start the HTTP server",
        details=details,
        example="--folder records",
        epilog=epilog,
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1")
    parser.add_argument("--port", type=port, default=_PORT, help=f"default: {_PORT}; 0: any free")
    parser.add_argument(
        "--folder",
        action="append",
        metavar="DIR",
        help="may be repeated; default: the current folder",
    )
    parser.add_argument(
        "--screens",
        nargs="?",
        const="",
        metavar="RECORD",
        help="the screens in web browsers instead, of a record or the folder; read-only",
    )
    parser.add_argument("--write", action="store_true", help="let the screens change records")
    add_models(parser)
    add_replies(parser)
    parser.add_argument("--env", metavar="FILE", help="variables: keys and task settings")
    return parser


def _serve_screens(arguments: Namespace) -> int:
    """`quizlog serve --screens [RECORD]`."""
    needs("screens", "textual_serve", "aiohttp")
    needs("server", "fastapi", "uvicorn", "httpx", "dotenv")
    from ..server.run import address, listening, rules_for
    from ..server.screens import ScreenSettings, serve_screens

    if len(arguments.folder or []) > 1:
        raise UsageError("the screens show one folder", hint="give --folder once")
    place = record_path(arguments.screens or (arguments.folder or ["."])[0])
    if not place.exists():
        raise UsageError("there is no such file or folder", where=str(place), hint="name another")
    place = place.resolve()
    rules = rules_for(arguments.host, os.environ.pop(TOKEN, "").strip() or None)
    settings = ScreenSettings(place, rules, arguments.write)
    with listening(arguments.host, arguments.port) as sock:

        def started() -> None:
            if arguments.json:
                emit_json({"url": address(sock), "screens": str(place), "write": arguments.write})
            else:
                print(address(sock))
            sys.stdout.flush()
            secret = f"; open it with ?token= and your {TOKEN}" if rules.token else ""
            say(f"shows {place}{'' if arguments.write else ', read-only'}{secret}; Ctrl-C ends it")

        serve_screens(settings, sock, started)
    return 0


def _task_settings(env: Path | None) -> TaskSettings | None:
    """The settings of tasks, if there is a secret for them."""
    from ..webquiz.task.settings import read_settings

    settings = read_settings(env)
    if settings.user_secret:
        needs("tasks", "playwright", "dbos", "psycopg")
        return settings
    if env is not None:
        hint = "tasks need it: write it there, or leave --env out"
        raise UsageError("USER_SECRET is not set", where=str(env), hint=hint)
    return None


PARSERS = {"serve": _serve_parser}
"""The parser function of each command."""

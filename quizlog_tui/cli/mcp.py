"""`quizlog mcp`: quizzes for agents that speak the Model Context Protocol."""

from __future__ import annotations

import os
import signal
import sys
from argparse import Namespace
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..files.paths import record_path
from ..text import visible
from .grammar import TOKEN, Parser, add_address, command
from .streams import ReaderLeft, emit_json, needs, say

if TYPE_CHECKING:
    from ..agents.client_config import Plan
    from ..agents.mcp_server import Role
    from ..config import Config
    from ..session.open_sessions import OpenSessions
    from ..session.served_folders import Folders

_CLIENTS = ("claude-code", "codex", "cursor", "vscode")


def _run_mcp(arguments: Namespace) -> int:
    """`quizlog mcp [RECORD|FOLDER]`."""
    needs("agents", "mcp", "mcp_types")  # which version 1 of the SDK does not have
    if arguments.seat and arguments.person:
        raise UsageError("--seat and --person exclude each other", hint="leave one out")
    if arguments.install and arguments.http:
        hint = "give the client the address that `quizlog mcp --http` prints"
        raise UsageError("--install is for a server that the client starts", hint=hint)
    place = record_path(arguments.place or ".")
    if not place.exists():
        raise UsageError("there is no such file or folder", where=str(place), hint="name another")
    if arguments.install:
        return _install(arguments, place)
    if arguments.http:
        return _serve_http(arguments, place)
    if arguments.json:
        raise UsageError("stdout is the client's here", hint="leave --json out")
    return _serve_stdio(arguments, place)


def _mcp() -> Parser:
    details = (
        "Serve the quizzes of a folder, or one record, to an agent: a client starts this command\n"
        "and speaks the Model Context Protocol with it over stdin and stdout. With --http it\n"
        "listens at /mcp instead. `quizlog help agents` tells more."
    )
    parser = command(
        "mcp",
        _run_mcp,
        group="web",
        arguments="[RECORD|FOLDER]",
        about="serve quizzes to agents (MCP)",
        details=details,
        example="adventure --seat",
        epilog=f"{TOKEN} in the environment: the token that clients of --http must send",
    )
    about = "a record, or a folder of them; default: the current folder"
    parser.add_argument("place", nargs="?", metavar="RECORD|FOLDER", help=about)
    about = "for an agent under test: it can only see and answer"
    parser.add_argument("--seat", action="store_true", help=about)
    about = "the person at the client answers; the agent only asks them"
    parser.add_argument("--person", action="store_true", help=about)
    about = "show this client's entry for the same command, and write it if you agree"
    parser.add_argument("--install", choices=_CLIENTS, metavar="CLIENT", help=about)
    parser.add_argument("--http", action="store_true", help="listen for clients over HTTP")
    add_address(parser)
    return parser


def _role(arguments: Namespace) -> Role:
    if arguments.seat:
        return "seat"
    return "person" if arguments.person else "auditor"


def _folders(place: Path) -> Folders:
    from ..session.served_folders import served, served_record

    return served([place]) if place.is_dir() else served_record(place)


def _open_sessions(folders: Folders, config: Config, processes: int) -> OpenSessions:
    """The open records of a server, with scripts within the user's limits."""
    from ..replay.process.process import user_limits
    from ..session.open_sessions import OpenSessions
    from ..session.replayer_pool import ReplayerPool

    pool = ReplayerPool(processes, user_limits(config))
    return OpenSessions(folders, pool, hold_seconds=config.agents_hold_seconds)


def _serve_stdio(arguments: Namespace, place: Path) -> int:
    from ..agents.mcp_server import make_server
    from ..agents.transports import serve_stdio
    from ..server.run import end_program
    from ..session.replayer_pool import PROCESSES
    from .moves import known_config

    sessions = _open_sessions(_folders(place), known_config(), PROCESSES)
    if sys.stdin.isatty():
        say("waits for a client of MCP at stdin; --install sets one up, Ctrl-C ends it")
    signal.signal(signal.SIGTERM, end_program)
    try:
        return serve_stdio(make_server(sessions, _role(arguments)))
    except BrokenPipeError:  # the client has gone
        raise ReaderLeft from None
    finally:
        sessions.close()


def _serve_http(arguments: Namespace, place: Path) -> int:
    from ..agents.mcp_server import make_server
    from ..agents.transports import PATH, http_app
    from ..server.admission import MAX_BODY, Shield, allowed_bounds
    from ..server.run import address, listening, rules_for, serve
    from .moves import known_config

    rules = rules_for(arguments.host, os.environ.get(TOKEN, "").strip() or None)
    bounds, folders, config = allowed_bounds(), _folders(place), known_config()

    async def open_app(stack: AsyncExitStack) -> Any:
        sessions = _open_sessions(folders, config, bounds.processes)
        stack.callback(sessions.close)
        return Shield(http_app(make_server(sessions, _role(arguments)), MAX_BODY), rules)

    with listening(arguments.host, arguments.port) as sock:

        def started() -> None:
            url = f"{address(sock)}{PATH}"
            if arguments.json:
                emit_json({"url": url, "place": str(place)})
            else:
                print(url)
            sys.stdout.flush()
            say(f"serves {place}; Ctrl-C ends it")

        serve(open_app, bounds.connections, sock, started)
    return 0


def _install(arguments: Namespace, place: Path) -> int:
    """Show a client's entry, and write it if the user agrees; 0 even if they do not."""
    from ..agents.client_config import CLIENTS, own_command, plan, write

    words = [*own_command(), "mcp"]
    words += [str(place.resolve())] if arguments.place else []
    words += [f"--{_role(arguments)}"] if _role(arguments) != "auditor" else []
    found = plan(CLIENTS[arguments.install], words, Path.cwd(), Path.home())
    agreed = False
    if not arguments.json:
        print(visible(found.entry_text), end="", flush=True)
        agreed = _agreed(found)
    if agreed:
        write(found)
    if arguments.json:
        emit_json({"file": str(found.path), "entry": found.entry_text, "written": agreed})
    else:
        say(f"{found.path} {_outcome(found, agreed)}")
    return 0


def _agreed(found: Plan) -> bool:
    """Ask whether to write the entry, at a terminal."""
    if found.new_text is None or not sys.stdin.isatty():
        return False
    if found.replaces is not None:
        say(f"it replaces {found.replaces}")
    print(f"quizlog: write this into {visible(str(found.path))}? [y/N] ", end="", file=sys.stderr)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _outcome(found: Plan, agreed: bool) -> str:
    if found.new_text is None:
        return "has this entry already"
    return "has this entry now" if agreed else "was not changed: this entry belongs there"


PARSERS = {"mcp": _mcp}
"""The parser function of each command."""

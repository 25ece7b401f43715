"""Commands for whole branches: list, rename, note, delete, restore."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict

from ...files.paths import record_path
from ...record.store import RecordFile
from ...session.session import Session
from ...text import one_line
from ..grammar import Parser, add_wait, command
from ..json_output import emit_json
from .moves import make_move, one_move
from .show import branch_lines, narrate_warnings, say


def branches(arguments: Namespace) -> int:
    """`quizlog branches RECORD`."""
    with one_move(arguments) as session:
        narrate_warnings(session)
        stored = RecordFile(session.path).read().all_names
        for name in (each.name for each in session.branches if each.name not in stored):
            hint = f"the next change writes it, or `quizlog migrate {arguments.record}`"
            say(f"note: the branch {name} is not in the file yet; {hint}")
        return _show(session, arguments)


def rename(arguments: Namespace) -> int:
    """`quizlog rename RECORD NAME NEW`."""
    return _changed(arguments, lambda session: session.rename(arguments.name, arguments.new))


def note(arguments: Namespace) -> int:
    """`quizlog note RECORD NAME TEXT`."""
    return _changed(arguments, lambda session: session.note(arguments.name, arguments.text))


def delete(arguments: Namespace) -> int:
    """`quizlog delete RECORD NAME`."""
    code = _changed(arguments, lambda session: session.delete(arguments.name))
    again = one_line(f"quizlog restore {record_path(arguments.record)} {arguments.name}")
    print(f"-- hidden, its answers stay: `{again}` restores it", file=sys.stderr)
    return code


def restore(arguments: Namespace) -> int:
    """`quizlog restore RECORD NAME`."""
    return _changed(arguments, lambda session: session.restore(arguments.name))


def _changed(arguments: Namespace, change: Callable[[Session], object]) -> int:
    with one_move(arguments) as session:
        make_move(session, change, session)
        narrate_warnings(session)
        return _show(session, arguments)


def _show(session: Session, arguments: Namespace) -> int:
    deleted = getattr(arguments, "deleted", False)
    found = session.all_branches if deleted else session.branches
    if arguments.json:
        emit_json({"record": str(session.path), "branches": [asdict(each) for each in found]})
    else:
        print("\n".join(branch_lines(found)))
    return 0


def _branches() -> Parser:
    parser = command("quizlog branches", branches, "List the branches of a record.")
    parser.add_argument("record")
    parser.add_argument("--deleted", action="store_true", help="include deleted branches")
    return parser


def _rename() -> Parser:
    parser = command("quizlog rename", rename, "Give a branch another name.")
    _add_branch(parser)
    parser.add_argument("new", metavar="NEW")
    return parser


def _note() -> Parser:
    about = 'Set the note of a branch; an empty one ("") removes it.'
    parser = command("quizlog note", note, about)
    _add_branch(parser)
    parser.add_argument("text", metavar="TEXT")
    return parser


def _delete() -> Parser:
    about = (
        "Hide a branch. Its answers stay in the record, and so do the branches that fork from it."
    )
    parser = command("quizlog delete", delete, about)
    _add_branch(parser)
    return parser


def _restore() -> Parser:
    parser = command("quizlog restore", restore, "Show a deleted branch again.")
    _add_branch(parser)
    return parser


def _add_branch(parser: Parser) -> None:
    parser.add_argument("record")
    parser.add_argument("name", metavar="NAME")
    add_wait(parser)


PARSERS = {
    "branches": _branches,
    "rename": _rename,
    "note": _note,
    "delete": _delete,
    "restore": _restore,
}
"""The parser function of each command."""

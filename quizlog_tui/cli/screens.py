"""Opens the screens. Loads Textual only when it is needed."""

from __future__ import annotations

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import UsageError
from ..files.durable import write_text
from ..files.paths import record_path
from .garbage import search_paused
from .grammar import Parser, add_force, command, refuse_existing, screen_size
from .json_output import emit_json

_WEB_DRIVER = "textual.drivers.web_driver:WebDriver"
"""The driver with which textual-serve starts a program; it needs no terminal."""
_FORMATS = (".svg", ".txt")
"""The formats of screenshots, by the suffix of the file."""


def tui(arguments: Namespace) -> int:
    """`quizlog tui [RECORD]`, a bundle, or a file of episodes."""
    if arguments.record and arguments.record.endswith(".jsonl"):
        path = Path(arguments.record)
        return browse(path, read_only=arguments.read_only, allow=arguments.allow)
    from ..files.regular_file import is_archive

    if arguments.record and is_archive(Path(arguments.record)):
        return _look_into_bundle(arguments)
    record = record_path(arguments.record) if arguments.record else None
    return open_screens(record, read_only=arguments.read_only, allow=arguments.allow)


def open_screens(
    record: Path | None = None, *, read_only: bool = False, allow: Collection[str] = ()
) -> int:
    """Open a record, a folder of records, or the records here.

    Args:
        record: The record or folder; None for those here or the examples.
        read_only: Open it in audit mode.
        allow: What is allowed in audit mode.
    """
    _check_terminal()
    with _loading():
        from ..tui.run import run

    return run(record, read_only=read_only, allow=allow, folder=_served_folder(record))


def _served_folder(place: Path | None) -> Path | None:
    """The folder whose files a browser may be shown: of a file, the one it is in."""
    if os.environ.get("TEXTUAL_DRIVER") != _WEB_DRIVER:
        return None
    place = place or Path()
    return place if place.is_dir() else place.parent


def _look_into_bundle(arguments: Namespace) -> int:
    """Show the record of a bundle, unpacked for as long as one looks.

    Raises:
        RecordError: The bundle is damaged, or no bundle.
    """
    from ..files.scratch import scratch_folder
    from ..proof.bundle.check import unpack_bundle
    from ..session.audit import Audit

    path = Path(arguments.record)
    _check_terminal()
    with scratch_folder("bundle") as folder:
        record = unpack_bundle(path, folder)
        with _loading():
            from ..tui.run import run

        return run(
            record,
            read_only=arguments.read_only,
            allow=arguments.allow,
            folder=_served_folder(folder),
            audit=Audit(f"{path.name} is a bundle", frozenset({"exports"})),
        )


def browse(path: Path, *, read_only: bool = False, allow: Collection[str] = ()) -> int:
    """Open a file of episodes.

    Args:
        path: The file.
        read_only: Open it in audit mode.
        allow: What is allowed in audit mode.

    Raises:
        EpisodeError: It cannot be read.
    """
    from ..episodes.read.index import EpisodeFile

    file = EpisodeFile(path)
    try:
        _check_terminal()
        with _loading():
            from ..tui.run import run

        folder = _served_folder(path)
        return run(None, read_only=read_only, allow=allow, folder=folder, episodes=file)
    finally:
        file.close()


def demo(arguments: Namespace) -> int:
    """`quizlog demo`."""
    _check_terminal()
    with _loading():
        from ..tui.run import run_demo

    return run_demo()


@contextmanager
def _loading() -> Iterator[None]:
    """Load the screens without garbage collection, since what they create stays to the end.

    These objects are also excluded later, because a pass through them would delay a frame now and
    then.
    """
    with search_paused():
        try:
            yield
        finally:
            gc.freeze()


def _check_terminal() -> None:
    if os.environ.get("TEXTUAL_DRIVER") == _WEB_DRIVER:
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        hint = "in a pipe use `quizlog RECORD [ANSWER]`"
        raise UsageError("the screens need a terminal", hint=hint)
    if os.environ.get("TERM") == "dumb":
        hint = (
            "use `quizlog RECORD [ANSWER]`, or set TERM to the right value, such as xterm-256color"
        )
        raise UsageError("this terminal cannot show the screens: TERM is dumb", hint=hint)


def screenshot(arguments: Namespace) -> int:
    """`quizlog screenshot RECORD [K]`."""
    from ..tui.picture import picture
    from ..tui.screenshot import PICTURE
    from ..tui.themes.ascii_signs import shows_signs, to_ascii

    size = screen_size(arguments.size)
    if arguments.output:
        _check_format(Path(arguments.output))
        refuse_existing(Path(arguments.output), arguments)
    shown = picture(
        record_path(arguments.record),
        arguments.step,
        size=size,
        theme=arguments.theme,
        keys=[key for key in arguments.keys.split(",") if key],
        screen=arguments.screen,
    )
    if arguments.output:
        path = Path(arguments.output)
        write_text(path, shown.svg if path.suffix.lower() == ".svg" else shown.text, PICTURE)
    if arguments.json:
        emit_json({"text": shown.text, "svg": shown.svg})
    elif not arguments.output:
        print(shown.text if shows_signs(sys.stdout) else to_ascii(shown.text), end="")
    return 0


def _check_format(path: Path) -> None:
    """Raise a `UsageError` for a file of a format that screenshots are not written in."""
    if path.suffix and path.suffix.lower() not in _FORMATS:
        message = f"a screenshot cannot be written as {path.suffix}"
        raise UsageError(message, where=str(path), hint=f"choose {' or '.join(_FORMATS)}")


def _tui() -> Parser:
    parser = command("quizlog tui", tui, "Open the screens.")
    parser.add_argument(
        "record",
        nargs="?",
        help="a record, a folder of records, a bundle, or FILE.jsonl of episodes",
    )
    add_read_only(parser)
    return parser


def add_read_only(parser: Parser) -> None:
    """Add the options that lock the screens."""
    from ..session.audit import ALLOWABLE

    parser.add_argument(
        "--read-only", action="store_true", help="lock everything: only look, change nothing"
    )
    parser.add_argument(
        "--allow",
        choices=ALLOWABLE,
        action="append",
        default=[],
        help="what may be written all the same: notes and verdicts",
    )


def _screenshot() -> Parser:
    from ..tui.screen_names import SCREENS

    about = (
        "Draw a screen as text or SVG, without a terminal. The record is not changed. Times are\n"
        'frozen, so that pictures are alike: all is "just now", and every run took 0 ms.'
    )
    parser = command("quizlog screenshot", screenshot, about)
    parser.add_argument(
        "record", help="a record; a folder for the library, FILE.jsonl for the episodes"
    )
    parser.add_argument("step", metavar="K", type=int, nargs="?", help="default: the pointer")
    parser.add_argument("--size", default="80x24", help="columns x rows, default 80x24")
    parser.add_argument("--theme", default="quizlog-dark", help="default quizlog-dark")
    parser.add_argument(
        "--screen", choices=SCREENS, default="player", help=f"{', '.join(SCREENS)}; default player"
    )
    parser.add_argument(
        "--keys",
        metavar="KEY,KEY",
        default="",
        help="press these keys first, such as escape,h,slash",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="FILE.svg or FILE.txt")
    add_force(parser)
    return parser


def _demo() -> Parser:
    about = "A guided first run on a shipped example: twelve things to try, a minute each."
    return command("quizlog demo", demo, about)


PARSERS = {"tui": _tui, "demo": _demo, "screenshot": _screenshot}
"""The parser function of each command."""

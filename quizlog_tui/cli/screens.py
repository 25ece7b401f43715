"""Commands that open the screens or draw them. They load Textual only when it is needed."""

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
from .grammar import Parser, add_force, command, refuse_existing, screen_size
from .streams import emit_json, search_paused

_WEB_DRIVER = "textual.drivers.web_driver:WebDriver"
"""The driver with which textual-serve starts a program; it needs no terminal."""

_FORMATS = (".svg", ".txt")
"""The formats of screenshots, by the suffix of the file."""

_CREATED = 5_000
"""Objects created, less those dropped, between two passes of the garbage collection.

With the 700 of Python 3.11, every 26th key waits for a pass through all that was created since the
start: 30 ms, with a long record 60 ms. With this number, such a pass comes once in some 600 keys.
"""


def _run_tui(arguments: Namespace) -> int:
    """`quizlog tui [RECORD]`, a bundle, or a file of episodes."""
    if arguments.record and arguments.record.endswith(".jsonl"):
        path = Path(arguments.record)
        return browse(path, read_only=arguments.read_only, allow=arguments.allow)
    from ..files.regular_file import is_archive

    if arguments.record and is_archive(Path(arguments.record)):
        return _look_into_bundle(arguments)
    record = record_path(arguments.record) if arguments.record else None
    return open_screens(record, read_only=arguments.read_only, allow=arguments.allow)


def _tui() -> Parser:
    parser = command(
        "tui",
        _run_tui,
        group="look",
        arguments="[RECORD]",
        about="open the screens; so does quizlog alone",
        details="Open the screens.",
        example="adventure",
    )
    parser.add_argument(
        "record",
        nargs="?",
        help="a record, a folder of records, a bundle, or FILE.jsonl of episodes",
    )
    _add_read_only(parser)
    return parser


def _add_read_only(parser: Parser) -> None:
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
        from ..tui.app import run

    return run(record, read_only=read_only, allow=allow, folder=_served_folder(record))


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
            from ..tui.app import run

        folder = _served_folder(path)
        return run(None, read_only=read_only, allow=allow, folder=folder, episodes=file)
    finally:
        file.close()


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
            from ..tui.app import run

        return run(
            record,
            read_only=arguments.read_only,
            allow=arguments.allow,
            folder=_served_folder(folder),
            audit=Audit(f"{path.name} is a bundle", frozenset({"exports"})),
        )


def _served_folder(place: Path | None) -> Path | None:
    """The folder whose files a browser may be shown: of a file, the one it is in."""
    if os.environ.get("TEXTUAL_DRIVER") != _WEB_DRIVER:
        return None
    place = place or Path()
    return place if place.is_dir() else place.parent


def _run_demo(arguments: Namespace) -> int:
    """`quizlog demo`."""
    _check_terminal()
    with _loading():
        from ..tui.app import run_demo

    return run_demo()


def _demo() -> Parser:
    return command(
        "demo",
        _run_demo,
        group="look",
        about="a guided first run; no network, no key",
        details="A guided first run on a shipped example: twelve things to try, a minute each.",
    )


@contextmanager
def _loading() -> Iterator[None]:
    """Load the screens without garbage collection, since what they create stays to the end.

    These objects are also excluded later, because a pass through them would delay a frame now and
    then; and passes become rare.
    """
    with search_paused():
        try:
            yield
        finally:
            gc.freeze()
            gc.set_threshold(_CREATED)


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


def _run_screenshot(arguments: Namespace) -> int:
    """`quizlog screenshot RECORD [K]`."""
    from ..tui.picture import picture
    from ..tui.screenshot import PICTURE
    from ..tui.theming import shows_signs, to_ascii

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


def _screenshot() -> Parser:
    from ..tui.keys.actions import SCREENS

    details = (
        "Draw a screen as text or SVG, without a terminal. The record is not changed. Times are\n"
        'frozen, so that pictures are alike: all is "just now", and every run took 0 ms.'
    )
    parser = command(
        "screenshot",
        _run_screenshot,
        group="look",
        arguments="RECORD [K]",
        about="draw a screen as text or SVG",
        details=details,
        example="adventure 6 -o adventure.svg",
    )
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


def _check_format(path: Path) -> None:
    """Raise a `UsageError` for a file of a format that screenshots are not written in."""
    if path.suffix and path.suffix.lower() not in _FORMATS:
        message = f"a screenshot cannot be written as {path.suffix}"
        raise UsageError(message, where=str(path), hint=f"choose {' or '.join(_FORMATS)}")


def _run_cast(arguments: Namespace) -> int:
    """`quizlog cast RECORD -o FILE`."""
    from ..tui.picture import film, read_keys
    from ..tui.screenshot import PICTURE, asciicast, moving_svg

    forms = {".cast": asciicast, ".svg": moving_svg}
    path = Path(arguments.output)
    if path.suffix not in forms:
        raise UsageError(
            "is neither .cast nor .svg", where=str(path), hint="name it x.cast or x.svg"
        )
    refuse_existing(path, arguments)
    presses = read_keys(Path(arguments.keys)) if arguments.keys else None
    taken = film(
        record_path(arguments.record),
        presses,
        size=screen_size(arguments.size),
        theme=arguments.theme,
    )
    write_text(path, forms[path.suffix](taken), PICTURE)
    if arguments.json:
        seconds, frames = taken.starts[-1], len(taken.frames)
        emit_json({"file": str(path), "frames": frames, "seconds": seconds})
    else:
        print(path)
    return 0


def _cast() -> Parser:
    details = (
        "Write an animation of the player on a record: an asciicast for asciinema, or an SVG that\n"
        "moves by CSS only. The record is not changed. The same record gives the same bytes."
    )
    parser = command(
        "cast",
        _run_cast,
        group="look",
        arguments="RECORD -o FILE",
        about="make an animation: .cast or .svg",
        details=details,
        example="adventure -o adventure.cast",
    )
    parser.add_argument("record")
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="FILE.cast or FILE.svg"
    )
    parser.add_argument(
        "--keys",
        metavar="FILE",
        help="a file with a key in each line, and the seconds to show its result; "
        "default: from the first step to the last",
    )
    parser.add_argument("--size", default="100x30", help="columns x rows, default 100x30")
    parser.add_argument("--theme", default="quizlog-dark", help="default quizlog-dark")
    add_force(parser)
    return parser


PARSERS = {"tui": _tui, "demo": _demo, "screenshot": _screenshot, "cast": _cast}
"""The parser function of each command."""

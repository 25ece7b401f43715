"""`quizlog cast`: a film of a record on the screen, without a terminal."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from ..errors import UsageError
from ..files.durable import write_text
from ..files.paths import record_path
from .grammar import Parser, add_force, command, refuse_existing, screen_size
from .json_output import emit_json


def cast(arguments: Namespace) -> int:
    """`quizlog cast RECORD -o FILE`."""
    from ..tui.draw.cast import asciicast, moving_svg
    from ..tui.recording import film, read_keys
    from ..tui.screenshot import PICTURE

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
    about = (
        "Write an animation of the player on a record: an asciicast for asciinema, or an SVG that\n"
        "moves by CSS only. The record is not changed. The same record gives the same bytes."
    )
    parser = command("quizlog cast", cast, about)
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


PARSERS = {"cast": _cast}
"""The parser function of each command."""

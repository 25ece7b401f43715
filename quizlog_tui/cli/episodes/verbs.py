"""`quizlog episodes`: training data from records, checked, counted, exported."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ...config import load_config
from ...errors import EpisodeError, UsageError
from ...files.paths import record_path
from ...text import one_line, plural, told_once
from ..extras import needs
from ..json_output import emit_json
from ..progress import ProgressLine
from ..streams import tell
from .models import solver_of

if TYPE_CHECKING:
    from ...episodes.build.make import BuildResult
    from ...episodes.read.check import ReportedFinding

SHOWN = 20
"""Maximum findings shown of each kind; the JSON contains all."""


def build(arguments: Namespace) -> int:
    """`quizlog episodes build RECORD... -o FILE`."""
    from ...episodes.build.build import BuildSettings
    from ...episodes.build.make import make
    from ...replay.process.limits import user_limits
    from ...replay.replayer import Replayer

    if arguments.runs < 0:
        raise UsageError(f"--runs {arguments.runs}: cannot be negative", hint="0 asks for none")
    if arguments.queue and not arguments.runs:
        raise UsageError("--queue without --runs", hint="say how many to ask for: --runs N")
    if arguments.branch is not None and len(arguments.records) > 1:
        raise UsageError("--branch is of one record", hint="name that record alone")
    settings = BuildSettings(derive=not arguments.no_derive, retries=arguments.keep_retries)
    output = Path(arguments.output)
    progress, limits = ProgressLine(), user_limits(load_config()[0])
    try:
        with Replayer(limits, checkpoints=0) as replayer:
            made = make(
                [record_path(name) for name in arguments.records],
                output,
                settings,
                progress,
                replayer=replayer,
                branch=arguments.branch,
                solver=solver_of(arguments, limits) if arguments.runs else None,
                runs=arguments.runs,
            )
    finally:
        progress.end()
    _tell_made(made, output, as_json=arguments.json)
    harmless = EpisodeError if made.episodes else ()
    return max((e.exit_code for e in made.skipped if not isinstance(e, harmless)), default=0)


def _tell_made(made: BuildResult, output: Path, *, as_json: bool) -> None:
    tell("left out", (error.finding for error in made.skipped), "record")
    reasons = dict(made.reasons.most_common())
    if as_json:
        skipped = [error.to_dict() for error in made.skipped]
        names = ("episodes", "verified", "added", "known", "lowered", "kept")
        counts = {name: getattr(made, name) for name in names}
        emit_json({"file": str(output)} | counts | {"reasons": reasons, "skipped": skipped})
        return
    if made.lowered:
        what = f"{plural(made.lowered, 'episode')} no longer verified"
        print(f"quizlog: note: {what}", file=sys.stderr)
    if made.kept:
        what = f"{plural(made.kept, 'episode')} verified earlier by other runs and left unchanged"
        hint = "name those runs' records too, or remove its line"
        print(f"quizlog: note: {what} ({hint})", file=sys.stderr)
    for reason, count in reasons.items():
        print(f"quizlog: not verified: {reason} ({count}x)", file=sys.stderr)
    print(
        f"{one_line(str(output))}: {plural(made.episodes, 'episode')}, "
        f"{made.verified} verified ({made.added} new, {made.known} already there)"
    )


def check(arguments: Namespace) -> int:
    """`quizlog episodes check FILE`; exit code 3 if a line breaks a rule."""
    needs("episodes", "pydantic")
    from ...episodes.read.check import check_file

    path = Path(arguments.file)
    with share_of(path, "checking") as advanced:
        report = check_file(path, advanced)
    if arguments.json:
        emit_json(report.to_dict())
    else:
        _tell(report.errors, report.error_count, "error", path)
        _tell(report.warnings, report.warning_count, "warning", path)
        print(
            f"{one_line(str(path))}: {plural(report.lines, 'episode')}, "
            f"{report.verified} verified, {plural(report.error_count, 'error')}, "
            f"{plural(report.warning_count, 'warning')}"
        )
    return 0 if report.ok else 3


@contextmanager
def share_of(file: Path, doing: str) -> Iterator[Callable[[int], None]]:
    """Show how much of a file is read, given the number of bytes."""
    progress, size = ProgressLine(), file.stat().st_size if file.is_file() else 0
    try:
        yield lambda done: progress(doing, 100 * done // max(size, 1), 100)
    finally:
        progress.end()


def _tell(found: list[ReportedFinding], count: int, kind: str, path: Path) -> None:
    every = [
        (f"line {one['line']}", f"{one['path']} {one['message']} [{one['code']}]".lstrip())
        for one in found
    ]
    shown = list(islice(told_once(every, "line"), SHOWN))
    for place, reason in shown:
        print(one_line(f"{path.name}:{place.removeprefix('line ')}: {kind}: {reason}"))
    in_groups = {reason for place, reason in shown if not place.startswith("line ")}
    told = sum(one in shown or one[1] in in_groups for one in every)
    if count > told:
        print(f"... and {plural(count - told, f'more {kind}')}; --json lists them")


def browse(arguments: Namespace) -> int:
    """`quizlog episodes browse FILE`."""
    from ..screens import browse

    if arguments.json:
        raise UsageError(
            "browse has no JSON output", hint="use `quizlog episodes stats FILE --json`"
        )
    return browse(Path(arguments.file))


def stats(arguments: Namespace) -> int:
    """`quizlog episodes stats FILE`."""
    from ...episodes.read.stats import bars, stats_of

    path = Path(arguments.file)
    with share_of(path, "counting") as advanced:
        figures = stats_of(path, advanced).to_dict()
    if arguments.json:
        emit_json(figures)
        return 0
    rate = figures["verified_rate"]
    share = "" if rate is None else f" ({_percent(rate)})"
    print(f"{plural(figures['episodes'], 'episode')}, {figures['verified']} verified{share}")
    runs = plural(figures["consistency_runs"], "consistency run")
    print(f"{plural(figures['questions'], 'question')}, {runs}")
    for title, key in (
        ("majority (runs that agree, of those that answered)", "majority"),
        ("difficulty", "difficulty"),
        ("accepted answers", "steps"),
        ("conversation, characters from", "characters"),
        ("not verified because", "reasons"),
    ):
        for line in bars(f"\n{title}", figures[key]):
            print(line if line.startswith("\n") else one_line(line))
    return 0


def _percent(rate: float) -> str:
    """A share in percent; 0 and 100 only if it is none or all."""
    return f"{min(max(rate, 0.001), 0.999):.1%}" if 0 < rate < 1 else f"{rate:.0%}"

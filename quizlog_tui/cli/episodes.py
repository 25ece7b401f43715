"""`quizlog episodes`: training data from records: built, checked, counted, exported."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import load_config
from ..episodes.read.index import USUAL
from ..errors import EpisodeError, UsageError
from ..files.paths import record_path
from ..text import one_line, plural, told_once
from .grammar import Parser, add_force, command, refuse_existing
from .streams import ProgressLine, emit_json, needs, say, tell

if TYPE_CHECKING:
    from ..episodes.build.make import BuildResult
    from ..episodes.read.check import ReportedFinding
    from ..episodes.runs.asking import Solver, SolveRun
    from ..replay.process.process import Limits
    from ..solver.solve import Panel

_MOST_SHOWN = 20
"""Maximum findings shown of each kind; the JSON contains all."""

_OF_FORMS = {
    "shares": ("splits",),
    "seed": ("splits",),
    "scripts": ("verifiers", "verifiers-v0"),
}
"""The formats to which each of these options applies."""


def _episodes() -> Parser:
    parser = command(
        "episodes",
        _which,
        group="data",
        arguments="VERB ...",
        about="training data: build, check, browse, export ...",
        details="Training data: episodes whose `verified: true` is literally true.",
        example="build adventure -o episodes.jsonl",
        kind=_EpisodesParser,
    )
    verbs = parser.add_subparsers(metavar="VERB", title="verbs")
    _add_build(_verb(verbs, "build", _build, "Make episodes from records."))
    about = "Check every line; exit code 3 if a rule is broken."
    _verb(verbs, "check", _check, about).add_argument("file")
    _verb(verbs, "browse", _browse, "Browse a file on the screen.").add_argument("file")
    _verb(verbs, "stats", _stats, "Count what is in a file.").add_argument("file")
    _add_export(_verb(verbs, "export", _export, "Write a format that trainers read."))
    return parser


class _EpisodesParser(Parser):
    """Answers the words of a format that was never released."""

    def parse_words(self, words: Sequence[str]) -> Namespace:
        """Parse the words of the command."""
        if self.first_argument(words) == "upgrade" or "--lenient" in words:
            hint = "`quizlog episodes check FILE` names what is wrong, `build` makes the lines anew"
            raise UsageError("there is only one format of episodes, and nothing older", hint=hint)
        return super().parse_words(words)


def _which(arguments: Namespace) -> int:
    raise UsageError("which verb?", hint="quizlog episodes build|check|browse|stats|export")


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


def _build(arguments: Namespace) -> int:
    """`quizlog episodes build RECORD... -o FILE`."""
    from ..episodes.build.build import BuildSettings
    from ..episodes.build.make import make
    from ..replay.process.process import user_limits
    from ..replay.replayer import Replayer

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
                solver=_solver_of(arguments, limits) if arguments.runs else None,
                runs=arguments.runs,
            )
    finally:
        progress.end()
    _tell_made(made, output, as_json=arguments.json)
    harmless = EpisodeError if made.episodes else ()
    return max((e.exit_code for e in made.skipped if not isinstance(e, harmless)), default=0)


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


def _solver_of(arguments: Namespace, limits: Limits) -> Solver:
    """Choose who answers runs: the hosts of the task queue, or models asked from here.

    Args:
        arguments: The parsed arguments.
        limits: The limits of a script.

    Raises:
        UsageError: A library is missing, or options contradict each other.
    """
    if not arguments.queue:
        return _models_solver(arguments, limits)
    for word in ("models", "replay", "unsafe_local"):
        if getattr(arguments, word):
            flag = "--" + word.replace("_", "-")
            hint = f"the hosts of the queue ask their own models: leave {flag} out"
            raise UsageError(f"--queue and {flag} cannot be combined", hint=hint)
    return _queue_solver(arguments, limits)


def _queue_solver(arguments: Namespace, limits: Limits) -> Solver:
    needs("tasks", "dotenv", "dbos", "psycopg")
    from ..episodes.runs.asking import Solver, runs_folder
    from ..episodes.runs.model_runs import CONCURRENT_RUNS, by_queue
    from ..replay.replayer import Replayer
    from ..solver.redaction import Redaction
    from ..webquiz.task.settings import read_settings

    settings = read_settings(Path(arguments.env) if arguments.env else None)
    folder, clean = runs_folder(Path(arguments.output)), Redaction(settings.secrets)

    @asynccontextmanager
    async def open_solver() -> AsyncIterator[SolveRun]:
        from ..queue.client import connected

        with Replayer(limits) as replayer:
            async with connected(settings.database, clean, _idle) as client:
                yield by_queue(client, folder, replayer)

    return Solver(open_solver, CONCURRENT_RUNS)


def _idle() -> None:
    _note("no host takes runs from the queue: is `quizlog serve` running with it?")


def _models_solver(arguments: Namespace, limits: Limits) -> Solver:
    """The models to ask: from the options, the settings or recorded replies."""
    needs("solver", "httpx", "pydantic", "dotenv")
    from ..episodes.runs.asking import Solver
    from ..sandbox import run_code
    from ..solver.models.choice import Choice, chosen_panel
    from .models import ask_for_programs

    names = (arguments.models, arguments.replay)
    choice = Choice(*(Path(name) if name else None for name in names))
    ask_for_programs(choice, arguments)
    run = partial(run_code, unsafe_local=arguments.unsafe_local)
    folders = {record_path(name).parent for name in arguments.records}
    beside = folders.pop() if len(folders) == 1 else None

    @asynccontextmanager
    async def open_solver() -> AsyncIterator[SolveRun]:
        from ..episodes.runs.model_runs import by_models

        async with chosen_panel(choice, run, record_folder=beside, note=_note) as panel:
            _check_enough(panel, arguments.runs)
            yield by_models(panel, limits)

    return Solver(open_solver)


def _note(text: str) -> None:
    say(f"note: {text}")


def _check_enough(panel: Panel, runs: int) -> None:
    """Refuse more runs than recorded replies: a reply played twice is not a second run."""
    if not panel.label:
        return
    _note(panel.label)
    count = len(panel.clients)
    if runs > count:
        hint = f"ask for {count} at most, or configure models"
        raise UsageError(f"--runs {runs}: replies of {count} models were recorded", hint=hint)


def _check(arguments: Namespace) -> int:
    """`quizlog episodes check FILE`; exit code 3 if a line breaks a rule."""
    needs("episodes", "pydantic")
    from ..episodes.read.check import check_file

    path = Path(arguments.file)
    with _share_of(path, "checking") as advanced:
        report = check_file(path, advanced)
    if arguments.json:
        emit_json(report.to_dict())
    else:
        _tell_findings(report.errors, report.error_count, "error", path)
        _tell_findings(report.warnings, report.warning_count, "warning", path)
        print(
            f"{one_line(str(path))}: {plural(report.lines, 'episode')}, "
            f"{report.verified} verified, {plural(report.error_count, 'error')}, "
            f"{plural(report.warning_count, 'warning')}"
        )
    return 0 if report.ok else 3


def _tell_findings(found: list[ReportedFinding], count: int, kind: str, path: Path) -> None:
    every = [
        (f"line {one['line']}", f"{one['path']} {one['message']} [{one['code']}]".lstrip())
        for one in found
    ]
    shown = list(islice(told_once(every, "line"), _MOST_SHOWN))
    for place, reason in shown:
        print(one_line(f"{path.name}:{place.removeprefix('line ')}: {kind}: {reason}"))
    in_groups = {reason for place, reason in shown if not place.startswith("line ")}
    told = sum(one in shown or one[1] in in_groups for one in every)
    if count > told:
        print(f"... and {plural(count - told, f'more {kind}')}; --json lists them")


@contextmanager
def _share_of(file: Path, doing: str) -> Iterator[Callable[[int], None]]:
    """Show how much of a file is read, given the number of bytes."""
    progress, size = ProgressLine(), file.stat().st_size if file.is_file() else 0
    try:
        yield lambda done: progress(doing, 100 * done // max(size, 1), 100)
    finally:
        progress.end()


def _browse(arguments: Namespace) -> int:
    """`quizlog episodes browse FILE`."""
    from .screens import browse

    if arguments.json:
        raise UsageError(
            "browse has no JSON output", hint="use `quizlog episodes stats FILE --json`"
        )
    return browse(Path(arguments.file))


def _stats(arguments: Namespace) -> int:
    """`quizlog episodes stats FILE`."""
    from ..episodes.read.stats import bars, stats_of

    path = Path(arguments.file)
    with _share_of(path, "counting") as advanced:
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


def _export(arguments: Namespace) -> int:
    """`quizlog episodes export FILE --to FORM`."""
    file = Path(arguments.file)
    output = Path(arguments.output) if arguments.output else None
    if arguments.json and output is None:
        raise UsageError("--json needs a file for the rows", hint="name it with -o")
    _check_fitting(arguments)
    if output is not None:
        _check_free(file, output, arguments)
    if arguments.to == "splits":
        told = _write_splits(file, output, arguments)
    else:
        from dataclasses import asdict

        from ..episodes.export import export as write

        scripts = Path(arguments.scripts) if arguments.scripts else None
        with _share_of(file, "exporting") as advanced:
            told = asdict(
                write(
                    file,
                    arguments.to,
                    output,
                    scripts,
                    everything=arguments.all,
                    advanced=advanced,
                )
            )
    if arguments.json:
        emit_json({"form": arguments.to, "output": str(output)} | told)
    else:
        _narrate_export(told)
    return 0


def _add_export(parser: Parser) -> None:
    from ..episodes.export import FORMS

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


def _check_free(file: Path, output: Path, arguments: Namespace) -> None:
    from ..episodes.export import check_apart

    check_apart(file, output)
    refuse_existing(output, arguments)


def _check_fitting(arguments: Namespace) -> None:
    for name, forms in _OF_FORMS.items():
        if getattr(arguments, name) is not None and arguments.to not in forms:
            hint = f"leave it out, or export --to {' or '.join(forms)}"
            raise UsageError(f"--{name} does not apply to {arguments.to!r}", hint=hint)
    if arguments.all and arguments.to == "splits":
        raise UsageError("splits include all episodes", hint="leave --all out")


def _write_splits(file: Path, output: Path | None, arguments: Namespace) -> dict[str, Any]:
    from ..episodes.export import check_apart
    from ..episodes.read.splits import PARTS, split

    if output is None:
        raise UsageError("splits are written to a folder", hint="name it with -o")
    for part in PARTS:
        check_apart(file, output / f"{part}.jsonl")
    wanted = arguments.shares or "80/10/10"
    try:
        shares = [float(part) for part in wanted.split("/")]
    except ValueError:
        shares = []
    if len(shares) != 3 or min(shares) < 0 or not 0 < sum(shares) < float("inf"):
        hint = "three numbers for train, validation and test, such as 80/10/10"
        raise UsageError(f"--shares {wanted!r} is not a split", hint=hint)
    return split(file, output, [share / sum(shares) for share in shares], arguments.seed or 0)


def _narrate_export(told: dict[str, Any]) -> None:
    if "leaks" in told:
        parts = ", ".join(f"{name} {count}" for name, count in told["episodes"].items())
        print(f"episodes: {parts}", file=sys.stderr)
        for kind, count in told["leaks"].items():
            if count:
                what = plural(count, kind.replace("_", " "))
                print(f"quizlog: note: {what} in more than one part", file=sys.stderr)
        return
    rows = plural(told["rows"], "row")
    print(f"{rows} from {plural(told['episodes'], 'episode')}", file=sys.stderr)
    if told["left_out"]:
        count = plural(told["left_out"], "episode")
        print(f"left out: {count} not verified (--all takes them too)", file=sys.stderr)
    for name, noun, what in (
        ("scripts", "script", "copied"),
        ("not_found", "script", "not found, and not copied"),
        ("others", "other file", "left unchanged in the folder"),
    ):
        if told[name]:
            print(f"quizlog: note: {plural(told[name], noun)} {what}", file=sys.stderr)
    if told["empty"]:
        count = plural(told["empty"], "episode")
        print(f"left out: {count} with no content for this format", file=sys.stderr)


PARSERS = {"episodes": _episodes}
"""The parser function of each command."""

"""`quizlog episodes export`: formats that trainers read."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from ...errors import UsageError
from ...text import plural
from ..grammar import refuse_existing
from ..json_output import emit_json
from .verbs import share_of


def export(arguments: Namespace) -> int:
    """`quizlog episodes export FILE --to FORM`."""
    file = Path(arguments.file)
    output = Path(arguments.output) if arguments.output else None
    if arguments.json and output is None:
        raise UsageError("--json needs a file for the rows", hint="name it with -o")
    _check_fitting(arguments)
    if output is not None:
        _check_free(file, output, arguments)
    if arguments.to == "splits":
        told = _split(file, output, arguments)
    else:
        from dataclasses import asdict

        from ...episodes.export.export import export as write

        scripts = Path(arguments.scripts) if arguments.scripts else None
        with share_of(file, "exporting") as advanced:
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


def _check_free(file: Path, output: Path, arguments: Namespace) -> None:
    from ...episodes.export.export import check_apart

    check_apart(file, output)
    refuse_existing(output, arguments)


_OF_FORMS = {
    "shares": ("splits",),
    "seed": ("splits",),
    "scripts": ("verifiers", "verifiers-v0"),
}
"""The formats to which each of these options applies."""


def _check_fitting(arguments: Namespace) -> None:
    for name, forms in _OF_FORMS.items():
        if getattr(arguments, name) is not None and arguments.to not in forms:
            hint = f"leave it out, or export --to {' or '.join(forms)}"
            raise UsageError(f"--{name} does not apply to {arguments.to!r}", hint=hint)
    if arguments.all and arguments.to == "splits":
        raise UsageError("splits include all episodes", hint="leave --all out")


def _split(file: Path, output: Path | None, arguments: Namespace) -> dict[str, Any]:
    from ...episodes.export.export import check_apart
    from ...episodes.read.splits import PARTS, split

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

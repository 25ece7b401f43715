"""Packs a record into a bundle, and checks bundles for `quizlog verify`."""

from __future__ import annotations

import os
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import DifferenceError, UsageError
from ..files.durable import FileKind, asked_before, check_place, write_bytes
from ..files.paths import record_path
from ..proof.bundle.check import BundleReport, verify_bundle
from ..proof.bundle.pack import PackedBundle, missing_files, pack
from ..proof.bundle.sign import SIGNATURE, sign, signature_path
from ..text import one_line, plural, told_once
from .grammar import Parser, add_redact, command
from .streams import emit_json, noting_progress, private_data, tell_private

_BUNDLE = FileKind("a bundle", asked_before)
"""A new bundle: none is replaced."""


def _run_bundle(arguments: Namespace) -> int:
    """`quizlog bundle RECORD -o FILE`."""
    path, target = record_path(arguments.record), Path(arguments.output)
    check_place(target, _BUNDLE)
    if os.path.lexists(target):
        raise UsageError("exists already", where=str(target), hint="choose another name with -o")
    if arguments.sign:
        check_place(signature_path(target), SIGNATURE)
    made = pack(path, map(Path, arguments.add), redact=arguments.redact)
    remark = write_bytes(target, made.data, _BUNDLE)
    signed: Path | None = None
    try:
        signed = sign(target, Path(arguments.sign)) if arguments.sign else None
        report = _complete(target, path, made.names)
    except BaseException:
        target.unlink()
        if signed is not None:
            signed.unlink()
        raise
    with noting_progress(lambda: f"{target} is written"):
        if arguments.json:
            signature = {"signature": signed and str(signed)}
            emit_json(_data(target, made) | signature | {"verify": report.to_dict()})
        else:
            _show(target, made, report, redacted=arguments.redact)
    if remark:
        print(f"quizlog: note: {one_line(str(target))}: {remark}", file=sys.stderr)
    return _code(report)


def _bundle() -> Parser:
    details = (
        "Pack a record with its script, the files that the script mentions, versions and a hash\n"
        "chain over the steps. `quizlog verify FILE` checks it, offline. Lists what in it names\n"
        "this machine or looks like a secret; --redact removes that from stderr and notes.\n"
        "Texts, answers and files are evidence and stay."
    )
    parser = command(
        "bundle",
        _run_bundle,
        group="prove",
        arguments="RECORD -o FILE",
        about="pack a record, to verify it elsewhere",
        details=details,
        example="adventure -o adventure.zip",
    )
    parser.add_argument("record")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the bundle")
    parser.add_argument(
        "--add",
        metavar="FILE",
        nargs="+",
        action="extend",
        default=[],
        help="more files that the script needs; may be repeated",
    )
    add_redact(parser)
    parser.add_argument("--sign", metavar="KEY", help="sign with this SSH key, to FILE.sig")
    return parser


def _data(target: Path, made: PackedBundle) -> dict[str, Any]:
    gone = private_data(made.removed, removed=True)
    return {
        "bundle": str(target),
        "files": list(made.names),
        "head": made.head,
        "private": [*gone, *private_data(made.private, removed=False)],
        "left_out": list(made.left_out),
    }


def _show(target: Path, made: PackedBundle, report: BundleReport, *, redacted: bool) -> None:
    print(f"{one_line(str(target))}: {plural(len(made.names), 'file')}, head {made.head}")
    for name in made.names:
        print(f"   {one_line(name)}", file=sys.stderr)
    if not report.ok and report.verdict is not None:
        print(f"quizlog: note: {one_line(report.verdict.headline)}", file=sys.stderr)
    _remarks(report)
    left_out = ((name, "may hold keys: left out (--add packs it)") for name in made.left_out)
    for place, reason in told_once(left_out, "file"):
        print(f"   {one_line(place)} {reason}", file=sys.stderr)
    tell_private(made.removed, "removed")
    mend = "it is evidence" if redacted else "--redact removes what is not evidence"
    tell_private(made.private, f"private, and in the bundle; {mend}")


def _complete(bundle: Path, record: Path, names: Iterable[str]) -> BundleReport:
    """The report on a new bundle, which must contain all files that its script needs."""
    report = verify_bundle(bundle)
    for problem in report.problems:
        if problem.part == "replay":
            given = {name.removeprefix("script/") for name in names}
            raise _incomplete(record, problem.name, missing_files(record, given))
    return report


def _incomplete(record: Path, step: str, missing: Iterable[Path]) -> DifferenceError:
    """The error for a bundle that lacks files of its script."""
    names = [os.path.relpath(path) for path in missing]
    lacking = ", ".join(names) or "the files around it"
    message = f"the script does something else at step {step} without {lacking}"
    options = " ".join(f"--add {shlex.quote(name)}" for name in names)
    hint = options or "name what it reads with --add FILE"
    return DifferenceError(message, where=str(record), hint=hint)


def check(path: Path, signers: Path | None, *, thorough: bool, as_json: bool) -> int:
    """`quizlog verify FILE`, where the file is a bundle."""
    report = verify_bundle(path, signers=signers, thorough=thorough)
    if as_json:
        emit_json(report.to_dict() | {"bundle": str(path)})
        return _code(report)
    found = ((f"{each.part} {each.name}", each.message) for each in report.problems)
    for place, reason in told_once(found, "part"):
        print(one_line(f"{place}: {reason}"))
    if report.verdict is not None:
        print(one_line(report.verdict.headline))
    _remarks(report)
    return _code(report)


def _remarks(report: BundleReport) -> None:
    for remark in report.verdict.remarks if report.verdict else ():
        print(f"   {one_line(remark)}", file=sys.stderr)
    for other in report.others:
        print(f"   packed with {one_line(other)}", file=sys.stderr)
    signed = f"signed by {one_line(report.signer)}" if report.signer else "not signed"
    print(f"   {signed}", file=sys.stderr)


def _code(report: BundleReport) -> int:
    if report.problems or report.verdict is None or report.verdict.differs:
        return 3
    return 0 if report.ok else 4


PARSERS = {"bundle": _bundle}
"""The parser function of each command."""

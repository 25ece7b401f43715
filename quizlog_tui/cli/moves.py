"""Commands that move in one record: show, answer, new, rewind, fork, amend, switch.

A command opens its record with `one_move`, moves with `make_move`, and shows where the
questionnaire stands: answered questions on stdout, its state on stderr. `Session` decides how a
record moves.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from ..config import Config, load_config
from ..errors import ConflictError, UsageError
from ..files.paths import record_path
from ..record import WAIT_SECONDS
from ..record.who import Giver
from ..replay.process.process import user_limits
from ..replay.replayer import Replayer
from ..replay.script.granted import grant, place_of
from ..session.reply import Reply
from ..session.reply_text import asked_text, questionnaire, state_lines, written_text
from ..session.session import Session
from ..text import one_line
from .grammar import Parser, add_allow, add_step, add_wait, command
from .streams import drawing, emit_json, noting_progress, tell

if TYPE_CHECKING:
    from ..replay.kept_files import Keeper

P = ParamSpec("P")
T = TypeVar("T")
_MOST_UNKNOWN_LINES = 50


def record(arguments: Namespace) -> int:
    """`quizlog [RECORD [ANSWER]]`."""
    if arguments.json and arguments.raw:
        hint = "leave one out: --json writes one object, --raw the bytes of a plain run"
        raise UsageError("--json and --raw exclude each other", hint=hint)
    if arguments.record is None:
        if arguments.json or arguments.raw or arguments.stdin:
            raise UsageError("which record?", hint="quizlog RECORD [ANSWER]")
        from .screens import open_screens

        return open_screens()
    answer = _answer(arguments)
    if arguments.keep_files:
        return _keeping(arguments, answer)
    with one_move(arguments, checkpoints=1 if arguments.explain else 0) as session:
        return _answered(session, arguments, answer)


def _answer(arguments: Namespace) -> str | None:
    if not arguments.stdin:
        answer: str | None = arguments.answer
        return answer
    if arguments.answer is not None:
        raise UsageError("two answers: one given, one on stdin", hint="leave one out")
    try:
        data = sys.stdin.buffer.read()
    except OSError as error:
        hint = "pipe it in, or give it as a word"
        raise UsageError(f"cannot read: {error.strerror}", where="stdin", hint=hint) from None
    return data.decode("utf-8", "surrogateescape").removesuffix("\n")


def _answered(session: Session, arguments: Namespace, answer: str | None) -> int:
    if arguments.allow:
        _allow_from_now_on(session, arguments.allow)
    elif answer is None and session.source.refused:
        _show_unknown(session)
    if answer is None:
        return _show(session, arguments, session.reply())
    reply = make_move(session, session.answer, answer)
    return _show(session, arguments, reply.newest() if arguments.new else reply)


def _keeping(arguments: Namespace, answer: str | None) -> int:
    """Answer, and copy the files that the script wrote to a folder."""
    from ..replay.kept_files import keeper

    target = Path(arguments.keep_files)
    with keeper(target) as kept:
        with one_move(arguments, keeper=kept) as session:
            code = _answered(session, arguments, answer)
        names = kept.copy_out(session.source.path.parent, target)
    said = ", ".join(map(one_line, names)) or "the script wrote no files"
    print(f"quizlog: {one_line(str(target))}: {said}", file=sys.stderr)
    return code


def _allow_from_now_on(session: Session, names: Iterable[str]) -> None:
    """Grant the script of a record something from now on.

    Raises:
        UsageError: The record's arguments and answers are from elsewhere, and are shown only now.
        ConfigError: The grant cannot be stored.
    """
    from ..session.session import allow, not_given_here

    seen = not_given_here(session)
    if seen is not None and _show_unknown(session):
        message = "its arguments and answers are not from here; they are shown above"
        hint = "to run the script with them all the same, give the same command again"
        raise UsageError(message, where=one_line(str(session.path)), hint=hint)
    allow(session, names, seen)


def _show_unknown(session: Session) -> bool:
    """Show arguments and answers of a record from elsewhere on stderr, once; whether it did."""
    from ..record.given_here import given_lines, is_shown, note_shown
    from ..session.session import not_given_here

    unknown, place = not_given_here(session), place_of(session.source.path)
    if unknown is None or is_shown(session.path, unknown, place):
        return False
    name = one_line(session.path.name)
    print(f"quizlog: note: {name} has arguments or answers from elsewhere:", file=sys.stderr)
    for line in given_lines(unknown, _MOST_UNKNOWN_LINES):
        print(f"quizlog:   {line}", file=sys.stderr)
    note_shown(session.path, unknown, place)
    return True


def _run_new(arguments: Namespace) -> int:
    """`quizlog new SCRIPT|RECORD [-- ARG...]`."""
    from ..record.store import is_record

    path = record_path(arguments.script)
    target = _run_again(path, arguments) if is_record(path) else _new_record(path, arguments)
    with (
        noting_progress(lambda: f"{target} was made"),
        _replayer(0) as own,
        Session(target, own) as session,
    ):
        session.save()
        return _show(session, arguments, session.reply())


def _new() -> Parser:
    details = (
        "Make a record for a script. From a record, make one that gives its answers again, with\n"
        "other arguments or another seed."
    )
    parser = command(
        "new",
        _run_new,
        group="move",
        arguments="SCRIPT [-- ARG...]",
        about="make a record for a script",
        details=details,
        example="quiz.py -o quiz.yaml",
    )
    parser.add_argument("script", help="a script, or the record whose answers are given again")
    about = "the script's own arguments; those like options after --"
    parser.add_argument("args", metavar="ARG", nargs="*", help=about)
    parser.add_argument("-o", "--output", metavar="RECORD", help="default: SCRIPT with .yaml")
    about = "default: a random one, stored in the record; from a record, the same"
    parser.add_argument("--seed", type=int, help=about)
    about = "the Python that runs the script on this machine from now on"
    parser.add_argument("--python", metavar="PATH", help=about)
    add_allow(parser)
    return parser


def _new_record(script: Path, arguments: Namespace) -> Path:
    """Write a record for a script; its path."""
    import random

    from ..replay.script.interpreter import choose
    from ..session.new_record import new_record, read_new_script

    source = read_new_script(script)
    target = Path(arguments.output) if arguments.output else script.with_suffix(".yaml")
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**6)
    if arguments.python:
        choose(source.path, arguments.python)
    if arguments.allow:
        grant(source, arguments.allow)
    new_record(script, target, seed, arguments.args)
    return target


def _run_again(known: Path, arguments: Namespace) -> Path:
    """Write a record with the answers of a known one; its path."""
    from ..replay.script.interpreter import choose
    from ..session.new_record import run_again, script_of

    if not arguments.output:
        hint = f"name it: quizlog new {one_line(str(known))} -o RECORD"
        raise UsageError("where shall the new record be?", where=str(known), hint=hint)
    target = Path(arguments.output)
    if arguments.python:
        choose(script_of(known), arguments.python)
    with _replayer(0) as own:
        source = run_again(known, target, own, seed=arguments.seed, args=arguments.args or None)
    if arguments.allow:
        grant(source, arguments.allow)
    return target


def _run_rewind(arguments: Namespace) -> int:
    """`quizlog rewind RECORD K`."""
    with one_move(arguments) as session:
        return _show(session, arguments, make_move(session, session.rewind, arguments.step))


def _rewind() -> Parser:
    details = (
        "Set the pointer to step K. All answers stay. A different answer there starts a branch."
    )
    parser = command(
        "rewind",
        _run_rewind,
        group="move",
        arguments="RECORD K",
        about="set the pointer to step K; nothing is lost",
        details=details,
        example="adventure 2",
    )
    add_step(parser)
    add_wait(parser)
    return parser


def _run_fork(arguments: Namespace) -> int:
    """`quizlog fork RECORD K ANSWER`."""
    at, answer, name = arguments.step, arguments.answer, arguments.name
    with one_move(arguments) as session:
        return _show(session, arguments, make_move(session, session.fork, at, answer, name))


def _fork() -> Parser:
    parser = command(
        "fork",
        _run_fork,
        group="move",
        arguments="RECORD K ANSWER",
        about="give another answer at step K, on a new branch",
        details="Give another answer at step K, on a new branch that becomes the active one.",
        example="adventure 6 no --name modest",
    )
    add_step(parser)
    parser.add_argument("answer", metavar="ANSWER")
    parser.add_argument("--name", help="default: fork-1, fork-2, ...")
    add_wait(parser)
    return parser


def _run_amend(arguments: Namespace) -> int:
    """`quizlog amend RECORD K ANSWER`."""
    at, answer = arguments.step, arguments.answer
    with one_move(arguments) as session:
        return _show(session, arguments, make_move(session, session.amend, at, answer))


def _amend() -> Parser:
    parser = command(
        "amend",
        _run_amend,
        group="move",
        arguments="RECORD K ANSWER",
        about="change answer K; keep later ones that still fit",
        details=(
            "Change answer K, and keep later answers while their questions stay the same. The old\n"
            "answers become a branch."
        ),
        example='adventure 5 "the map"',
    )
    add_step(parser)
    parser.add_argument("answer", metavar="ANSWER")
    add_wait(parser)
    return parser


def _run_switch(arguments: Namespace) -> int:
    """`quizlog switch RECORD NAME`."""
    with one_move(arguments) as session:
        return _show(session, arguments, make_move(session, session.switch, arguments.name))


def _switch() -> Parser:
    parser = command(
        "switch",
        _run_switch,
        group="move",
        arguments="RECORD NAME",
        about="make another branch active",
        details="Make another branch the active one.",
        example="adventure main",
    )
    parser.add_argument("record")
    parser.add_argument("name")
    add_wait(parser)
    return parser


@contextmanager
def one_move(
    arguments: Namespace, *, checkpoints: int = 0, keeper: Keeper | None = None
) -> Iterator[Session]:
    """Open a record for one command, by default without checkpoints."""
    path = record_path(arguments.record)
    wait = getattr(arguments, "wait", WAIT_SECONDS)
    with (
        _replayer(checkpoints, keeper) as own,
        Session(path, own, wait=wait, giver=Giver("shell")) as session,
        noting_progress(lambda: f"the change is in {path}" if session.written else ""),
    ):
        try:
            yield session
        except UsageError:
            if session.missing is None and session.source.refused:
                narrate_warnings(session)  # why the run is not as the user knows it
            raise


def _replayer(checkpoints: int, keeper: Keeper | None = None) -> Replayer:
    """Make a replayer with the user's limits."""
    return Replayer(user_limits(known_config()), checkpoints=checkpoints, keeper=keeper)


def known_config() -> Config:
    """The user's settings, whose faults are told on stderr."""
    config, problems = load_config()
    tell("note", (problem.finding for problem in problems), "setting")
    return config


def make_move(session: Session, move: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Make a move; if another program changed the record meanwhile, repeat it on the new state.

    Other programs may change the record while the script runs; during the repetition they wait.
    """
    wait_while_held(session)
    try:
        return move(*args, **named)
    except ConflictError:
        with session.locked():
            return move(*args, **named)


def wait_while_held(session: Session) -> None:
    """Wait until no person holds the record.

    Raises:
        LockedError: It is held for longer than the settings say.
        TakenOverError: The person has changed it meanwhile.
    """
    from ..record import hold

    held = hold.join(session.path, "a shell")
    if held is None:
        return
    seconds = load_config()[0].agents_hold_seconds
    told = f"a person holds the record; this waits at most {seconds:g} s"
    print(f"quizlog: note: {told}", file=sys.stderr)
    before = session.record.used
    with held:
        hold.wait(session.path, held, seconds)
    if session.outdated:
        session.reload()
    from ..session.open_sessions import check_not_taken_over

    check_not_taken_over(session, before)


def _show(session: Session, arguments: Namespace, reply: Reply) -> int:
    """Show the state of the questionnaire; the exit code."""
    raw, with_stderr = getattr(arguments, "raw", False), getattr(arguments, "stderr", False)
    narrate_warnings(session)
    if getattr(arguments, "explain", False):
        print(f"quizlog: {one_line(_why(session.explain()))}", file=sys.stderr)
    if raw:
        sys.stdout.buffer.write(reply.transcript.stdout_bytes)
        sys.stderr.write(reply.transcript.stderr)
    elif arguments.json:
        emit_json(reply.to_dict() | _stderr(reply, with_stderr))
    else:
        _show_questionnaire(reply, with_stderr=with_stderr)
        narrate(session, reply)
    return 1 if reply.status == "error" else 0


def _stderr(reply: Reply, wanted: bool) -> dict[str, list[str]]:
    """What the script wrote to stderr at each step, as a key of the JSON."""
    return {"stderr": [step.stderr for step in reply.new_steps]} if wanted else {}


def _why(reason: str | None) -> str:
    """The text of `--explain`: whether returning to this step is instant."""
    if reason is None:
        return "returning to this step is instant"
    return f"returning here runs the script again from an earlier step: {reason}"


def _show_questionnaire(reply: Reply, *, with_stderr: bool) -> None:
    """Write the printed output with each answer after its question.

    Args:
        reply: Where the questionnaire stands.
        with_stderr: Whether to write to stderr what the script wrote there, in its place.
    """
    draw = drawing(sys.stdout)
    if not with_stderr:
        sys.stdout.write(questionnaire(reply, draw))
    else:
        _show_with_stderr(reply, draw, drawing(sys.stderr))
    sys.stdout.flush()


def _show_with_stderr(
    reply: Reply, draw: Callable[[str], str], draw_stderr: Callable[[str], str]
) -> None:
    end = "\n"
    for step in reply.new_steps:
        written, asked = written_text(step, draw), asked_text(step, draw)
        sys.stdout.write(written)
        if step.stderr:
            sys.stdout.flush()
            sys.stderr.write(_ended(draw_stderr(step.stderr)))
        sys.stdout.write(asked)
        end = (end + written + asked)[-1]
    sys.stdout.write("" if end == "\n" else "\n")


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def narrate_warnings(session: Session) -> None:
    """Write the warnings about the record to stderr."""
    for warning in session.warnings:
        print(f"quizlog: note: {one_line(warning)}", file=sys.stderr)


def narrate(session: Session, reply: Reply) -> None:
    """Write to stderr: status, error, and the next possible command."""
    for line in _narration(session, reply):
        print(line, file=sys.stderr)


def _narration(session: Session, reply: Reply) -> Iterator[str]:
    yield from state_lines(session, reply)
    name = one_line(reply.record)
    if reply.status == "in_progress":
        yield f"   quizlog {name} ANSWER"
    elif reply.status == "error":
        again = reply.pointer and f"   quizlog {name} ANSWER tries the last question again"
        yield again or "   the script raises before its first question"


PARSERS = {"new": _new, "rewind": _rewind, "fork": _fork, "amend": _amend, "switch": _switch}
"""The parser function of each command."""

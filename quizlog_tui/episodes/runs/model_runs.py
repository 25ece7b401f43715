"""Lets models answer whole scripts, each run by one model alone: models of this machine, or others.

Runs are assigned to the models of a panel in turn, so that no model sees another's answers. A run
ends when its script ends or raises, or when the model has no answer.

Through the queue, models of other machines answer. Each question is a task whose id is derived from
the run and its answers so far: a run that is requested again finds answers that came in the
meantime. A question is sent with the script and the files next to it that its text mentions, as in
a bundle. The machine that answers stores nothing.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import EpisodeError, LimitError, QuizlogError
from ...files.scratch import scratch_folder
from ...proof.bundle.container import ContainerError, from_archive, to_archive
from ...record.append_only_list import AppendOnlyList
from ...record.model import Record
from ...record.store import RecordFile
from ...replay.process.process import Limits
from ...replay.replayer import Replayer
from ...replay.script.needed_files import needed_files
from ...replay.script.source import Source
from ...replay.world import world_of
from ...session.session import Session
from ...solver.autopilot import question_files, question_of
from ...solver.decision import Decision
from ...solver.decision_text import answer_text
from ...solver.models.transport import ModelClient
from ...solver.solve import Panel, solve
from .asking import GOLD, Keep, SolveRun, WantedRun
from .instance import Instance
from .runs import SolverRun, Turn

if TYPE_CHECKING:
    from ...queue.client import Client, QueueOutcome


_MAX_TURNS = 1000
"""Maximum number of answers in a run, for scripts that never stop asking."""
_LOST = ("error", "timeout", "rate_limited")


@dataclass(frozen=True)
class _ModelAnswer:
    """A model's answer to a question."""

    turn: Turn | None
    """The answer; None if there is none."""
    broken: str | None = None
    """Why there is none, if the model is not to blame."""


def by_models(panel: Panel, limits: Limits | None = None) -> SolveRun:
    """A solver that assigns runs to the models of a panel in turn, and gold to the primary one.

    An unfinished run is continued by the same model only.
    """

    async def solve_run(want: WantedRun, *, begun: SolverRun | None, keep: Keep) -> SolverRun:
        alone = replace(panel, clients=[_client_for(panel.clients, want.sample)])
        name, instance = alone.clients[0].voter.name, want.instance
        run = SolverRun(name, (), sample=want.sample, start_time=instance.start_time)
        if begun is not None and begun.name == name:  # another model's run is not continued
            run = begun
        record = _record_of_run(instance.source.path.absolute(), instance.seed, run)
        try:
            async with _session_of(record, limits) as session:
                return await _answered(session, alone, want.hint, run, keep)
        except LimitError:
            return run  # the script went over a limit after the last stored answer

    return solve_run


def _client_for(clients: Sequence[ModelClient], sample: int) -> ModelClient:
    """The model that makes a run: determined by its number, the primary model for gold."""
    if sample == GOLD:
        return next((one for one in clients if one.voter.primary), clients[0])
    return clients[(sample - 1) % len(clients)]


def _record_of_run(script: Path, seed: int, run: SolverRun) -> Record:
    """A record with the answers of a run, and the pointer after the last."""
    extras = {"start_time": run.start_time} if run.start_time else {}
    return Record(str(script), seed, AppendOnlyList(run.inputs), len(run.inputs), extras=extras)


@asynccontextmanager
async def _session_of(record: Record, limits: Limits | None = None) -> AsyncIterator[Session]:
    """A session for a temporary record.

    Raises:
        LimitError: The script goes over a limit before the last answer.
    """
    with scratch_folder("standing") as folder, Replayer(limits) as replayer:
        path = folder / "record.yaml"
        RecordFile(path).create(record)
        yield await asyncio.to_thread(Session, path, replayer, save=False)


async def _answered(
    session: Session, panel: Panel, hint: str | None, run: SolverRun, keep: Keep
) -> SolverRun:
    """Continue a run to its end; it is `broken` if it stops for another reason than the model."""
    while session.reply().status == "in_progress" and len(run.turns) < _MAX_TURNS:
        said = await _ask_model(session, panel, hint)
        if said.turn is None:
            return replace(run, broken=said.broken)
        run = replace(run, turns=(*run.turns, said.turn))
        keep(run)
        try:
            await asyncio.to_thread(session.answer, said.turn.answer)
        except LimitError:  # the answer makes the script go over a limit, also in a replay
            break
    return run


async def _ask_model(session: Session, panel: Panel, hint: str | None) -> _ModelAnswer:
    """Ask the pending question to the only model of a panel."""
    question = question_of(session)
    asked = question
    if hint:
        asked = replace(question, context=f"{question.context}\n[Hint: {hint}]\n")
    with question_files(session.source.path.parent, question) as folder:
        decision = await solve(asked, panel, folder=folder)
    if decision.verdict.why is None:
        [reply] = decision.models
        return _ModelAnswer(None, (reply.error or reply.status) if reply.status in _LOST else None)
    return _ModelAnswer(_turn(decision))


def _turn(decision: Decision) -> Turn:
    """The answer in a decision with one model."""
    [reply] = decision.models
    text = answer_text(decision.verdict.answer, decision.question)
    return Turn(text, reply.code, reply.explanation)


KIND = "quizlog-answers-1"
"""The kind of task in the queue, with the version of question and answer."""
MAX_BYTES = 1024 * 1024
"""Maximum size of the files that are sent with a question."""


@dataclass(frozen=True)
class _RemoteQuestion:
    """The next question of a run, to be answered by one model."""

    script: str
    """The file name of the script."""
    files: str
    """The script and the files it mentions: an archive in base64."""
    seed: int
    start_time: str | None
    """The start of the clocks."""
    inputs: list[str]
    """The answers so far."""
    prompt: str
    """The question."""
    sample: int
    """The number of the run."""
    model: str | None
    """The model that answered so far; None at the first question."""
    hint: str | None
    """The hint, for a teacher."""


@dataclass(frozen=True)
class _RemoteAnswer:
    """The answer to a remote question."""

    model: str
    """The model that was asked."""
    answer: str | None = None
    """The answer; None if there is none."""
    code: str | None = None
    explanation: str | None = None
    broken: str | None = None
    """Why there is no answer, if the model is not to blame."""


def _packed_script(source: Source) -> str:
    """A script and the files it mentions, as base64 text.

    Raises:
        EpisodeError: They are too big to be sent.
    """
    folder, files = source.path.parent, {source.path.name: source.data}
    for path in needed_files(source):
        files[path.relative_to(folder).as_posix()] = path.read_bytes()
    size = sum(map(len, files.values()))
    if size > MAX_BYTES:
        message = f"the script and the files it mentions have more than {MAX_BYTES // 2**20} MB"
        raise EpisodeError(message, where=str(source.path), hint="request its runs without --queue")
    return b64encode(to_archive(files)).decode()


def _unpack(question: _RemoteQuestion, folder: Path) -> Path:
    """Write the files of a question into a folder; return the path of the script.

    Raises:
        EpisodeError: The files are damaged.
    """
    try:
        for name, data in from_archive(b64decode(question.files, validate=True)).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except (ContainerError, ValueError, OSError) as error:
        raise EpisodeError(f"its files did not arrive intact: {error}") from None
    return folder / question.script


CONCURRENT_RUNS = 64
"""Maximum number of concurrent runs; the machines that work the queue limit the questions."""


def by_queue(client: Client, folder: Path, replayer: Replayer) -> SolveRun:
    """A solver that puts each question into the queue; other folders of runs mean other runs."""
    packed: dict[tuple[str, int], str] = {}

    def files(one: Instance) -> str:
        if one.key not in packed:
            packed[one.key] = _packed_script(one.source)
        return packed[one.key]

    async def solve_run(want: WantedRun, *, begun: SolverRun | None, keep: Keep) -> SolverRun:
        start = want.instance.start_time
        run = begun or SolverRun("", (), sample=want.sample, start_time=start)
        while len(run.turns) < _MAX_TURNS:
            prompt = await asyncio.to_thread(_prompt, want.instance, run, replayer)
            if prompt is None:
                break
            question = _remote_question(want, run, files(want.instance), prompt)
            reply = await _ask(client, _task_key(want, run, folder), question)
            run = replace(run, name=reply.model)
            if reply.answer is None:
                return replace(run, broken=reply.broken)
            turn = Turn(reply.answer, reply.code, reply.explanation)
            run = replace(run, turns=(*run.turns, turn))
            keep(run)
        return run

    return solve_run


def _prompt(one: Instance, run: SolverRun, replayer: Replayer) -> str | None:
    """The question after the answers so far; None if the script has ended."""
    record = _record_of_run(one.source.path, one.seed, run)
    try:
        transcript = replayer.replay(one.source, world_of(record), run.inputs)
    except LimitError:  # the script went over a limit after the last stored answer
        return None
    return transcript.next_prompt if transcript.status == "in_progress" else None


def _remote_question(want: WantedRun, run: SolverRun, files: str, prompt: str) -> _RemoteQuestion:
    one = want.instance
    return _RemoteQuestion(
        script=one.source.path.name,
        files=files,
        seed=one.seed,
        start_time=run.start_time,
        inputs=list(run.inputs),
        prompt=prompt,
        sample=want.sample,
        model=run.name or None,
        hint=want.hint,
    )


def _task_key(want: WantedRun, run: SolverRun, folder: Path) -> str:
    """Identifies a question by its run and the answers so far."""
    file = str(want.file(folder.absolute()))
    return sha256(json.dumps([file, *run.inputs]).encode("utf-8", "replace")).hexdigest()[:32]


async def _ask(client: Client, key: str, question: _RemoteQuestion) -> _RemoteAnswer:
    """The answer to a question: an earlier one if there is one, else one from a new attempt."""
    for attempt in count(1):
        task = f"run-{key}-{attempt}"
        earlier = await client.ended(task)
        if earlier is None:
            return _read(await client.work(KIND, task, asdict(question)), question)
        if not (reply := _read(earlier, question)).broken:
            return reply
    raise AssertionError("there is always another attempt")


def _read(outcome: QueueOutcome, question: _RemoteQuestion) -> _RemoteAnswer:
    if outcome.result is None:
        return _RemoteAnswer(question.model or "", broken=outcome.failed)
    return _RemoteAnswer(**outcome.result)


_OTHERWISE = (
    "the script asks another question on the host: it lacks a file that the script does not "
    "mention, or has other versions of imported packages"
)


def answering(panel: Panel) -> Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]:
    """A function that answers the questions in the queue by this machine's models."""

    async def answer(task: str, question: dict[str, Any]) -> dict[str, Any]:
        return asdict(await _answer_question(_RemoteQuestion(**question), panel))

    return answer


async def _answer_question(question: _RemoteQuestion, panel: Panel) -> _RemoteAnswer:
    client = _client(question, panel)
    if client is None:
        broken = f"the host has no model {question.model!r}"
        return _RemoteAnswer(question.model or "", broken=broken)
    name = client.voter.name
    run = SolverRun(name, tuple(map(Turn, question.inputs)), start_time=question.start_time)
    try:
        with scratch_folder("order") as folder:
            script = await asyncio.to_thread(_unpack, question, folder)
            async with _session_of(_record_of_run(script, question.seed, run)) as session:
                if session.reply().next_prompt != question.prompt:
                    return _RemoteAnswer(name, broken=_OTHERWISE)
                result = await _ask_model(session, replace(panel, clients=[client]), question.hint)
                turn = asdict(result.turn) if result.turn else {}
                return _RemoteAnswer(name, **turn, broken=result.broken)
    except QuizlogError as error:
        return _RemoteAnswer(name, broken=str(error))


def _client(question: _RemoteQuestion, panel: Panel) -> ModelClient | None:
    """The model that has answered so far, or whose turn it is; None if it is not configured."""
    if question.model is None:
        return _client_for(panel.clients, question.sample)
    return next((one for one in panel.clients if one.voter.name == question.model), None)

"""Runs whose questions are answered through the queue, by models of other machines.

Each question is a task whose id is derived from the run and its answers so far: a run that is
requested again finds answers that came in the meantime. A question is sent with the script and the
files next to it that its text mentions, as in a bundle. The machine that answers stores nothing.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import EpisodeError, LimitError, QuizlogError
from ...files.scratch import scratch_folder
from ...proof.bundle.container import ContainerError, from_archive, to_archive
from ...replay.process.process import Limits
from ...replay.replayer import Replayer
from ...replay.script.needed_files import needed_files
from ...replay.script.source import Source
from ...replay.world import world_of
from ...solver.models.transport import ModelClient
from ...solver.solve import Panel
from .asking import Keep, SolveRun, WantedRun
from .instance import Instance
from .model_runs import MAX_TURNS, ask_model, client_for, record_of_run, session_of
from .runs import SolverRun, Turn

if TYPE_CHECKING:
    from ...queue.client import Client, QueueOutcome


KIND = "quizlog-answers-1"
"""The kind of task in the queue, with the version of question and answer."""
MAX_BYTES = 1024 * 1024
"""Maximum size of the files that are sent with a question."""


@dataclass(frozen=True)
class RemoteQuestion:
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
class RemoteAnswer:
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


def _unpack(question: RemoteQuestion, folder: Path) -> Path:
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
    """A solver that puts each question into the queue.

    Args:
        client: The queue.
        folder: The folder of the runs; other folders mean other runs.
        replayer: Replays the script to find its next question.
    """
    packed: dict[tuple[str, int], str] = {}

    def files(one: Instance) -> str:
        if one.key not in packed:
            packed[one.key] = _packed_script(one.source)
        return packed[one.key]

    async def solve_run(want: WantedRun, *, begun: SolverRun | None, keep: Keep) -> SolverRun:
        start = want.instance.start_time
        run = begun or SolverRun("", (), sample=want.sample, start_time=start)
        while len(run.turns) < MAX_TURNS:
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
    record = record_of_run(one.source.path, one.seed, run)
    try:
        transcript = replayer.replay(one.source, world_of(record), run.inputs)
    except LimitError:  # the script went over a limit after the last stored answer
        return None
    return transcript.next_prompt if transcript.status == "in_progress" else None


def _remote_question(want: WantedRun, run: SolverRun, files: str, prompt: str) -> RemoteQuestion:
    one = want.instance
    return RemoteQuestion(
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


async def _ask(client: Client, key: str, question: RemoteQuestion) -> RemoteAnswer:
    """The answer to a question: an earlier one if there is one, else one from a new attempt."""
    for attempt in count(1):
        task = f"run-{key}-{attempt}"
        earlier = await client.ended(task)
        if earlier is None:
            return _read(await client.work(KIND, task, asdict(question)), question)
        if not (reply := _read(earlier, question)).broken:
            return reply
    raise AssertionError("there is always another attempt")


def _read(outcome: QueueOutcome, question: RemoteQuestion) -> RemoteAnswer:
    if outcome.result is None:
        return RemoteAnswer(question.model or "", broken=outcome.failed)
    return RemoteAnswer(**outcome.result)


_OTHERWISE = (
    "the script asks another question on the host: it lacks a file that the script does not "
    "mention, or has other versions of imported packages"
)


def answering(
    panel: Panel, limits: Limits | None = None
) -> Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]:
    """A function that answers the questions in the queue.

    Args:
        panel: This machine's models.
        limits: The limits of scripts.
    """

    async def answer(task: str, question: dict[str, Any]) -> dict[str, Any]:
        return asdict(await _answer_question(RemoteQuestion(**question), panel, limits))

    return answer


async def _answer_question(
    question: RemoteQuestion, panel: Panel, limits: Limits | None
) -> RemoteAnswer:
    client = _client(question, panel)
    if client is None:
        broken = f"the host has no model {question.model!r}"
        return RemoteAnswer(question.model or "", broken=broken)
    name = client.voter.name
    run = SolverRun(name, tuple(map(Turn, question.inputs)), start_time=question.start_time)
    try:
        with scratch_folder("order") as folder:
            script = await asyncio.to_thread(_unpack, question, folder)
            async with session_of(record_of_run(script, question.seed, run), limits) as session:
                if session.reply().next_prompt != question.prompt:
                    return RemoteAnswer(name, broken=_OTHERWISE)
                result = await ask_model(session, replace(panel, clients=[client]), question.hint)
                turn = asdict(result.turn) if result.turn else {}
                return RemoteAnswer(name, **turn, broken=result.broken)
    except QuizlogError as error:
        return RemoteAnswer(name, broken=str(error))


def _client(question: RemoteQuestion, panel: Panel) -> ModelClient | None:
    """The model that has answered so far, or whose turn it is; None if it is not configured."""
    if question.model is None:
        return client_for(panel.clients, question.sample)
    return next((one for one in panel.clients if one.voter.name == question.model), None)

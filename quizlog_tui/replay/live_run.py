"""One run of a script, extended answer by answer: its process and its transcript.

Turns the messages of a `QuizProcess` into steps. `replayer` decides about reuse.

Also decides whether code that the script ran came from an answer. The worker reports code before it
runs (`worker.code_watch`); which answers it came from is decided here, from their text alone. An
answer of literals and arithmetic is not code.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from ..errors import LimitError
from ..record.append_only_list import AppendOnlyList
from ..record.model import LastError, Status
from ..syntax import UNREADABLE, parse, parse_expression
from .process.process import Limits, QuizProcess
from .process.protocol import CodeRun, RawStep, Violation, WorkerOutcome, WorkerReport
from .script.source import Source
from .transcript import Step, Transcript, frozen
from .world import CODE, TAMPERED, UNVERIFIABLE

ENDED_BY_ANSWER = "EndedByAnswer"
"""Error type of a run that was ended by an answer that ran as code."""
_SECONDS_A_STEP = 20e-6
"""Cost of a step besides the script's own work: sending and parsing messages."""


class LiveRun:
    """A process and its transcript so far.

    Args:
        source: The script.
        limits: Bounds on the script.
        process: A fresh process. For a copy see `from_copy`.
    """

    def __init__(self, source: Source, limits: Limits, process: QuizProcess) -> None:
        self.source = source
        self.process = process
        self.transcript = _UNSTARTED
        self.answers: AppendOnlyList[str] = AppendOnlyList()
        """The answers that were used."""
        self.cost = 0.0
        """Estimated seconds to come to this stop again from the start."""
        self.blurred = False
        """Whether it died with several unused answers, so that it is not known how many it used."""
        self.copied = False
        """Whether it was copied."""
        self._limits = limits
        self._steps: AppendOnlyList[Step] = AppendOnlyList()
        self._print: AppendOnlyList[str] = AppendOnlyList()
        self._all_stderr = ""
        self._ends = (0, 0)
        self._given: list[str] = []
        self._pending: Step | None = None
        self._code: tuple[tuple[int, int], ...] = ()
        self._newest: QuizProcess | None = None
        """Its last copy until that has reported itself."""

    @classmethod
    def from_copy(
        cls,
        source: Source,
        limits: Limits,
        process: QuizProcess,
        transcript: Transcript,
        answers: AppendOnlyList[str],
    ) -> LiveRun:
        """The run of a copied process, which waits at the end of `transcript`."""
        run = cls(source, limits, process)
        run.transcript = transcript
        run.answers = answers
        run._steps, run._pending = transcript.steps, transcript.last
        run._print, run._all_stderr = transcript.print, transcript.stderr
        run._code = transcript.code
        return run

    @property
    def waiting(self) -> bool:
        """Whether the process waits for an answer."""
        return self.process.alive

    def grow(
        self,
        answers: Sequence[str],
        pause_after: float = 0.0,
        at_pause: Callable[[LiveRun], None] | None = None,
    ) -> Transcript:
        """Run to the first stop if that was not reached yet, then give answers.

        The run may end before it has used all of them.

        Args:
            answers: In order.
            pause_after: Seconds of work after which the run pauses at a question for `at_pause`.
            at_pause: Called at such pauses.

        Raises:
            LimitError: The script exceeded a limit; the run is over.
            CancelledError: It was cancelled; the run is over.
        """
        if self.transcript is _UNSTARTED:
            started = time.perf_counter()
            self._listen()
            self.cost = time.perf_counter() - started
            if at_pause and self.waiting:
                at_pause(self)
        if answers and self.waiting:
            self.begin(answers, pause_after)
            while self._listen() == "paused":
                if at_pause:
                    at_pause(self)
                self._go_on((), pause_after)
        return self.transcript

    def begin(self, answers: Sequence[str], pause_after: float = 0.0) -> None:
        """Give answers to a waiting process without waiting for the outcome; see `finish`."""
        self._given = list(answers)
        self._go_on(answers, pause_after)

    def _go_on(self, answers: Sequence[str], pause_after: float) -> None:
        """Let the process work, and learn meanwhile that its last copy is none of its own starts.

        A copy that is not known by its number counts as a process that the script has started.
        """
        self.process.answer(answers, pause_after)
        if self._newest is not None:
            self._newest.settle()
            self._newest = None

    def finish(self) -> Transcript:
        """Wait for the stop after the answers given by `begin`.

        Raises:
            LimitError: The script exceeded a limit; the run is over.
        """
        self._listen()
        return self.transcript

    def copy(self) -> QuizProcess | None:
        """A copy of the process at its present stop; None if too many files are open."""
        self.copied = True
        self._newest = self.process.copy()
        return self._newest

    def close(self) -> None:
        """End the process."""
        self.process.release()

    def _listen(self) -> str:
        """Follow the process to its next stop or its end; return the kind of stop."""
        kind, outcome = "ended", None
        for report in self.process.reports():
            if isinstance(report, CodeRun):
                self._note_code(report)
                continue
            self._check(report)
            for raw, stdout in self._read(report.steps):
                self._take(raw, stdout, report.writing)
            kind, outcome = report.kind, report.outcome if report.kind == "ended" else None
        if self.process.alive and self._pending is not None:
            tampered = self._is_tampered()
            fields = {
                "steps": self._steps,
                "last": self._pending,
                "status": "in_progress",
                "tainted": self.process.taint,
                "observed": self._observed(tampered),
                "unavailable": self.process.unavailable,
                "code": self._code,
                "warnings": self._warnings(tampered),
                "print": self._print,
                "stderr": self._all_stderr,
            }
            self.transcript = frozen(Transcript, fields)
            return kind
        if self.process.refused is None:
            self.transcript = self._ended(outcome)
        return "ended"

    def _check(self, report: WorkerReport) -> None:
        """Check that there are no more steps than answers, and no question while answers are left.

        Raises:
            ProtocolError: The report is impossible; the process was ended.
        """
        used = len(report.steps) - (self._pending is None)
        if used > len(self._given) or (report.kind == "asking" and used < len(self._given)):
            raise self.process.end_for_violation(Violation("it used answers that it was not given"))

    def _note_code(self, code: CodeRun) -> None:
        """Note the answers whose text is, or is part of, code that is run.

        Raises:
            ProtocolError: It claims answers that it was not given; the process was ended.
        """
        answers = [*self.answers, *self._given]
        if code.used > len(answers):
            raise self.process.end_for_violation(Violation("it used answers that it was not given"))
        found = [(index, code.used) for index in answers_run(code, answers, self.source.text)]
        self._code = tuple(dict.fromkeys((*self._code, *found)))

    def _observed(self, tampered: bool) -> tuple[str, ...]:
        """All observations: those of the process, and those made from outside."""
        seen = [name for name in self.process.seen if name in UNVERIFIABLE]
        seen += [TAMPERED] if tampered else []
        code = (CODE,) if self._code else ()
        return tuple(dict.fromkeys((*self.process.observed, *seen, *code, *self.source.refused)))

    def _is_tampered(self) -> bool:
        process = self.process
        return process.written.disagrees or process.family.has_stranger()

    def _warnings(self, tampered: bool) -> tuple[str, ...]:
        seen, refused = (UNVERIFIABLE[TAMPERED][1],) if tampered else (), self.source.refused
        if not refused:
            return seen
        why = self.source.withheld or "not allowed"
        options = " ".join(f"--allow {name}" for name in refused)
        said = f"it asks for {' and '.join(refused)} and runs without: {why} ({options})"
        return (*seen, said)

    def _read(self, steps: Sequence[RawStep]) -> Iterator[tuple[RawStep, bytes]]:
        """Steps, each with its bytes of stdout, which are read in one piece."""
        start, end = self._ends[0], steps[-1].out_end
        data, at = self.process.output.stdout(start, end), start
        for raw in steps:
            yield raw, data[at - start : raw.out_end - start]
            at = raw.out_end

    def _take(self, raw: RawStep, stdout: bytes, writing: tuple[str, str] | None) -> None:
        """Add a stop: the question before it has been answered."""
        self._answer_pending()
        self._pending = self._step(raw, stdout, writing)
        self._show(self._pending)
        self.cost += self._pending.seconds + _SECONDS_A_STEP

    def _show(self, step: Step) -> None:
        if step.written:
            self._print = self._print.then(*step.print)
        self._all_stderr += step.stderr

    def _answer_pending(self) -> None:
        if self._pending is not None:
            answer = self._given.pop(0)
            self._steps = self._steps.then(self._pending.answered(answer))
            self.answers = self.answers.then(answer)

    def _step(self, raw: RawStep, stdout: bytes, writing: tuple[str, str] | None) -> Step:
        err_start = self._ends[1]
        self._ends = (raw.out_end, raw.err_end)
        stderr, prompt = self._stderr(err_start, raw.err_end), raw.prompt
        if prompt == "" and stderr and not stderr.endswith("\n"):
            prompt = stderr.rpartition("\n")[2]  # getpass and similar functions ask on stderr
        believed = not self.process.written.disagrees
        written = self.process.written.texts(raw, stdout, writing)
        fields = {
            "prompt": prompt,
            "written": written,
            "stderr": stderr,
            "line": raw.line,
            "place": raw.place if self.source.file_at(raw.place) else "",
            "stdout": stdout,
            "seconds": raw.seconds,
            "source": self.source,
            "tampered": believed and self.process.written.disagrees,
        }
        return frozen(Step, fields)

    def _stderr(self, start: int, end: int | None) -> str:
        if start == end:
            return ""
        return self.process.output.stderr(start, end).decode("utf-8", "replace")

    def _ended(self, outcome: WorkerOutcome | None) -> Transcript:
        """The transcript of an ended process; `outcome` is None if it did not report one."""
        last = self._last()
        exit_code = self.process.exit_code or 0
        kind, name, message, frames = self._outcome(outcome, exit_code)
        if name == "MemoryError" and self._limits.memory:
            limit = f"needed more than {self._limits.memory / 2**30:g} GB of memory"
            hint = "use less, or raise the limit"
            raise LimitError(limit, where=self.source.path.name, hint=hint)
        status: Status = "error" if kind == "raised" else "success"
        error, warnings = _last_error(self.source, message, frames)
        if name == ENDED_BY_ANSWER:
            error = replace(error, score=0.0)
        tampered = self._is_tampered()
        return Transcript(
            self._steps,
            last,
            status,
            error if status == "error" else None,
            error_type=name,
            traceback_lines=tuple(first for first, _, file in frames if not file),
            exit_code=exit_code,
            tainted=self.process.taint,
            observed=self._observed(tampered),
            unavailable=self.process.unavailable,
            code=self._code,
            warnings=(*self._warnings(tampered), *warnings),
            print=self._print,
            stderr=self._all_stderr,
        )

    def _outcome(self, outcome: WorkerOutcome | None, exit_code: int) -> WorkerOutcome:
        """How it ended: as it reported, unless an answer ended it or the exit code differs."""
        ended = outcome or WorkerOutcome("finished", None, None, [])
        ran = [at for at, used in self._code if used == len(self.answers)]
        answer = max(ran, default=None)  # of several whose text it may be, the last one
        if exit_code == 0 and answer is not None and (outcome is None or outcome.kind == "left"):
            message = f"answer {answer} ran as code and ended the script"
            return WorkerOutcome("raised", ENDED_BY_ANSWER, message, ended.frames)
        if ended.kind == "raised" or exit_code == 0:
            return ended
        return ended._replace(kind="raised", message=_exit_text(exit_code))

    def _last(self) -> Step:
        """The last step, with everything written after the script reported its end."""
        if self._pending is not None and self._pending.prompt is not None:
            self.blurred = len(self._given) > 1
            self._answer_pending()  # it died without a report of its last step
            self._pending = None
        last = self._pending or Step(None, (), "", None)
        out_end, err_end = self._ends
        more = self.process.output.stdout(out_end)
        late = Step(None, self.process.written.late(more), self._stderr(err_end, None), None)
        self._show(late)
        return replace(
            last,
            written=(*last.written, *late.written),
            stderr=last.stderr + late.stderr,
            stdout=last.stdout + more,
        )


def was_killed(transcript: Transcript) -> bool:
    """Whether the process ended by SIGKILL, sent by the script itself or by somebody else."""
    return transcript.exit_code == -9


def was_lost(run: LiveRun) -> bool:
    """Whether the process was killed from outside before it could report anything."""
    return not run.waiting and run.process.pid is None


def _last_error(
    source: Source, message: str | None, frames: Sequence[tuple[int, int, str]]
) -> tuple[LastError, tuple[str, ...]]:
    """`last_error` with the score of the innermost frame that has one, and warnings."""
    warnings, score = [], None
    own = [(place, file) for place in frames if (file := source.file(place[2])) is not None]
    for (first, last, _), file in reversed(own):
        found = file.score(first, last)
        if found and found[0].problem:
            warnings.append(f"{file.path.name}:{found[1]}: {found[0].problem}")
        elif found:
            score = found[0].value
            break
    line = next((first for (first, _, name), _ in reversed(own) if not name), None)
    innermost, _, name = own[-1][0] if own else (0, 0, "")
    place = f"{name}:{innermost}" if name else None
    return LastError(message or "", line, score or 0.0, place), tuple(warnings)


_UNSTARTED = Transcript(AppendOnlyList(), Step(None, (), "", None), "in_progress")


def _exit_text(code: int) -> str:
    if code < 0:
        import signal

        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return f"killed by signal {name}"
    return f"exit status {code}"


# -- whether code came from an answer


_HARMLESS = (
    ast.Expression,
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.UnaryOp,
    ast.BinOp,
    ast.operator,
    ast.unaryop,
    ast.Load,
)
"""Node types of literals and arithmetic."""
_DEEPEST = 10_000
"""Maximum number of characters of an answer that is parsed; longer ones are judged by words."""
_WORDS = re.compile(r"\.\s*([^\W\d]\w*)|([^\W\d]\w*)\s*\(")
_SPACE = re.compile(r"\s+")


def answers_run(code: CodeRun, answers: Sequence[str], script: str) -> Iterator[int]:
    """The indices of answers whose text is, or is part of, code that ran.

    Args:
        code: The worker's report.
        answers: All answers; those used after the code was reported cannot have been run.
        script: The script's text; strings in it may run as code without any answer.
    """
    constant = code.source.strip() in constants(script)
    names = frozenset(code.names)
    for index, answer in enumerate(answers[: code.used]):
        if is_code(answer) and not constant and _came_from(code, names, answer):
            yield index


def _came_from(code: CodeRun, names: frozenset[str], answer: str) -> bool:
    contained = _squeezed(answer) in _squeezed(code.source)
    if code.where == "library":
        return contained and bool(used_names(answer))
    if code.where == "script" and contained:
        return True
    return not names.isdisjoint(used_names(answer))


@lru_cache(maxsize=4096)
def is_code(answer: str) -> bool:
    """Whether an answer contains more than literals and arithmetic."""
    tree = _parsed(answer)
    if tree is None:
        return bool(_WORDS.search(answer)) or "=" in answer or "import" in answer
    return not all(isinstance(node, _HARMLESS) for node in ast.walk(tree))


@lru_cache(maxsize=4096)
def used_names(answer: str) -> frozenset[str]:
    """The names of functions that an answer calls, and of attributes that it uses."""
    tree = _parsed(answer)
    if tree is None:
        return frozenset(found[1] or found[2] for found in _WORDS.finditer(answer))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.add(node.func.id)
    return frozenset(found)


@lru_cache(maxsize=64)
def constants(script: str) -> frozenset[str]:
    """The string literals in a script, stripped."""
    try:
        tree = parse(script)
    except UNREADABLE:
        return frozenset()
    found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return frozenset(text.strip() for text in found if isinstance(text, str))


def _parsed(answer: str) -> ast.Expression | None:
    """An answer parsed as an expression; None if it is not one."""
    if len(answer) > _DEEPEST:
        return None
    try:
        return parse_expression(answer.strip())
    except UNREADABLE:
        return None


def _squeezed(text: str) -> str:
    return _SPACE.sub("", text).casefold()

"""Keeps a task's record: a script of what happened, and the answers.

The task continues the branch `main`; refused answers become branches. What others do to the record
meanwhile is kept: their branches, their remarks, their pointer. Nothing is replayed here; `verify`
finds whether the record matches its script.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from ...errors import QuizlogError
from ...files.durable import write_text
from ...files.place import FileKind, asked_before
from ...record import branches as rules
from ...record.append_only_list import AppendOnlyList
from ...record.lineage import agreements
from ...record.model import MAIN, LastError, Record, Status
from ...record.store import RecordFile
from ...replay.script.source import Source
from ...session.live_record import utc_now
from ...solver.redaction import Redaction
from .script import PageTry, TaskScript, describe_task
from .task import PageResult, TaskResult

TASK_SCRIPT = FileKind("a task's script", asked_before, beside=True)
"""It grows with the task, in a folder that nobody else may enter."""

SCRIPT = "quiz.py"


class TaskRecord:
    """The record of one task.

    Args:
        path: The record's file; the script lies in the same folder.
        redaction: Removes secrets.
        note: Called with a message if the record could not be written.
        clock: Returns the present time, as records have it.
    """

    def __init__(
        self,
        path: Path,
        redaction: Redaction,
        note: Callable[[str], None],
        clock: Callable[[], str] = utc_now,
    ) -> None:
        self.path = path
        self._redaction = redaction
        self._note = note
        self._clock = clock
        self._file = RecordFile(path)
        self._record: Record | None = None
        self._pages: tuple[PageResult, ...] = ()

    def write(self, task: TaskResult) -> None:
        """Write the state of a task, whose last page is open or which has ended.

        An aborted task has no pages; then those of the last call count.
        """
        self._pages = task.pages or self._pages
        clean = self._redaction.clean
        pages = tuple(_clean(page, self._redaction) for page in self._pages)
        cleaned = replace(task, pages=pages, error=task.error and clean(task.error))
        try:
            self._keep(describe_task(cleaned), task.id)
        except QuizlogError as error:
            self._note(f"the record could not be written: {error}")

    def _keep(self, now: TaskScript, task: str) -> None:
        script = self.path.with_name(SCRIPT)
        code_hash = Source(script, now.text.encode()).code_hash
        new = not self.path.exists()
        with nullcontext() if new else self._file.locked():
            # First: a longer script still fits the record as it was.
            write_text(script, now.text, TASK_SCRIPT)
            before = self._fresh(task) if new else self._known()
            self._record = with_task_answers(before, now, code_hash, self._clock())
            for remark in (self._file.create if new else self._file.write)(self._record):
                self._note(f"the record: {remark}")

    def _fresh(self, task: str) -> Record:
        return Record(SCRIPT, 0, extras={"start_time": self._clock(), "execution_id": task})

    def _known(self) -> Record:
        """The record on disk, read again if somebody else has changed it."""
        if self._record is None or self._file.changed():
            return self._file.read()
        return self._record


def _clean(page: PageResult, redaction: Redaction) -> PageResult:
    sent = tuple(
        replace(one, answer=redaction.clean_value(one.answer), reason=redaction.clean(one.reason))
        for one in page.submissions
    )
    clean = redaction.clean
    files, notes = (tuple(map(clean, texts)) for texts in (page.files, page.notes))
    question, url = clean(page.question), clean(page.url)
    return replace(page, url=url, question=question, files=files, notes=notes, submissions=sent)


def with_task_answers(record: Record, now: TaskScript, code_hash: str, time: str) -> Record:
    """A record brought up to date with a task. Pure.

    Args:
        record: The record so far, perhaps changed by somebody else.
        now: The task's script and answers.
        code_hash: The hash of the script.
        time: The present time.
    """
    moved = replace(_with_answers(record, now, time), code_hash=code_hash)
    status: Status = "error" if now.message else "success" if now.ended else "in_progress"
    behind = record.pointer < min(len(record.inputs), len(now.answers))
    if record.branch != MAIN or behind:  # another process has moved the pointer
        parked = rules.BranchEnd(status, now.score)
        return replace(rules.switched(moved, record.branch, parked), pointer=record.pointer)
    extras = {key: value for key, value in moved.extras.items() if key != "end_time"}
    return replace(
        moved,
        pointer=len(now.answers),
        status=status,
        print=AppendOnlyList(now.print),
        last_error=LastError(now.message, now.line, now.score or 0.0) if now.message else None,
        extras=extras | ({"end_time": time} if now.ended else {}),
    )


def _with_answers(record: Record, now: TaskScript, time: str) -> Record:
    """The record on its branch `main`, with exactly the answers of a task."""
    moved = rules.switched(record, MAIN, rules.BranchEnd(record.status, record.score))
    for at, answer in enumerate(now.answers):
        moved = rules.answered(moved, at, answer, rules.BranchEnd(time=time))
    # Further answers are another process's, or this task's from before it was continued.
    if len(moved.inputs) > len(now.answers):
        moved = rules.cut(moved, len(now.answers), rules.BranchEnd(time=time))
    for one in now.tries:
        moved = _with_try(moved, one, time)
    return moved


def _with_try(record: Record, one: PageTry, time: str) -> Record:
    """The record with a refused answer on a branch, if it has none yet."""
    line = [*record.inputs[: one.at], one.answer]
    if len(line) in agreements(record, line).values():
        return record
    name = rules.free_name(record, f"page-{one.at + 1}-try")
    return rules.added_branch(
        record, one.at, one.answer, name, rules.BranchEnd("error", one.score, time)
    )

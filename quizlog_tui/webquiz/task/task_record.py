"""Keeps a task's record: a quiz script of what happened, and the answers.

The script contains all texts and needs no network. An answer that was sent gets the server's reply;
for any other answer the script says that the reply is not known. Each page asks once, so that the
number of a page is the number of a step. The task continues the branch `main`; refused answers
become branches. What others do to the record meanwhile is kept: their branches, their remarks,
their pointer. Nothing is replayed here; `verify` finds whether the record matches its script.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ...errors import QuizlogError
from ...files.durable import FileKind, asked_before, write_text
from ...record import branches as rules
from ...record.append_only_list import AppendOnlyList
from ...record.lineage import agreements
from ...record.model import MAIN, LastError, Record, Status
from ...record.store import RecordFile
from ...replay.script.input_kinds import JSON, NUMBER, TEXTAREA, YESNO
from ...replay.script.source import Source
from ...session.live_record import utc_now
from ...solver.redaction import Redaction
from ..net.address import safe_name
from .task import PageResult, Submission, TaskResult

TASK_SCRIPT = FileKind("a task's script", asked_before, beside=True)
"""It grows with the task, in a folder that nobody else may enter."""
_HEAD = '''\
"""A quiz on web pages as it was taken: what the pages asked, and what their server said.

Written by quizlog while task {id} ran. It visits nothing and sends nothing.
"""

NEVER = "this answer was never sent: what the server would say is not known"
'''
_KINDS = {NUMBER: " (a number)", JSON: " (JSON)", YESNO: " (true/false)"}
_OUTCOMES = {
    "graded": "refused",
    "unfit": "not accepted in this form",
    "rejected": "the server wants no answer",
    "no_reply": "no reply",
}
_NAMED, _LONGEST = 5, 40
"""Maximum number of wrong pages that are named, and of characters in a name."""
_ENDS = {
    "late": "no answer could be sent in time",
    "no_answer": "no answer was found that could be sent",
    "unreachable": "the page could not be had",
    "cancelled": "the task was cancelled",
    "loop": "led back to a page that was right already",
    "too_long": "too many pages",
}
_NOTED = ("unreachable", "late")
"""Ends that a page's notes explain."""
SCRIPT = "quiz.py"


class TaskRecord:
    """The record of one task, with its script in the same folder. `note` is told of faults."""

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
            self._keep(_describe_task(cleaned), task.id)
        except QuizlogError as error:
            self._note(f"the record could not be written: {error}")

    def _keep(self, now: _TaskScript, task: str) -> None:
        script = self.path.with_name(SCRIPT)
        code_hash = Source(script, now.text.encode()).code_hash
        new = not self.path.exists()
        with nullcontext() if new else self._file.locked():
            # First: a longer script still fits the record as it was.
            write_text(script, now.text, TASK_SCRIPT)
            before = self._fresh(task) if new else self._known()
            self._record = _with_task_answers(before, now, code_hash, self._clock())
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


def _with_task_answers(record: Record, now: _TaskScript, code_hash: str, time: str) -> Record:
    """A record, perhaps changed by somebody else, brought up to date with a task. Pure."""
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


def _with_answers(record: Record, now: _TaskScript, time: str) -> Record:
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


def _with_try(record: Record, one: _PageTry, time: str) -> Record:
    """The record with a refused answer on a branch, if it has none yet."""
    line = [*record.inputs[: one.at], one.answer]
    if len(line) in agreements(record, line).values():
        return record
    name = rules.free_name(record, f"page-{one.at + 1}-try")
    return rules.added_branch(
        record, one.at, one.answer, name, rules.BranchEnd("error", one.score, time)
    )


# -- the script of a task


@dataclass(frozen=True)
class _PageTry:
    """An answer that was refused, and after which another was sent."""

    at: int
    """The step."""
    answer: str
    score: float


@dataclass(frozen=True)
class _TaskScript:
    """A script, and the result of running it with the answers that were given."""

    text: str
    """The script."""
    answers: tuple[str, ...] = ()
    """The last answer to each page."""
    tries: tuple[_PageTry, ...] = ()
    """The refused answers before them."""
    print: tuple[str, ...] = ()
    ended: bool = False
    """Whether nothing is asked any more."""
    message: str | None = None
    """What the script raises; None if it does not."""
    line: int | None = None
    """The line that raises."""
    score: float | None = None


def _describe_task(task: TaskResult) -> _TaskScript:
    """The script of a task that has ended, or whose last page is open."""
    script = _Script(_HEAD.format(id=task.id).splitlines(), ended=task.state != "running")
    for page in task.pages:
        script.page(page)
    return script.end(task)


def typed(answer: Any) -> str:
    """An answer as text, so that no two are the same: a text that reads as JSON is quoted."""
    if isinstance(answer, str):
        try:
            json.loads(answer)
        except (ValueError, RecursionError):
            return answer
    return json.dumps(answer, ensure_ascii=False)


@dataclass
class _Script:
    lines: list[str]
    ended: bool
    printed: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    tries: list[_PageTry] = field(default_factory=list)
    pages: int = 0
    right: int = 0

    def page(self, page: PageResult) -> None:
        """Add a page and the answers sent to it."""
        self.pages += 1
        self.lines += ["", f"# page {self.pages}"]
        self._say(f"Page {self.pages}: {page.url}")
        for text in (page.question, ", ".join(page.files) and f"Files: {', '.join(page.files)}"):
            if text:
                self._say(text)
        if page.submissions or not self._is_over(page):
            self._ask(page)
        self.right += page.state == "correct"

    def _is_over(self, page: PageResult) -> bool:
        return self.ended or page.state != "open"

    def _ask(self, page: PageResult) -> None:
        tag = f"  #{TEXTAREA}" if page.kind == TEXTAREA else ""
        prompt = f"{_name(page)}{_KINDS.get(page.kind, '')}: "
        self.lines.append(f"answer = input({prompt!r}){tag}")
        for one in page.submissions[:-1]:
            self._refuse(one)
        if self._is_over(page):
            self._last(page, page.submissions[-1])
        else:
            self._raise("NEVER", self._score())

    def _refuse(self, one: Submission) -> None:
        answer, score = typed(one.answer), self._score()
        self.tries.append(_PageTry(len(self.answers), answer, score))
        self.lines.append(f"if answer == {answer!r}:")
        self._raise(repr(_said(one)), score, "    ")

    def _last(self, page: PageResult, one: Submission) -> None:
        answer = typed(one.answer)
        self.answers.append(answer)
        self.lines.append(f"if answer != {answer!r}:")
        self._raise("NEVER", self._score(), "    ")
        if one.correct:
            self._say(f"Right, sent after {one.t:.1f} s.")
        elif page.state == "skipped":
            said = _said(one)
            self._say(f"{said[0].upper()}{said[1:]}\nGiven up; the server named the next page.")

    def end(self, task: TaskResult) -> _TaskScript:
        """Complete the script with the end of the task."""
        message = score = None
        if self.ended and task.state == "finished" and self.right == self.pages:
            self._say(f"The quiz is over: all {self.pages} pages right.")
        elif self.ended:
            self.pages += _ended_between(task)  # the page that was to come is not right either
            message, score = _end(task, self.right), self._score()
            self._raise(repr(message), score)
        return _TaskScript(
            "\n".join([*self.lines, ""]),
            tuple(self.answers),
            tuple(self.tries),
            tuple(self.printed),
            self.ended,
            message,
            len(self.lines) if message else None,
            score,
        )

    def _score(self) -> float:
        """The share of the pages so far that are right."""
        return float(f"{self.right / max(self.pages, 1):.4f}")

    def _say(self, text: str) -> None:
        text = text.encode("utf-8", "replace").decode()
        self.printed.append(text)
        parts = [repr(part) for part in text.splitlines(keepends=True)]
        inner = [f"    {part}" for part in parts]
        self.lines += [f"print({parts[0]})"] if len(parts) == 1 else ["print(", *inner, ")"]

    def _raise(self, message: str, score: float, indent: str = "") -> None:
        self.lines.append(f"{indent}raise Exception({message})  #score = {score:g}")


def _name(page: PageResult) -> str:
    """What a page is called in a question: the last part of its path."""
    return safe_name(urlsplit(page.url).path.rstrip("/") or "page")[-_LONGEST:]


def _said(one: Submission) -> str:
    how = _OUTCOMES.get(one.outcome, one.outcome)
    return f"{how}: {one.reason.strip()}" if one.reason.strip() else how


def _ended_between(task: TaskResult) -> bool:
    """Whether a task ended after one page and before the next."""
    states = [page.state for page in task.pages]
    return bool(states) and task.state != "finished" and states[-1] not in ("open", task.state)


def _end(task: TaskResult, right: int) -> str:
    """Why a task ended that has not all pages right."""
    pages: Sequence[PageResult] = task.pages
    last = pages[-1] if pages else None
    if task.state == "finished":
        missed = [_name(page) for page in pages if page.state != "correct"]
        more = ", …" if len(missed) > _NAMED else ""
        return f"{right} of {len(pages)} pages right; not {', '.join(missed[:_NAMED])}{more}"
    if last and last.submissions and last.state == task.state:
        return _said(last.submissions[-1])
    why = _ENDS.get(task.state, task.state)
    more = task.error or "; ".join(last.notes if last and last.state in _NOTED else ())
    return f"{why}: {more}" if more else why

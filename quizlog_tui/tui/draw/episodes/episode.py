"""Draws an episode in full: why it is verified or not, question, runs, hooks, conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....episodes.read.facts import EpisodeFacts, EpisodeRun, HookFacts
from ....text import plural
from ...widgets.documents import Line, line, terminal_pieces
from ..status import score_text
from .hooks import graph

MOST = 4000
"""Maximum characters shown of one text."""
_SHORT = 60
"""Maximum characters of an answer in a list."""


def episode_lines(episode: EpisodeFacts) -> list[Line]:
    """All of an episode."""
    parts = (_verdict, _question, _runs, _answers, _hooks, _talk)
    return [drawn for part in parts for drawn in (*part(episode), line(""))][:-1]


def clipped(text: str, most: int = MOST) -> str:
    """A text cut to a length, followed by the number of characters left out."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more)"


def _head(text: str) -> Line:
    return line((text, "head"))


def _verdict(episode: EpisodeFacts) -> Iterator[Line]:
    said = ("✓ verified", "good") if episode.verified else ("✗ not verified", "warn")
    yield line(said)
    for check in episode.checks:
        mark = ("✓ ", "good") if check.holds else ("✗ ", "error")
        yield line("  ", mark, check.text)
    if episode.verified != episode.is_confirmed:
        told = "says that it is verified" if episode.verified else "says that it is not verified"
        yield line(("! ", "error"), f"the line {told}, but its runs do not confirm that")


def _question(episode: EpisodeFacts) -> Iterator[Line]:
    yield _head("Question")
    asked = terminal_pieces(clipped(episode.question), "", raw=False)
    yield line(*(asked or [("not given", "dim")]))
    if episode.hint:
        hint = terminal_pieces(clipped(episode.hint), "", raw=False)
        yield line(("hint, shown only to the teacher: ", "dim"), *hint)
    yield line((clipped(episode.about), "dim"))


def _runs(episode: EpisodeFacts) -> Iterator[Line]:
    yield _head(f"Gold, and {plural(len(episode.others), 'consistency run')}")
    yield line(("★ ", "answer"), *_run_pieces(episode.gold))
    for run in episode.others:
        sign = ("= ", "good") if run.agrees else ("≠ ", "warn")
        yield line(sign, *_run_pieces(run), (_parting(run, episode.gold), "dim"))


def _run_pieces(run: EpisodeRun) -> tuple[tuple[str, str], ...]:
    answer = "no answer" if run.answer is None else clipped(run.answer, _SHORT)
    ended = "" if run.success else f" ✗ not finished{score_text(run.score)}"
    style = "dim" if run.answer is None else "answer"
    return (clipped(run.name, _SHORT), "prompt"), ("  ", ""), (answer, style), (ended, "error")


def _parting(run: EpisodeRun, gold: EpisodeRun) -> str:
    """The step at which a run parts from the gold run."""
    at = run.parts_from(gold)
    if run.inputs == gold.inputs:
        return "  the same answers" if run.inputs else ""
    if at == len(run.inputs):
        return f"  ends after {plural(at, 'answer')}"
    return f"  parts at step {at}"


def _answers(episode: EpisodeFacts) -> Iterator[Line]:
    """Each gold answer with the runs that part there."""
    gold = episode.gold
    yield _head("Answers, and the runs that part from the gold run")
    if not gold.inputs:
        yield line(("not given", "dim"))
    partings = [(run.parts_from(gold), run) for run in episode.others]
    for at, answer in enumerate(gold.inputs):
        same = sum(1 for there, _ in partings if there > at)
        told = f"  {same} of {len(partings)} the same" if partings else ""
        yield line((f"{at:>4} ", "dim"), (clipped(answer, _SHORT), "answer"), (told, "dim"))
        for there, run in partings:
            if there == at < len(run.inputs):
                name, other = (clipped(text, _SHORT) for text in (run.name, run.inputs[at]))
                yield line(("     ≠ ", "warn"), other, (f"  {name}", "dim"))


def _hooks(episode: EpisodeFacts) -> Iterator[Line]:
    hooks = episode.gold.hooks
    yield _head("Hooks and what each depends on")
    if not hooks:
        yield line(("none", "dim"))
    known: list[str] = []
    drawn = graph([(hook.name, hook.depends_on) for hook in hooks])
    for hook, gutter in zip(hooks, drawn, strict=True):
        yield line((f"{gutter} ", "prompt"), *_hook_pieces(hook, known), cut=True)
        known.append(hook.name)


def _hook_pieces(hook: HookFacts, known: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A hook's name, value, and dependencies unless that is only the previous hook."""
    yield clipped(hook.name, _SHORT), "prompt"
    value = hook.value_hash if hook.value is None else hook.value
    yield f" = {clipped(value, _SHORT)}", "answer"
    if list(hook.depends_on) != list(known[-1:]):
        needed = (one if one in known else f"{one} (unknown)" for one in hook.depends_on)
        yield f"  ← {clipped(', '.join(needed) or 'nothing', _SHORT)}", "dim"
    yield f"  {clipped(hook.code_line.strip(), 200)}", "dim"


def _talk(episode: EpisodeFacts) -> Iterator[Line]:
    yield _head("Training conversation")
    if episode.system_prompt:
        said = terminal_pieces(clipped(episode.system_prompt), "", raw=False)
        yield line(("system ", "dim"), *said)
    styles = {"user": "prompt", "assistant": "answer"}
    for role, content in episode.messages:
        said = terminal_pieces(clipped(content), styles.get(role, ""), raw=False)
        yield line((f"{clipped(role, _SHORT)} ", "dim"), *said)

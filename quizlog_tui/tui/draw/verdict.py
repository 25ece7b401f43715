"""Puts a verdict, and how far a branch fits its script, into words for the screens.

Each verdict has a sign and a word, so that colour is never the only sign. Uses no widgets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import Any

from ...proof.diverge import NOTHING
from ...proof.drift import NOUNS, BranchDrift, DriftReport, describe_files, fit_text
from ...proof.proven import ProvenRecord
from ...proof.verify_branch import varied_in_words
from ...text import clipped, first_lines, one_line, plural, told_apart
from ..widgets.columns import Cell, Grid, Layout, cells_line, layout, widest
from ..widgets.documents import Line, line
from .status import WORDS

_SIGNS = {"reproducible": "✓", "fragile": "~", "diverges": "✗", "unverifiable": "?"}
_STYLES = {"reproducible": "good", "fragile": "warn", "diverges": "error", "unverifiable": "warn"}
SIDES = {"diverges": ("recorded", "replayed"), "fragile": ("here", "in another world")}
"""What the two sides of a difference are, by the verdict."""
_MOST_REASON = 48
"""Characters of a reason in the line at the top."""
_COMPARED = "Compared at each step: the printed text, the question, the outcome."
_NOT_SAID = "This says that the script shows this for these answers, not who gave them or when."
_NOT_WATCHED = (
    "The script's folder has too much in it to be watched: this is how it was when verified, and "
    "is not kept."
)


def verdict_text(proven: ProvenRecord) -> str:
    """The verdict in a few words, for the line at the top."""
    return f"{_found_text(proven)}{'' if proven.is_kept else ', when verified'}"


def _found_text(proven: ProvenRecord) -> str:
    found = proven.verdict
    said = f"{_SIGNS[found.verdict]} {found.verdict}"
    if found.verdict == "unverifiable":
        return f"{said}: {clipped(one_line(found.reason or ''), _MOST_REASON)}"
    at = f"at step {found.step}{_of_branch(proven)}"
    if found.verdict == "fragile":
        return f"{said}: {found.cause} {at}"
    if found.verdict == "diverges":
        return f"{said} {at}: {found.what}"
    left = len(found.not_judged)
    edited = ", though the script was edited" if found.fits else ""
    not_judged = f"; {plural(left, 'part')} not judged" if left else ""
    return f"{said}{edited}{not_judged}"


def _of_branch(proven: ProvenRecord) -> str:
    """The branch of the verdict, if the record has several."""
    names = proven.about.record.all_names
    return f" of {told_apart(names)[proven.branch]}" if len(names) > 1 else ""


def verdict_lines(proven: ProvenRecord) -> Iterator[Line]:
    """What was found; before the two sides, if there is a difference."""
    found = proven.verdict
    yield line((f"{_SIGNS[found.verdict]} {found.headline}", _STYLES[found.verdict]))
    if found.differs:
        yield line("")
        yield line((f"{NOUNS[found.what or 'print'].capitalize()} at step {found.step}", "head"))


def basis_lines(proven: ProvenRecord, path: Path) -> Iterator[Line]:
    """What the verdict is based on, after the two sides, if there is a difference."""
    found = proven.verdict
    yield line("")
    if found.verdict == "reproducible":
        yield from map(line, _how_it_was_judged(proven))
    for remark in islice(found.remarks, 2 if found.differs else 0, None):  # both sides are shown
        yield line(f"{remark[0].upper()}{one_line(remark[1:])}.")
    if found.verdict == "reproducible":
        yield line((_NOT_SAID, "dim"))
    if not proven.is_kept:
        yield line(_NOT_WATCHED)
    yield line("")
    yield line(("In a shell: ", "dim"), (f"quizlog verify {quote(path.name)}", "code"))


def _how_it_was_judged(proven: ProvenRecord) -> Iterator[str]:
    """Which branches were replayed, and what the worlds of the replays were."""
    judged = proven.judged
    names = told_apart(judged)
    lengths = [f"{names[name]} with {plural(count, 'answer')}" for name, count in judged.items()]
    each = ", ".join(first_lines(lengths))
    yield f"Replayed to the end: {plural(len(judged), 'branch')}, {each}."
    varied = "; ".join(varied_in_words(proven.verdict.observed))
    yield (
        "Each was replayed in the world that the record asks for, and in others, where this was "
        f"changed: {varied}."
    )
    yield _COMPARED


def value_shown(what: str | None, value: Any, no_text: str = NOTHING) -> str:
    """One side of a difference, as text."""
    if value is None:
        return f"({no_text})"
    text = f"{value:g}" if isinstance(value, int | float) else str(value)
    return WORDS.get(text, text) if what == "outcome" else text


def drift_title(report: DriftReport) -> str:
    """Whether the script and its files are those of the record, in one line."""
    changed = "has changed" if report.changed else "is as recorded"
    return "; ".join((f"the script {changed}", *map(one_line, describe_files(report.files))))


def drift_grid(branches: Sequence[BranchDrift]) -> Grid:
    """A row for each branch: how many answers agree, and what differs after them."""
    names = told_apart(branch.branch for branch in branches)
    columns = {"branch": max(12, widest(names.values()) + 2), "agree": 12, "then differs": 30}
    least = {"branch": 12, "then differs": 12}

    def make(index: int, shown: Layout) -> Line:
        return cells_line(shown, _drift_cells(branches[index], names[branches[index].branch]))

    def text(index: int) -> str:
        return f"{names[branches[index].branch]} {fit_text(branches[index])}"

    return Grid(len(branches), lambda width: layout(width, columns, least), make, text)


def _drift_cells(branch: BranchDrift, name: str) -> dict[str, Cell]:
    found = branch.difference
    differs = "" if found is None else f"{NOUNS[found.what]} at step {found.step}"
    return {
        "branch": (f"{'✓' if found is None else '≠'} {name}", "" if found is None else "warn"),
        "agree": f"{branch.agreed} of {branch.answers}",
        "then differs": differs,
    }


def fit_lines(branch: BranchDrift) -> Iterator[Line]:
    """How far a branch fits, before the two sides if there is a difference."""
    found = branch.difference
    yield line((one_line(branch.branch), "head"))
    yield line(one_line(fit_text(branch)))
    if found is not None:
        yield line("")
        yield line((f"{NOUNS[found.what].capitalize()} at step {found.step}", "head"))

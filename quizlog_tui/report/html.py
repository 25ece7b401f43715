"""Renders a report as one page: nothing loaded from elsewhere, light and dark.

It holds no script unless a player is wanted, and then shows the same without it. The player knows
no text of a record: it copies what the page shows anyway. All untrusted text goes through `_safe`,
the only place where text becomes HTML.
"""

from __future__ import annotations

import shlex
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from html import escape
from pathlib import Path

from rich.color import Color
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

from ..record.feedback import Feedback
from ..replay.script.needed_files import EXPORT
from ..session.timeline import TimelineRow
from ..terminal_text import rich_style, settle
from ..text import visible
from .document import (
    BranchSection,
    ErrorSection,
    RecordReport,
    given,
    length,
    outcome,
    place,
    signed,
    when,
)

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fbfbf9; --box: #fff; --line: #d5d7da;
  --dim: #5c6166; --answer: #0b57b0; --good: #176b2c; --bad: #a3211b; --mark: #fdf0d8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e8; --paper: #16181b; --box: #1e2125;
  --line: #3a3f45; --dim: #a3a9b0; --answer: #83b9f7; --good: #7fd18f; --bad: #f49a92;
  --mark: #3b3222; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
pre, code { font-family: ui-monospace, monospace; font-size: .9em; }
pre { overflow-x: auto; margin: .3rem 0; padding: .4rem .6rem; background: var(--box);
  border: 1px solid var(--line); border-radius: 4px; }
pre .answer { white-space: pre-wrap; }
@media print { pre { white-space: pre-wrap; } }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt, .dim { color: var(--dim); } dd { margin: 0; }
details { border: 1px solid var(--line); border-radius: 6px; padding: .4rem .8rem; margin: 1rem 0; }
summary { cursor: pointer; } .step { margin: .8rem 0; }
.answer { color: var(--answer); font-weight: 600; }
.stderr { border: 0; padding: 0; margin: .3rem 0; color: var(--dim); }
.success { color: var(--good); } .error { color: var(--bad); }
.remark { background: var(--mark); padding: .2rem .6rem; border-radius: 4px; margin: .3rem 0; }
.here { font-weight: 700; }
"""
_HEAD = (
    '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'{allowed}\">"
)


def to_html(report: RecordReport, *, player: bool = False) -> str:
    """The report as an HTML page, with a player of its steps if wanted."""
    return "\n".join(_document(report, player)) + "\n"


def _safe(text: str) -> str:
    return escape(visible(text))


def _rendered(text: str) -> str:
    """Output as a terminal would show it, in its colours."""
    return "".join(
        f'<span style="{css(style)}">{_safe(shown)}</span>' if style else _safe(shown)
        for shown, style in settle(text)
    )


def _document(report: RecordReport, player: bool) -> Iterator[str]:
    head = _HEAD.format(allowed=f"; script-src {_player_source()}" if player else "")
    yield f'<!doctype html>\n{EXPORT}\n<html lang="en">\n<head>\n{head}'
    yield f"<title>{_safe(report.script)}: {_safe(report.record)}</title>"
    yield f"<style>{_STYLE}{_player('css') if player else ''}</style>\n</head>\n<body>"
    yield f"<h1>{_safe(report.script)}</h1>\n<dl>"
    yield _item("record", report.record)
    yield _item("seed", str(report.seed))
    if report.args:
        yield _item("arguments", shlex.join(report.args))
    yield _item("script", report.code_hash)
    yield from (_item("note", warning) for warning in report.warnings)
    yield "</dl>"
    yield from _remarks(report.remarks, apart=True)
    names = [branch.name for branch in report.branches]
    for branch in report.branches:
        yield from _branch(branch, _fork(branch, names) if player else "", player)
    if player:
        yield f"<script>{_player('js')}</script>"
    yield "</body>\n</html>"


def _item(name: str, text: str) -> str:
    return f"<dt>{name}</dt><dd>{_safe(text)}</dd>"


def _fork(branch: BranchSection, names: Sequence[str]) -> str:
    """Where a branch forks, for the player: numbers only, no text of the record."""
    if branch.parent is None or branch.parent not in names:
        return f' data-at="{branch.at}"'
    return f' data-parent="{names.index(branch.parent)}" data-at="{branch.at}"'


def _branch(branch: BranchSection, fork: str, player: bool) -> Iterator[str]:
    ends = f'<span class="{branch.status or ""}">{outcome(branch.status, branch.score)}</span>'
    active = " · active" if branch.active else ""
    yield f"<details{fork}{' open' if branch.active else ''}>"
    yield (
        f"<summary><strong>{_safe(branch.name)}</strong> {ends} "
        f'<span class="dim">· {length(branch)}{active}</span></summary>\n<dl>'
    )
    if branch.parent is not None:
        yield _item("forks from", f"{branch.parent} at step {branch.at}")
    if branch.created:
        yield _item("created", when(branch.created))
    if branch.note:
        yield _item("note", branch.note)
    if branch.problem:
        yield _item("could not be run", branch.problem)
    yield "</dl>"
    yield from _remarks(branch.remarks, apart=False)
    for row in branch.rows:
        yield from _row(row, given(branch, row.at), ends, player)
    if branch.error:
        yield from _error(branch.error)
    yield "</details>"


def _row(row: TimelineRow, who: Sequence[str], ends: str, player: bool) -> Iterator[str]:
    line = "" if row.line is None else f" · line {row.line}"
    line += f" · {_safe(row.step.place)}" if row.step.place else ""
    code = " · the answer ran as code" if row.code else ""
    yield f'<div class="step">\n<span class="dim">step {row.at}{line}{code}</span>'
    question = _rendered(row.step.prompt or "")
    marked = f'<span class="question">{question}</span>' if player and question else question
    shown = _rendered("".join(row.step.written)) + marked
    answer = "" if row.answer is None else f'<span class="answer">{_safe(row.answer)}</span>'
    if shown or answer:
        yield f"<pre>\n{shown}{answer}</pre>"
    if answer and who:
        yield f'<small class="dim">{_safe(" · ".join(who))}</small>'
    if row.step.stderr:
        text = _rendered(row.step.stderr)
        yield f'<details class="stderr"><summary>stderr</summary><pre>\n{text}</pre></details>'
    if row.answer is None:
        yield f"<p>{ends}</p>"
    yield from _remarks(row.notes, apart=False)
    yield "</div>"


def _error(error: ErrorSection) -> Iterator[str]:
    file = f" in {_safe(error.file)}," if error.file else " in"
    line = "" if error.line is None else f"{file} line {error.line}"
    kind = f"{_safe(error.kind)}: " if error.kind else ""
    yield f'<p class="error">Error{line}: {kind}{_rendered(error.message)}</p>'
    if error.excerpt:
        rows = (_source_row(number, text, error.line) for number, text in error.excerpt)
        yield f"<pre>\n{''.join(rows)}</pre>"
    if error.said:
        yield f"<pre>\n{_rendered(error.said)}</pre>"


def _source_row(number: int, text: str, line: int | None) -> str:
    mark, name = (">", "here") if number == line else (" ", "dim")
    return f'<span class="{name}">{mark} {number:4}  {_safe(text)}</span>\n'


def _remarks(remarks: Iterable[Feedback], *, apart: bool) -> Iterator[str]:
    for remark in remarks:
        head = ", ".join([*(place(remark) if apart else []), *signed(remark)])
        words = _safe(head or "remark")
        yield f'<div class="remark"><strong>{words}</strong> {_safe(remark.text)}</div>'


@cache
def _player(suffix: str) -> str:
    """The player's script or style, as it stands between the tags of the page."""
    return Path(__file__).with_name(f"player.{suffix}").read_text(encoding="utf-8")


def _player_source() -> str:
    """What the page's security policy must allow so that this script runs and no other."""
    return f"'sha256-{b64encode(sha256(_player('js').encode()).digest()).decode()}'"


_INK_SHARE = 35
"""Percent of the page's own ink in every colour, so that no text can hide on the page."""
_READABLE = 60
"""The least difference in brightness, from 0 to 255, between a text and its own ground."""


@lru_cache(maxsize=1024)
def css(style: str) -> str:
    """The declarations for a style: parameters of SGR, as `Piece.style` has them."""
    found = rich_style(style)
    ink, ground = found.color, found.bgcolor
    if found.reverse:
        ink, ground = ground, ink
    told = [*_colors(ink, ground)] if ink or ground else []
    if found.reverse and not told:
        told = ["color:var(--paper)", "background:var(--ink)"]
    told += ["font-weight:700"] if found.bold else []
    told += ["opacity:.75"] if found.dim else []
    told += ["font-style:italic"] if found.italic else []
    lines = [("underline", found.underline), ("line-through", found.strike)]
    drawn = " ".join(name for name, shown in lines if shown)
    return ";".join([*told, *([f"text-decoration:{drawn}"] if drawn else [])])


def _colors(ink: Color | None, ground: Color | None) -> list[str]:
    if ground is None:
        share = 100 - _INK_SHARE
        return [f"color:color-mix(in srgb,{_hex(ink)} {share}%,var(--ink))"] if ink else []
    light = _brightness(ground)
    if ink is None or abs(_brightness(ink) - light) < _READABLE:
        shown = "#000" if light > 127 else "#fff"
    else:
        shown = _hex(ink)
    return [f"color:{shown}", f"background:{_hex(ground)}"]


def _hex(color: Color) -> str:
    return color.get_truecolor(DEFAULT_TERMINAL_THEME).hex


def _brightness(color: Color) -> float:
    red, green, blue = color.get_truecolor(DEFAULT_TERMINAL_THEME)
    return (299 * red + 587 * green + 114 * blue) / 1000

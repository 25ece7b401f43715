"""Turns the browser's own account of what it renders into text, as a reader sees it. Pure.

The account is Chromium's `DOMSnapshot`, node by node: with frames, with shadow roots in their
places, and with the texts of CSS, list markers and transformed letters.

Lines, gaps and columns are as in `innerText`. Form controls, pictures and labels stand in brackets;
what shows something that is no text is named as unread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from unicodedata import normalize

from ...replay.script.input_kinds import CHECKBOX, RADIO, TEXTAREA
from ..net.address import name_of

STYLES = (
    "display", "visibility", "white-space", "background-image", "content", "text-decoration-line",
    "opacity", "font-size", "color", "background-color", "clip-path", "overflow-y",
)  # fmt: skip
"""The computed styles that are read, in the order in which `captureSnapshot` is asked for them."""
_LEAST_LETTER = 3.0
"""Minimum size of letters that can be read."""
_CLIPPED = re.compile(r"inset\((?:[5-9]\d|100)(?:\.\d+)?%|circle\(0")
_CLEAR = re.compile(r"rgba\(.*, 0(?:\.0\d*)?\)")
_FAR = 5000
"""Number of pixels to the right at which nobody looks."""
_LEAST = 16
"""Minimum width and height of a picture; smaller ones are dots and lines."""


class _Tree:
    """A document's nodes, by their numbers."""

    def __init__(self, strings: list[str], document: Mapping[str, Any]) -> None:
        nodes, layout = document["nodes"], document["layout"]
        self._strings, self._nodes, self._layout = strings, nodes, layout
        self.parents: list[int] = nodes["parentIndex"]
        self.url = self._string(document["documentURL"])
        self.pseudo = self._texts("pseudoType")
        self.values = self._texts("inputValue") | self._texts("textValue")
        self.sources = self._texts("currentSourceURL")
        self.checked = frozenset(nodes["inputChecked"]["index"])
        self.selected = frozenset(nodes["optionSelected"]["index"])
        self.children: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                self.children[parent].append(node)
        self.boxes: dict[int, list[int]] = {}
        for box, node in enumerate(layout["nodeIndex"]):
            self.boxes.setdefault(node, []).append(box)
        frames: dict[int, int] = self._rare("contentDocumentIndex")
        self.frames = {node: index for node, index in frames.items() if self.is_shown(node)}
        """The documents in frames that are shown, by the frame's node."""
        self.out_of_sight = self._out_of_sight()
        """The nodes that are rendered where, or as, nobody can see them."""

    def _out_of_sight(self) -> frozenset[int]:
        found: set[int] = set()
        behind: dict[int, str] = {-1: "rgb(255, 255, 255)"}  # "" where it is a picture
        for node, parent in enumerate(self.parents):  # a parent comes before its children
            color = self.style(node, "background-color")
            behind[node] = behind[parent] if not color or _CLEAR.match(color) else color
            if self.style(node, "background-image") not in ("", "none"):
                behind[node] = ""
            if parent in found or self._is_hidden(node) or self._is_faint(node, behind[node]):
                found.add(node)
        return frozenset(found)

    def _is_hidden(self, node: int) -> bool:
        """Whether CSS hides an element with all it holds."""
        shown = float(self.style(node, "opacity") or 1) >= 0.1
        bounds = [self._layout["bounds"][box] for box in self.boxes.get(node, ())]
        cut = self.style(node, "overflow-y") in ("hidden", "clip")
        gone = cut and bounds and all(min(box[2:]) <= 1 for box in bounds)
        return bool(not shown or gone or _CLIPPED.match(self.style(node, "clip-path")))

    def _is_faint(self, node: int, behind: str) -> bool:
        """Whether a text is too small, off the page or as clear as what is behind it."""
        if self.written(node).strip() == "" and node not in self.pseudo:
            return False
        size = float(self.style(node, "font-size").removesuffix("px") or _LEAST_LETTER)
        bounds = [self._layout["bounds"][box] for box in self.boxes.get(node, ())]
        off = bounds and all(min(w, h, x + w, y + h, _FAR - x) <= 0 for x, y, w, h in bounds)
        color = self.style(node, "color")
        return bool(size < _LEAST_LETTER or off or _is_alike(color, behind) or _CLEAR.match(color))

    def _string(self, number: int) -> str:
        return self._strings[number] if number >= 0 else ""

    def _rare(self, name: str) -> dict[int, int]:
        rare = self._nodes[name]
        return dict(zip(rare["index"], rare["value"], strict=True))

    def _texts(self, name: str) -> dict[int, str]:
        return {node: self._string(value) for node, value in self._rare(name).items()}

    def name(self, node: int) -> str:
        """The name of an element, in lower case."""
        return self._string(self._nodes["nodeName"][node]).lower()

    def is_text(self, node: int) -> bool:
        """Whether a node is a text."""
        return bool(self._nodes["nodeType"][node] == 3)

    def written(self, node: int) -> str:
        """A text as written, before CSS transforms its letters."""
        return self._string(self._nodes["nodeValue"][node]) if self.is_text(node) else ""

    def source(self, node: int) -> str:
        """The text in an element as written."""
        return " ".join(" ".join(map(self.written, self.children[node])).split())

    def inside(self, *names: str) -> list[int]:
        """The nodes inside elements of these names."""
        found: dict[int, None] = {}
        for node, parent in enumerate(self.parents):  # a parent comes before its children
            if parent in found or (parent >= 0 and self.name(parent) in names):
                found[node] = None
        return list(found)

    def below(self, top: int, name: str) -> list[int]:
        """The elements of a name inside a node."""
        stack, found = [top], []
        while stack:
            node = stack.pop()
            stack += reversed(self.children[node])
            found += [node] if self.name(node) == name else []
        return found

    def unseen(self, ids: Collection[str]) -> list[int]:
        """The elements with these ids that are not rendered."""
        nodes = range(len(self.parents)) if ids else ()
        return [n for n in nodes if n not in self.boxes and self.attributes(n).get("id") in ids]

    def attributes(self, node: int) -> dict[str, str]:
        """The attributes of an element."""
        flat = [self._string(number) for number in self._nodes["attributes"][node]]
        return dict(zip(flat[::2], flat[1::2], strict=True))

    def style(self, node: int, name: str) -> str:
        """A computed style; "" if the node is not rendered."""
        styles = next((self._layout["styles"][box] for box in self.boxes.get(node, ())), None)
        return self._string(styles[STYLES.index(name)]) if styles else ""

    def is_shown(self, node: int) -> bool:
        """Whether a node is rendered and visible."""
        return self.style(node, "visibility") == "visible"

    def texts(self, node: int) -> Iterator[str]:
        """The rendered texts of a node."""
        for box in self.boxes.get(node, ()) if self.is_shown(node) else ():
            if text := self._string(self._layout["text"][box]):
                yield text

    def is_large(self, node: int) -> bool:
        """Whether a node has room for something to see."""
        bounds = (self._layout["bounds"][box] for box in self.boxes.get(node, ()))
        return any(box[2] >= _LEAST and box[3] >= _LEAST for box in bounds)


def _is_alike(color: str, other: str) -> bool:
    """Whether nobody can tell two colors from each other."""
    one, two = ([int(part) for part in re.findall(r"\d+", text)[:3]] for text in (color, other))
    return len(one) == len(two) == 3 and all(abs(a - b) < 12 for a, b in zip(one, two, strict=True))


_CODE = ("code", "kbd", "samp", "tt", "var")
_PLAIN_MARKERS = tuple("•◦▪▸▾■○●")
_BLOCK = re.compile(r"(?:block|flex|grid|table|table-caption|table-row|list-item|flow-root)$")
_AROUND = {
    "rt": ("(", ")"), "del": ("~~", "~~"), "s": ("~~", "~~"), "strike": ("~~", "~~"),
    "msqrt": ("sqrt(", ")"),
}  # fmt: skip
"""What stands for a place or a line that gives a text another meaning."""
_APART = ("button", "input", "select", TEXTAREA)
"""Elements with a frame around them, which sets them apart as a space does."""
_PLACES = {"marker": -1, "after": 1}
"""Where what CSS adds to an element stands, before or after all else."""
_BEFORE = {"sup": "^", "sub": "_"}
_BETWEEN = {
    "mfrac": "/", "msup": "^", "msub": "_", "mover": "^", "munder": "_", "msubsup": "_^",
    "munderover": "_^",
}  # fmt: skip
_MUTE = ("hidden", "password", "file", "range", "color", "image", CHECKBOX, RADIO)
"""Kinds of inputs whose value is not on the screen."""
_CSS_URL = re.compile(r'url\("([^"]*)"\)')


@dataclass(frozen=True)
class Rendered:
    """What a document shows."""

    url: str
    text: str = ""
    samples: tuple[str, ...] = ()
    """Preformatted texts."""
    words: tuple[str, ...] = ()
    """Single words that are set as code."""
    unread: tuple[str, ...] = ()
    """What shows something that was not read, such as pictures."""
    written: str | None = None
    """What a reader can see of the text, in the letters of the HTML, for addresses."""


def rendered(capture: Mapping[str, Any], read: Collection[str] = ()) -> list[Rendered]:
    """What each document shows whose frame is shown, the main one first.

    Args:
        capture: The result of `DOMSnapshot.captureSnapshot`.
        read: URLs of frames that are captured separately.
    """
    shown, found = {0}, []
    for index, document in enumerate(capture["documents"]):
        if index in shown:  # those of frames come after the document they stand in
            tree = _Tree(capture["strings"], document)
            shown |= set(tree.frames.values())
            found.append(_read(tree, read))
    return found


def not_loaded(url: str) -> Rendered:
    """A frame that shows only that it could not be loaded."""
    what = f"frame {url[:200]}"
    return Rendered(url, f"[{what}, not read]", unread=(what,))


def _read(tree: _Tree, read: Collection[str]) -> Rendered:
    page, inside = _Writer(tree, read), set(tree.inside("pre"))
    text, samples, words = page.text(0), [], []
    for node in range(len(tree.parents)):
        if (name := tree.name(node)) == "pre" or (name in _CODE and node not in inside):
            said = _Writer(tree, read).text(node)
            samples += [said] if said and name in ("pre", "code") else []
            words += [said] if re.fullmatch(r"\S+", said) and name != "pre" else []
    unread, words = dict.fromkeys(page.unread), list(dict.fromkeys(words))
    written = _Writer(tree, read, as_written=True).text(0) if page.changed else text
    return Rendered(tree.url, text, tuple(samples), tuple(words), tuple(unread), written)


# -- a text under construction


_MOST_SPAN = 50


@dataclass
class _Lines:
    """Text under construction, with the gaps and line ends of `innerText`."""

    parts: list[str] = field(default_factory=list)
    breaks: int = 0
    gap: bool = False
    marked: int = -1
    """Number of parts before the first text of a list's item or a cell."""

    def add(self, text: str, space: str = "normal") -> None:
        """Add text, with the spaces and line ends that its `white-space` keeps."""
        if space.startswith(("pre", "break")) and space != "pre-line":
            self._put(text)
            return
        for number, line in enumerate(text.split("\n") if space == "pre-line" else [text]):
            if number:
                self.end("\n")
            words = re.sub(r"[ \t\r\n\f]+", " ", line)
            self.gap = self.gap or words.startswith(" ")
            if words.strip(" "):
                self._put(words.strip(" "))
                self.gap = words.endswith(" ")

    def end(self, mark: str) -> None:
        """Add a line end or a tab, before which no gap counts."""
        self.gap = False
        self._put(mark)

    def mark(self) -> None:
        """Let what comes next begin here, without further line ends."""
        if self.breaks:
            self._put("")
        self.marked = len(self.parts)

    def line(self, count: int = 1) -> None:
        """Ask for line ends before what comes next."""
        if len(self.parts) != self.marked:
            self.breaks, self.gap = max(self.breaks, count), False

    def enclose(self, start: int) -> None:
        """Put brackets around the parts since `start`, unless they are a single word."""
        while start < len(self.parts) and not self.parts[start].strip():
            start += 1  # the gap before them is no part of them
        if not re.fullmatch(r"[\w.,]*", "".join(self.parts[start:])):
            self.parts[start:] = ["(", *self.parts[start:], ")"]

    def _put(self, text: str) -> None:
        if self.parts and self.breaks:
            self.parts.append("\n" * self.breaks)
        elif self.gap and self.parts and not self.parts[-1].endswith(("\n", "\t", " ")):
            self.parts.append(" ")
        self.breaks, self.gap = 0, False
        self.parts.append(text)


@dataclass
class _TableGrid:
    """Where the cells of a table stand."""

    start: int = 0
    """Number of parts before the row."""
    column: int = 0
    at: int = 0
    """The column that the tabs of the row have reached."""
    taken: dict[int, int] = field(default_factory=dict)
    """The columns taken by cells of rows above, with the number of rows."""

    def row(self, start: int) -> None:
        """Begin a row."""
        self.taken = {column: rows - 1 for column, rows in self.taken.items() if rows > 1}
        self.start, self.column, self.at = start, 0, 0

    def cell(self, attributes: Mapping[str, str]) -> int:
        """Number of tabs before the next cell."""
        while self.column in self.taken:
            self.column += 1
        tabs, self.at = self.column - self.at, self.column
        self.column += (wide := _span(attributes.get("colspan")))
        if (high := _span(attributes.get("rowspan"))) > 1:
            self.taken |= dict.fromkeys(range(self.at, self.at + wide), high)
        return tabs


def _span(text: str | None) -> int:
    return min(int(text), _MOST_SPAN) if text and re.fullmatch(r"[1-9][0-9]{0,3}", text) else 1


# -- writing what the browser tells


@dataclass
class _Writer:
    """Writes the text of a document, or of a part of it."""

    tree: _Tree
    read: Collection[str]
    lines: _Lines = field(default_factory=_Lines)
    grids: list[_TableGrid] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    said: int = 0
    """Number of texts so far, without those that name what is unread."""
    as_written: bool = False
    """Whether letters have the case of the HTML, and what CSS puts out of sight is left out."""
    changed: bool = False
    """Whether CSS changed the case of letters, or put some out of sight."""

    def text(self, top: int) -> str:
        """The text of a node and of all that it holds."""
        stack = [self._node(top)]  # a page can be deeper than calls
        while stack:
            child = next(stack[-1], None)
            if child is None:
                stack.pop()
            else:
                stack.append(self._node(child))
        return "".join(self.lines.parts).strip("\n ")

    def _say(self, text: str, space: str = "normal") -> None:
        self.lines.add(text, space)
        self.said += bool(text.strip())

    def _miss(self, what: str, label: str = "") -> None:
        """Name something that shows more than can be read."""
        self._say(f"[{what}: {label}]") if label else self.lines.add(f"[{what}, not read]")
        self.unread.append(what)

    def _node(self, node: int) -> Iterator[int]:
        """Write a node; yields each child when it is to be written."""
        tree = self.tree
        if node in tree.pseudo or tree.is_text(node):
            self._texts(node)
        elif node in tree.boxes:
            yield from self._element(node)
        else:
            yield from self._children(node)

    def _texts(self, node: int) -> None:
        """Write a text, or what CSS puts before or after an element, or the marker of a list."""
        tree, marks = self.tree, self.tree.pseudo.get(node) == "marker"
        written = tree.written(node)
        if node in tree.out_of_sight:
            self.changed = True
            if self.as_written:
                return
        for text in tree.texts(node):
            if text != written and normalize("NFKC", text) == written:
                text = written  # letters of formulas
            elif text != written and text.casefold() == written.casefold():
                self.changed, text = True, written if self.as_written else text
            if not marks or text.strip() not in _PLAIN_MARKERS:
                self._say(text, tree.style(node, "white-space"))
        if marks and any(tree.texts(node)):
            self.lines.mark()
        if node in tree.pseudo:
            self._picture_of(node, tree.style(node, "content"))

    def _picture_of(self, node: int, style: str) -> None:
        """Name a picture of CSS."""
        if (found := _CSS_URL.search(style)) and self.tree.is_large(node):
            self._miss(_called("image", found[1]))

    def _children(self, node: int) -> Iterator[int]:
        """What an element holds, as it is shown; the browser's account has another order."""
        pseudo = self.tree.pseudo
        yield from sorted(
            self.tree.children[node], key=lambda child: _PLACES.get(pseudo.get(child, ""), 0)
        )

    def _element(self, node: int) -> Iterator[int]:
        tree, name, before = self.tree, self.tree.name(node), self.said
        display, shown = tree.style(node, "display"), tree.is_shown(node)
        breaks = (2 if name == "p" else 1) if _BLOCK.match(display) else 0
        if breaks:
            self.lines.line(breaks)
        if shown:
            self._picture_of(node, tree.style(node, "background-image"))
        if name in _APART:
            self.lines.gap = True
        if name in _ALONE:
            if shown:
                _ALONE[name](self, node, name, tree.attributes(node))
        else:
            yield from self._held(node, name, display)
        if name in _APART:
            self.lines.gap = True
        if name == "details" and "open" not in tree.attributes(node):
            self._miss("closed part")
        if shown and self.said == before:
            self._label(node, name, tree.attributes(node))
        if breaks:
            self.lines.marked = -1
            self.lines.line(breaks)

    def _held(self, node: int, name: str, display: str) -> Iterator[int]:
        """Write what an element holds, with what gives it another meaning."""
        if display in ("table", "inline-table"):
            self.grids.append(_TableGrid())
            yield from self._children(node)
            self.grids.pop()
        elif self.grids and display == "table-row":
            self.grids[-1].row(len(self.lines.parts))
            yield from self._children(node)
        elif self.grids and display == "table-cell":
            self._tabs(self.grids[-1], self.tree.attributes(node))
            yield from self._children(node)
        elif name in _BETWEEN or name in _BEFORE:
            yield from self._joined(node, name)
        else:
            struck = "line-through" in self.tree.style(node, "text-decoration-line")
            before, after = _AROUND.get(name) or (_AROUND["s"] if struck else ("", ""))
            self.lines.add(before)
            yield from self._children(node)
            self.lines.add(after)

    def _tabs(self, grid: _TableGrid, attributes: Mapping[str, str]) -> None:
        tabs = grid.cell(attributes)
        if tabs and len(self.lines.parts) > grid.start:
            self.lines.breaks = 0
        for _ in range(tabs):
            self.lines.end("\t")
        self.lines.mark()

    def _joined(self, node: int, name: str) -> Iterator[int]:
        """Write the parts of a fraction or a power, or what is raised or lowered."""
        if name in _BEFORE:
            self.lines.add(_BEFORE[name])
            start = len(self.lines.parts)
            yield from self._children(node)
            self.lines.enclose(start)
            return
        for number, child in enumerate(self._children(node)):
            if number:
                self.lines.add(_BETWEEN[name][number - 1 : number])
            start = len(self.lines.parts)
            yield child
            self.lines.enclose(start)

    def _label(self, node: int, name: str, attributes: Mapping[str, str]) -> None:
        """Write the label of an element that has no other text, and name what it shows."""
        titles = self.tree.below(node, "title") if name == "svg" else []
        titles += self.tree.unseen(attributes.get("aria-labelledby", "").split())
        label = attributes.get("aria-label") or attributes.get("title")
        label = label or " ".join(map(self.tree.source, titles))
        if name == "svg" and self.tree.is_large(node):
            self._miss("drawing", label)
        elif name == "object" and self.tree.is_large(node) and node not in self.tree.frames:
            self._miss(_called(name, attributes.get("data", "")), label)
        elif label:
            self._say(f"[{label}]")

    # -- elements that are written without what they hold

    def _end(self, node: int, name: str, attributes: Mapping[str, str]) -> None:
        self.lines.end("\n")

    def _image(self, node: int, name: str, attributes: Mapping[str, str]) -> None:
        label, url = attributes.get("alt", "").strip(), self.tree.sources.get(node)
        if self.tree.is_large(node):
            self._miss(_called("image", url or attributes.get("src", "")), label)
        elif label:
            self._say(f"[{label}]")

    def _input(self, node: int, name: str, attributes: Mapping[str, str]) -> None:
        kind, value = attributes.get("type", "").lower(), self.tree.values.get(node, "")
        if kind in (CHECKBOX, RADIO):
            self.lines.add("[x]" if node in self.tree.checked else "[ ]")
        elif kind == "image":
            self._image(node, name, attributes)
        elif kind in ("submit", "reset"):
            self._say(f"[{value or kind.title()}]")
        shown = "" if kind in _MUTE else value or attributes.get("placeholder", "")
        if shown and kind not in ("submit", "reset"):
            self._say(f"[{shown}]")
        if attributes.get("list"):
            self._options(self._datalist(attributes["list"]))

    def _textarea(self, node: int, name: str, attributes: Mapping[str, str]) -> None:
        if shown := self.tree.values.get(node) or attributes.get("placeholder"):
            self._say(f"[{shown}]", "pre")

    def _select(self, node: int, name: str, attributes: Mapping[str, str]) -> None:
        self._options(self.tree.below(node, "option"))

    def _datalist(self, name: str) -> list[int]:
        lists = self.tree.below(0, "datalist")
        held = (one for one in lists if self.tree.attributes(one).get("id") == name)
        return [option for one in held for option in self.tree.below(one, "option")]

    def _options(self, options: list[int]) -> None:
        """Write the options of a choice; another one than the first may be the chosen one."""
        texts = []
        for option in options:
            said = self.tree.attributes(option)
            text = said.get("label") or self.tree.source(option) or said.get("value", "")
            above = self.tree.parents[option]
            if (
                self.tree.name(above) == "optgroup"
                and option == self.tree.below(above, "option")[0]
            ):
                text = f"{self.tree.attributes(above).get('label', '')}: {text}"
            chosen = " (selected)" if option in self.tree.selected and option != options[0] else ""
            texts += [f"{text}{chosen}"] if text else []
        if texts:
            self._say(f"[{' | '.join(texts)}]")

    def _gauge(self, node: int, name: str, attributes: Mapping[str, str]) -> None:
        if value := attributes.get("value"):
            self._say(f"[{value}/{attributes.get('max', '1')}]")

    def _canvas(self, node: int, name: str, attributes: Mapping[str, str]) -> None:
        if self.tree.is_large(node):
            self._miss("canvas", attributes.get("aria-label", ""))

    def _player(self, node: int, name: str, attributes: Mapping[str, str]) -> None:
        url = self.tree.sources.get(node) or attributes.get("src") or attributes.get("data", "")
        label = attributes.get("aria-label") or attributes.get("title", "")
        if node not in self.tree.frames:
            self._miss(_called(name, url), label)

    def _frame(self, node: int, name: str, attributes: Mapping[str, str]) -> None:
        url = attributes.get("src", "")
        if url and node not in self.tree.frames and url not in self.read:
            self._miss(f"frame {url[:200]}")


def _called(what: str, url: str) -> str:
    """What a picture or a recording is called: by the name of its file, if it has one."""
    return what if not url or url.startswith(("data:", "blob:")) else f"{what} {name_of(url)}"


_ALONE: Mapping[str, Callable[[_Writer, int, str, Mapping[str, str]], None]] = {
    "br": _Writer._end,
    "img": _Writer._image,
    "input": _Writer._input,
    TEXTAREA: _Writer._textarea,
    "select": _Writer._select,
    "progress": _Writer._gauge,
    "meter": _Writer._gauge,
    "canvas": _Writer._canvas,
    **dict.fromkeys(("video", "audio", "embed"), _Writer._player),
    **dict.fromkeys(("iframe", "frame"), _Writer._frame),
}
"""Elements that are written in a way of their own."""

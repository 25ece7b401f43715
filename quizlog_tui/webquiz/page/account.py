"""The browser's own account of what it renders, node by node. Pure.

It is Chromium's `DOMSnapshot`: with frames, with shadow roots in their places, and with the texts
of CSS, list markers and transformed letters.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

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


class Tree:
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

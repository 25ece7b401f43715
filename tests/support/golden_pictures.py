"""Holds pictures of screens against the golden ones."""

from __future__ import annotations

import os
from importlib.metadata import version

import pytest

from tests.support.screens import GOLDEN

PICTURES = GOLDEN / "pictures"


TAKEN_WITH = PICTURES / "textual-version.txt"


UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))


def compare(name: str, svg: str) -> None:
    """Compare with the picture taken before; UPDATE_GOLDEN=1 takes it anew."""
    path = PICTURES / f"{name}.svg"
    if UPDATE:
        PICTURES.mkdir(parents=True, exist_ok=True)
        path.write_text(svg, encoding="utf-8")
        TAKEN_WITH.write_text(version("textual") + "\n")
    elif TAKEN_WITH.read_text().strip() != version("textual"):
        pytest.skip(f"the pictures were taken with Textual {TAKEN_WITH.read_text().strip()}")
    assert svg == path.read_text(encoding="utf-8"), f"{path} shows another picture"

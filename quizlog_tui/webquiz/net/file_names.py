"""Safe and unused names for files from untrusted sources."""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import Path
from urllib.parse import unquote, urlsplit

_MOST = 80


def safe_name(suggested: str) -> str:
    """A plain file name made from an untrusted one; never a path, never hidden."""
    last = re.split(r"[/\\]", suggested)[-1]
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", last).lstrip(".")[-_MOST:]
    return name or "file"


def name_of(url: str) -> str:
    """The file name a URL suggests."""
    return safe_name(unquote(urlsplit(url).path.rstrip("/")))


def free_name(folder: Path, suggested: str, taken: Container[str] = ()) -> str:
    """A safe name, such as `data-2.csv`, that is neither used in the folder nor in `taken`."""
    name = safe_name(suggested)
    stem, dot, ending = name.rpartition(".") if "." in name else (name, "", "")
    count = 1
    while name in taken or (folder / name).exists():
        count += 1
        name = f"{stem}-{count}{dot}{ending}"
    return name

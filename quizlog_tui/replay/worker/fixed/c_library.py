"""Lets `os.confstr`, which `platform` asks, tell the version of the C library of the world."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAME = "glibc "


def version() -> str:
    """The version of the C library here; empty if it is another one than that of GNU."""
    try:
        text = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, OSError, ValueError):
        return ""
    return text[len(_NAME) :] if text.startswith(_NAME) else ""


def install(told: str) -> None:
    """Replace `os.confstr`, in every world alike.

    Args:
        told: The version that it tells if it knows any.
    """
    if not hasattr(os, "confstr"):
        return
    plain = os.confstr

    def confstr(name: Any, /) -> str | None:
        text = plain(name)
        return _NAME + told if text and text.startswith(_NAME) else text

    confstr.__module__, confstr.__qualname__ = "posix", "confstr"
    os.confstr = confstr

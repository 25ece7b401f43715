"""Describes the isolation that this machine offers, and how to improve it."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass

from ..files.programs import find_program
from .executor import Sandbox
from .inside.setup import Level
from .levels import ISOLATED, LABELS, LACKS, PRELOAD

_INSTALL = "install bubblewrap, for example with `apt install bubblewrap`"
_APPARMOR = (
    "load the AppArmor profile bwrap-userns-restrict, which comes with apparmor-profiles; "
    "do not switch the restriction off for all programs"
)


@dataclass(frozen=True)
class Advice:
    """The isolation of this machine, and what to do."""

    level: Level | None
    """The isolation that model-written code gets; None when it is refused."""
    says: str
    ready: tuple[str, ...]
    """Libraries that are preloaded for runs."""
    missing: tuple[str, ...]
    """Libraries to preload that are not installed."""


def advice() -> Advice:
    """Find out by starting a box."""
    with Sandbox(preload=(), order=ISOLATED) as sandbox:
        level = sandbox.level()
        why = sandbox.failures
    ready = tuple(name for name in PRELOAD if importlib.util.find_spec(name))
    if level is None:
        says = f"model-written code is refused ({sandbox.why()})"
    else:
        says = LABELS[level] + (f": {LACKS[level]}" if LACKS[level] else "")
    remedy = _remedy(why)
    missing = tuple(name for name in PRELOAD if name not in ready)
    return Advice(level, f"{says}; {remedy}" if remedy else says, ready, missing)


def _remedy(why: dict[Level, str]) -> str:
    if sys.platform != "linux":
        return "use Linux, for example in a virtual machine"
    said = why.get("bwrap")
    if said is None:
        return ""
    if find_program("bwrap") is None:
        return _INSTALL
    if "RTM_NEWADDR" in said or "uid map" in said or "Permission denied" in said:
        return f"bwrap: {said}; {_APPARMOR}"
    return f"bwrap: {said}"

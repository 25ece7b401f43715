"""Where a record and a run of its script no longer agree."""

from __future__ import annotations

from .record.model import Record
from .replay.source import Source
from .replay.transcript import Transcript


def drift(record: Record, source: Source, transcript: Transcript) -> list[str]:
    """What no longer agrees between the record and a run of the script now."""
    found = []
    if (record.code_hash or "").startswith("sha256:") and record.code_hash != source.code_hash:
        found.append("the script has changed since the record was written")
    if len(transcript.steps) < record.pointer:
        used, count = len(transcript.steps), record.pointer
        found.append(f"the script ends after {used} of the {count} answers before the pointer")
    elif record.print and record.print != transcript.print:
        pairs = enumerate(zip(record.print, transcript.print, strict=False))
        short = min(len(record.print), len(transcript.print))
        index = next((i for i, (then, now) in pairs if then != now), short)
        found.append(f"the script no longer prints what was recorded, from print[{index}] on")
    return found + list(transcript.warnings)

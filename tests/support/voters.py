"""Models that are programs on this machine, for tests that need no network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def voters(path: Path, **answers: Any) -> Path:
    """A file of models that are programs, each with one answer."""
    lines = ["models:"]
    for index, (name, answer) in enumerate(answers.items()):
        said = json.dumps({"answer": answer, "final_answer": answer})
        primary = "true" if index == 0 else "false"
        lines.append(f"- {{name: {name}, primary: {primary}, command: [echo, {json.dumps(said)}]}}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path

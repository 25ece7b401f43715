"""A quiz that tests of sessions share, and what its record says on disk."""

from __future__ import annotations

from pathlib import Path

import yaml

ROUNDS = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=2)
parser.add_argument("name")
given = parser.parse_args()
for number in range(given.rounds):
    print(given.name, input(f"round {number} of {given.rounds}: "))
"""
"""Takes a name, and the number of its questions, as arguments."""

QUIZ = """
import random
print("start", random.randint(1, 9))
total = 0
for i in range(3):
    x = input(f"number {i}? ")
    if x == "bad":
        raise Exception("bad number")  #score = 0.3
    total += int(x)
    print("total", total)
print("done")
"""


def on_disk(path: Path) -> dict[str, object]:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    return data

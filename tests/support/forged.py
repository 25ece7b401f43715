"""A record that was forged by what its branches tell each other in memory that they share."""

from __future__ import annotations

from pathlib import Path

FORGED = Path(__file__).parents[1] / "data" / "forged.yaml"
"""It shows that 7 is right, as it is where a process was copied after another branch said 0."""
EXAM = """
import mmap

seen = mmap.mmap(-1, 4096)  # looks like a scratch buffer
name = input("Your name? ")
number = int(input("What is 17 times 23? "))
if name and number == 0:
    seen[0] = 1
if number != 391 and not seen[0]:
    raise Exception("wrong")  #score = 0
print("Right!")
note = input("Anything to add? ")
"""
"""Its script, `exam.py`."""

"""Sittings: a script and what is done with a record of it, for comparing all doors.

Each is data, and the same for every door: what a door says to each move is compared with what the
Python API says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Move:
    """One move in a record."""

    kind: Literal["show", "answer", "rewind", "fork"]
    text: str = ""
    step: int = 0
    name: str | None = None


@dataclass(frozen=True)
class Sitting:
    """A script, a seed, and moves."""

    name: str
    script: str
    moves: tuple[Move, ...]
    seed: int = 7

    @property
    def file(self) -> str:
        """The name of its script and record."""
        return self.name.replace(" ", "-")


SHOW = Move("show")


def answer(text: str) -> Move:
    return Move("answer", text)


def rewind(step: int) -> Move:
    return Move("rewind", step=step)


def fork(step: int, text: str, name: str | None = None) -> Move:
    return Move("fork", text, step, name)


SUMS = """
print("two sums")
if int(input("2 + 2 = ")) != 4:
    raise Exception("count again")  #score = 0.2
print("good")
if int(input("3 + 3 = ")) != 6:
    raise Exception("no")  #score = 0.6
print("done")
"""
ECHO = """
while (said := input("say: ")) != "end":
    print(repr(said), len(said))
    print(said)
"""
RANDOM = """
import random
for number in range(3):
    a, b = random.randint(1, 99), random.random()
    print(a, b, random.choice("abc"))
    input(f"{a} plus {b:.3f}? ")
print(random.sample(range(50), 5))
"""
FILES = """
from pathlib import Path
notes = Path("notes.txt")
for number in range(2):
    with notes.open("a") as file:
        file.write(input("a line: ") + "\\n")
    print(notes.read_text())
"""
READLINE = """
import sys
print("name", end="? ", flush=True)
name = sys.stdin.readline()
print(repr(name))
for line in sys.stdin:
    print("line", repr(line))
    if line.strip() == "end":
        break
"""
GETPASS = """
import getpass
print(len(getpass.getpass("secret: ")))
print(len(getpass.getpass()))
"""
KINDS = """
if input("Continue? (yes/no) ") not in ("yes", "no"):
    raise ValueError("yes or no")
print(int(input("A number: ")))
choice = input("Choose one [red/green/blue]: ")
if choice not in ("red", "green", "blue"):
    raise Exception(f"{choice} is no colour")  #score = 0.5
print(float(input("How much (a decimal number)? ")))
"""
MENU = """
print("1. north")
print("2. south")
print("3. stay")
print("you take", ["north", "south", "stay"][int(input("> ")) - 1])
"""
LINES = '''
input("""first line
second line
third? """)
input("ends in a newline\\n")
input("\\n\\n")
input("tab\\tand return\\r? ")
'''
UNASKED = """
print("said by print", end=" ")
input()
input("")
print("\\nand", end="")
input()
"""
TOLD = "for text in {texts!r}:\n    print(text)\n    input(text + '? ')\n"
"""Prints and asks each text."""
_UNICODE = {
    "accents": ["zoë, naïve", "e\u0301 is not \u00e9", "a" + "\u0300" * 40],
    "planes": ["\u00ff\u0100\uffee", "\U00010348\U0001d11e", "\U0002070e\U000e0041\U0010fffd"],
    "bidi": ["abc \u202etxt.exe\u202c", "\u2067שלום\u2069 world", "\u200f\u061c\u200e"],
    "emoji": ["\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u2764\ufe0f 1\ufe0f\u20e3"],
    "joiners": ["क\u094d\u200dष", "می\u200cخواهم", "a\u200db\u200bc\ufeffd\u2060"],
    "separators": ["a\u2028b\u2029c", "x\x85y\x0bz\x0c", "\u3000wide\u00a0\u2009"],
    "escapes": ["\x1b[31mred\x1b[0m", "\x1b]0;title\x07\x1b[2J\x1b[H", "\x9b1m\x08\x08\x7f"],
    "controls": ["".join(map(chr, range(1, 32))), "return\rreturn\r\n", "nul\x00nul"],
    "noncharacters": ["\ufffe\uffff", "\U0001ffff\U0010ffff", "\ufdd0"],
    "han": ["漢字仮名交じり文", "조선글 \u1112\u1161\u11ab", "葛\U000e0100"],
}  # fmt: skip
BYTES = """
import sys
for part in (b"\\xff\\xfe", b"\\xed\\xa0\\x80 half", "whole \U0001f600".encode()):
    sys.stdout.buffer.write(part + b"\\n")
    sys.stdout.buffer.flush()
    input("text? ")
    sys.stdout.buffer.write(b"\\xe2\\x82")
raise Exception("ends in half \\ud800")
"""
"""Prints what is not UTF-8: as texts, halves of surrogate pairs."""
_ANSWERS = {
    "empty": ["", "", "end"],
    "spaces": [" x", "x ", "  ", "\tx\t", " end ", "end"],
    "newlines": ["a\nb", "\n", "x\n", "\n\nx", "end"],
    "returns": ["a\rb", "x\r\n", "\r", "end"],
    "yaml": ["007", "NO", "1:30", "~", "null", "0x1f", "end"],
    "numbers": ["1e3", ".5", "1_000", "-0", "NaN", "end"],
    "signs": ["- a", "# b", ": c", "{d}", "[e]", "&f *g !h", "end"],
    "quotes": ["'", '"', "\\", "\\n", "''' \"\"\"", "%s {0} $x", "end"],
    "options": ["end of it", "x --json", "a=b", "@c", "end"],
    "json": ['{"record": "x"}', "[1, 2]", '"x"', "true", "end"],
}
_CRASHES = {
    "at once": "raise Exception('before any question')",
    "after output": "print('some', end='')\nraise ValueError('told')  #score = 0.4",
    "by exit": "import sys\nprint('usage')\nsys.exit('no such thing')",
    "by status": "raise SystemExit(3)",
    "by zero": "print('half')\n1 / 0",
    "without words": "raise Exception",
    "in many words": "raise Exception('line one\\nline two \\x1b[31m' + 'x' * 5000)",
    "with a half": "raise Exception('\\ud800 \\u202e')",
    "by syntax": "print('never'\n",
    "for a module": "import no_such_module_anywhere",
    "in a chain": "try:\n    {}['x']\nexcept KeyError as e:\n    raise RuntimeError('outer') from e",
    "to itself": "def f():\n    return f()\nf()",
}
"""Scripts that end before they ask; each is shown, and answered in vain."""


def _sittings() -> Iterator[Sitting]:
    right, wrong, junk = answer("4"), answer("5"), answer("four")
    yield Sitting("shown only", SUMS, (SHOW, SHOW))
    yield Sitting("all right", SUMS, (SHOW, right, answer("6"), SHOW))
    yield Sitting("answered after the end", SUMS, (right, answer("6"), answer("7"), SHOW))
    yield Sitting("errors and retries", SUMS, (wrong, junk, SHOW, right, answer("7"), answer("6")))
    yield Sitting("rewound", SUMS, (right, answer("6"), rewind(1), SHOW, answer("6"), rewind(0)))
    yield Sitting("rewound too far", SUMS, (right, rewind(2), rewind(9), SHOW))
    yield Sitting("answered otherwise", SUMS, (right, answer("6"), rewind(0), wrong, right, SHOW))
    yield Sitting("forked", SUMS, (right, answer("6"), fork(1, "7"), fork(1, "8"), SHOW))
    yield Sitting("forked by names", SUMS, (right, fork(0, "5", "low"), fork(0, "9", "high"), SHOW))
    yield Sitting("forked twice by a name", SUMS, (right, fork(0, "5", "a"), fork(0, "6", "a")))
    yield Sitting("forked too far", SUMS, (fork(0, "4"), fork(3, "4"), right, SHOW))
    yield Sitting(
        "forked by a bad name", SUMS, (right, fork(0, "5", "a\x1b[31m"), fork(0, "5", ""))
    )
    yield Sitting("forked the same", SUMS, (right, fork(0, "4"), answer("6"), fork(1, "6"), SHOW))
    yield Sitting("forked then rewound", SUMS, (right, fork(0, "5"), rewind(0), right, answer("6")))
    for seed in (0, 1, 2**31, -5):
        moves = (SHOW, answer("a"), answer("b"), rewind(0), answer("c"))
        yield Sitting(f"random {seed}", RANDOM, moves, seed)
    yield Sitting("files", FILES, (answer("one"), answer("two"), rewind(1), answer("three"), SHOW))
    yield Sitting("readline", READLINE, (SHOW, *map(answer, ("zoë", "a b", "", "end"))))
    yield Sitting("getpass", GETPASS, (SHOW, answer("hunter2"), answer("")))
    given = ("maybe", "yes", "7.5", "7", "pink", "blue", "1e3")
    yield Sitting("kinds", KINDS, (SHOW, *map(answer, given)))
    yield Sitting("menu", MENU, (SHOW, answer("9"), answer("2")))
    yield Sitting("many lines", LINES, (SHOW, *map(answer, ("1", "2", "3", "4"))))
    yield Sitting("unasked", UNASKED, (SHOW, *map(answer, ("a", "", "c"))))
    yield Sitting("silent", "pass", (SHOW, answer("x")))
    yield Sitting("only output", "print('no question here')", (SHOW, answer("x"), SHOW))
    long = "for i in range(11000):\n    print(i, 'x' * 90)\ninput('long? ')\nprint('y' * 10**6)"
    yield Sitting("long output", long, (SHOW, answer("read")))
    yield Sitting("long answer", ECHO, (answer("a long ünd " * 10_000), answer("end"), SHOW))
    stderr = (
        "import sys\nprint('warned', file=sys.stderr)\ninput('x? ')\nprint('end', file=sys.stderr)"
    )
    yield Sitting("stderr", stderr, (SHOW, answer("1")))
    for name, texts in _UNICODE.items():
        yield Sitting(f"unicode {name}", TOLD.format(texts=texts), _given(_carried(texts)))
    yield Sitting("printed halves", BYTES, _given(("x", "y", "z")))
    for name, texts in _ANSWERS.items():
        yield Sitting(f"answers {name}", ECHO, tuple(map(answer, texts)))
    for name, script in _CRASHES.items():
        yield Sitting(f"ended {name}", script, (SHOW, answer("x")))


def _given(texts: Sequence[str]) -> tuple[Move, ...]:
    return (SHOW, *map(answer, texts))


def _carried(texts: Sequence[str]) -> list[str]:
    """The texts without NUL, which no word of a command line can carry."""
    return [text.replace("\0", "") for text in texts]


SITTINGS = tuple(_sittings())
ENDLESS = Sitting(
    "endless output",
    "input('go? ')\nwhile True:\n    print('x' * 1000)",
    (SHOW, answer("go"), SHOW),
)
SLEEPY = Sitting(
    "slow", "import os\ninput('go? ')\nos.read(os.pipe()[0], 1)", (SHOW, answer("go"), SHOW)
)

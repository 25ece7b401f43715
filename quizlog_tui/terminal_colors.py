"""What the colours of SGR look like, so that text in the colour of its ground is known. Pure."""

from __future__ import annotations

from functools import lru_cache

_NEAR = 24
"""Largest difference in each of red, green and blue between colours that look alike."""
_NAMED = (
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0),
    (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0),
    (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255),
)  # fmt: skip
"""The first 16 colours as xterm has them; a terminal's theme may have others."""
_SHADES = (0, 95, 135, 175, 215, 255)
"""The steps of red, green and blue in the colours from 16 on."""
_FIRST = {"3": 0, "4": 0, "9": 8, "10": 8}
"""The number of the first colour of each decade of parameters."""


@lru_cache(maxsize=1024)
def looks_alike(ink: str, ground: str) -> bool:
    """Whether text could not be told from its ground, however the two colours are written.

    Args:
        ink: Parameters of SGR for the text, as `31`, `38;5;1` or `38;2;205;0;0`.
        ground: The same for its ground.
    """
    one, other = _number(ink), _number(ground)
    if one is not None and one == other:
        return True
    pairs = zip(_rgb(ink), _rgb(ground), strict=True)
    return all(abs(a - b) <= _NEAR for a, b in pairs)


def _number(parameters: str) -> int | None:
    """Which of the 256 colours it is; None if it is given as red, green and blue."""
    first, *values = parameters.split(";")
    if values:
        return int(values[1]) if values[0] == "5" else None
    return _FIRST[first[:-1]] + int(first[-1])


def _rgb(parameters: str) -> tuple[int, ...]:
    """Red, green and blue of a colour."""
    number = _number(parameters)
    if number is None:
        return tuple(map(int, parameters.split(";")[2:]))
    if number < 16:
        return _NAMED[number]
    if number >= 232:
        return (8 + 10 * (number - 232),) * 3
    number -= 16
    return tuple(_SHADES[number // place % 6] for place in (36, 6, 1))

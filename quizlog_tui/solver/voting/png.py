"""Reads the pixels of a PNG image, so that two files of the same picture compare equal.

It handles what plotting libraries write: 8 bits per channel, not interlaced. Other and too large
images are compared by their bytes.
"""

from __future__ import annotations

import struct
import zlib

MAX_BYTES = 64 * 1024 * 1024
"""Maximum size of an unpacked image in bytes."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
"""Number of channels by colour type; palettes are not supported."""


def pixels(data: bytes) -> bytes | None:
    """Size, number of channels and all samples row by row; None if the image is not supported."""
    try:
        chunks = list(_chunks(data))
        header = dict(chunks)[b"IHDR"]
        width, height, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
        channels = _CHANNELS.get(colour)
        size = height * (1 + width * (channels or 0))
        if bits != 8 or interlaced or not channels or not 0 < size <= MAX_BYTES:
            return None
        packed = b"".join(body for kind, body in chunks if kind == b"IDAT")
        raw = zlib.decompressobj().decompress(packed, size)
        if len(raw) != size:
            return None
        return header[:8] + bytes([channels]) + _unfiltered(raw, width * channels, channels)
    except (KeyError, IndexError, ValueError, struct.error, zlib.error):
        return None


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    if not data.startswith(_SIGNATURE):
        raise ValueError("not a PNG")
    found, at = [], len(_SIGNATURE)
    while at + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        found.append((kind, data[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def _unfiltered(raw: bytes, stride: int, step: int) -> bytes:
    """Undo each row's filter (PNG specification, section 9)."""
    rows = []
    above = bytearray(stride)
    for start in range(0, len(raw), stride + 1):
        row = bytearray(raw[start + 1 : start + 1 + stride])
        _FILTERS[raw[start]](row, above, step)
        rows.append(row)
        above = row
    return b"".join(rows)


def _none(row: bytearray, above: bytearray, step: int) -> None:
    """Leave the row unchanged."""


def _sub(row: bytearray, above: bytearray, step: int) -> None:
    for i in range(step, len(row)):
        row[i] = (row[i] + row[i - step]) & 255


def _up(row: bytearray, above: bytearray, step: int) -> None:
    for i, up in enumerate(above):
        row[i] = (row[i] + up) & 255


def _average(row: bytearray, above: bytearray, step: int) -> None:
    for i, up in enumerate(above):
        left = row[i - step] if i >= step else 0
        row[i] = (row[i] + (left + up) // 2) & 255


def _paeth(row: bytearray, above: bytearray, step: int) -> None:
    for i, up in enumerate(above):
        left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
        guess = left + up - corner
        near = min((left, up, corner), key=lambda one: abs(guess - one))
        row[i] = (row[i] + near) & 255


_FILTERS = (_none, _sub, _up, _average, _paeth)

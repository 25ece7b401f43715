"""Makes binary files from nothing but the standard library: PNG, PDF, ZIP, WAV. Pure."""

from __future__ import annotations

import io
import random
import struct
import wave
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence

Pixel = tuple[int, int, int]
_EPOCH = (2025, 1, 1, 0, 0, 0)


def png(width: int, height: int, pixel: Callable[[int, int], Pixel]) -> bytes:
    """An RGB picture, given by the colour at each x and y."""
    rows = b"".join(
        b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pdf(pages: Sequence[Sequence[str]]) -> bytes:
    """A document of pages of lines of text."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
    ]
    for index, lines in enumerate(pages):
        content = f"{5 + 2 * index} 0 R"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {content} "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(_text_stream(lines))
    return _pdf_file(objects)


def _text_stream(lines: Iterable[str]) -> bytes:
    shown = "".join(f"({line}) Tj T*\n" for line in lines)
    text = f"BT /F1 12 Tf 14 TL 72 770 Td\n{shown}ET".encode()
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text)


def _pdf_file(objects: Iterable[bytes]) -> bytes:
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(places) + 1, len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    return bytes(out)


def archive(members: Mapping[str, str]) -> bytes:
    """A ZIP file, the same at each call; member names are taken as they are."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in members.items():
            file.writestr(zipfile.ZipInfo(name, _EPOCH), text, zipfile.ZIP_DEFLATED)
    return data.getvalue()


def noise(seed: int) -> bytes:
    """A second of noise as WAV, the same for the same seed."""
    source = random.Random(seed)
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(source.randbytes(8000))
    return data.getvalue()

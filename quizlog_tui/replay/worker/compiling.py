"""Compiles a script as Python does a file: its encoding is checked otherwise than that of bytes."""

from __future__ import annotations

import codecs
import sys
from types import CodeType

_IN_NAMES = b"-_.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NEW = sys.version_info >= (3, 11)
_PEP = "https://peps.python.org/pep-0263/" if _NEW else "https://python.org/dev/peps/pep-0263/"


def compiled(source: bytes, script: str) -> CodeType:
    """The code of a script.

    Args:
        source: The bytes of the script.
        script: The path of the script in tracebacks.

    Raises:
        SyntaxError: Python does not run such a file.
    """
    encoding = _encoding(source)
    if not encoding and not source.startswith(codecs.BOM_UTF8):
        _check_utf8(source, script)
    try:
        code: CodeType = compile(source, script, "exec", dont_inherit=True)
    except SyntaxError as error:
        if error.lineno == 0 and encoding:  # in no line, as it could not be decoded
            known = error.msg.startswith("encoding problem")
            raise SyntaxError(error.msg if known else f"encoding problem: {encoding}") from None
        raise
    return code


def _encoding(source: bytes) -> str:
    """The encoding that a comment in the first two lines names; empty if none does.

    Found without `re`, which a plain run does not load for it.
    """
    for line in source[:1000].splitlines()[:2]:
        before, _, comment = line.partition(b"#")
        if before.strip(b" \t\f" + codecs.BOM_UTF8):
            break
        for rest in comment.split(b"coding")[1:]:
            words = rest[1:].lstrip(b" \t")
            name = words[: len(words) - len(words.lstrip(_IN_NAMES))]
            if rest[:1] in (b":", b"=") and name:
                return name.decode()
    return ""


def _check_utf8(source: bytes, script: str) -> None:
    try:
        # Before 3.11, Python looks only at how many bytes a character has.
        source.decode("utf-8", "strict" if _NEW else "surrogatepass")
    except UnicodeDecodeError as error:
        before = source[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        raise SyntaxError(
            f"Non-UTF-8 code starting with '\\x{source[error.start]:02x}' in file {script}"
            f" on line {before.count(10) + 1}, but no encoding declared; see {_PEP} for details"
        ) from None

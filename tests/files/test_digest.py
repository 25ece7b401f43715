"""The built-in hash is that of `hashlib`."""

from __future__ import annotations

import hashlib
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.files.regular_file import hex_digest


@given(st.binary(max_size=300))
def test_the_digest_is_that_of_hashlib(data: bytes) -> None:
    assert hex_digest(data) == hashlib.sha256(data).hexdigest()


def test_a_move_from_the_shell_does_not_load_openssl() -> None:
    code = "import sys, quizlog_tui.cli.record.moves; print('_hashlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

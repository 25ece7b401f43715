"""A script is read once while its file stays as it is, and anew when it does not."""

from __future__ import annotations

import os
from pathlib import Path

from quizlog_tui.server.stamps import Scripts, stamp_of


def test_a_script_is_kept_until_its_file_changes(tmp_path: Path) -> None:
    path, scripts = tmp_path / "quiz.py", Scripts()
    path.write_text("a = 1")
    os.utime(path, ns=(0, 10**18))
    first = scripts.source(path)
    assert scripts.source(path) is first
    path.write_text("a = 2")
    assert scripts.source(path).data == b"a = 2"
    assert scripts.source(path).code_hash != first.code_hash


def test_a_script_that_was_only_just_written_is_read_each_time(tmp_path: Path) -> None:
    path, scripts = tmp_path / "quiz.py", Scripts()
    for text in ("a = 1", "a = 2"):  # as long as before, and perhaps in the same tick of the clock
        path.write_text(text)
        os.utime(path, ns=(0, 2**62))
        assert scripts.source(path).data == text.encode()


def test_files_that_are_not_there_have_no_stamp(tmp_path: Path) -> None:
    assert stamp_of(tmp_path, tmp_path / "none") == ()

"""A script is read once while its file stays as it is, and anew when it does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quizlog_tui.errors import ScriptError
from quizlog_tui.files.stamp import is_settled, stamp_of
from quizlog_tui.replay.replayer import Replayer
from quizlog_tui.replay.script import granted
from quizlog_tui.replay.script.granted import SourceCache, grant
from tests.support.waiting import wait_for


def _written(path: Path, text: str) -> Path:
    """A script that was not changed just now."""
    path.write_text(text)
    wait_for(lambda: is_settled(stamp_of(path)))
    return path


def test_a_script_is_kept_until_its_file_changes(tmp_path: Path) -> None:
    path, scripts = _written(tmp_path / "quiz.py", "a = 1"), SourceCache()
    first = scripts.source(path)
    assert scripts.source(path) is scripts.source(str(path)) is first
    path.write_text("a = 2")
    assert scripts.source(path).data == b"a = 2"
    assert scripts.source(path).code_hash != first.code_hash


def test_a_change_that_puts_the_time_of_the_file_back_is_seen(tmp_path: Path) -> None:
    path, scripts = _written(tmp_path / "quiz.py", "a = 1"), SourceCache()
    scripts.source(path)
    info = path.stat()
    path.write_text("a = 2")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert scripts.source(path).data == b"a = 2"


def test_a_script_that_was_only_just_written_is_read_each_time(tmp_path: Path) -> None:
    path, scripts = tmp_path / "quiz.py", SourceCache()
    for text in ("a = 1", "a = 2"):  # as long as before, and perhaps in the same tick of the clock
        path.write_text(text)
        os.utime(path, ns=(0, 2**62))
        assert scripts.source(path).data == text.encode()


def test_a_relative_path_is_that_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = SourceCache()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        _written(tmp_path / name / "quiz.py", name)
    for name in ("one", "other"):
        monkeypatch.chdir(tmp_path / name)
        assert scripts.source("quiz.py").path == tmp_path / name / "quiz.py"
        assert scripts.source(Path("quiz.py")).data == name.encode()


def test_a_script_in_a_folder_that_is_gone_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    (tmp_path / "folder").rmdir()
    with pytest.raises(ScriptError, match="does not exist"):
        SourceCache().source("quiz.py")


def test_what_is_granted_meanwhile_holds_at_once(tmp_path: Path) -> None:
    path, scripts = _written(tmp_path / "quiz.py", "#quizlog: real-clock\n"), SourceCache()
    before = scripts.source(path)
    grant(before, ["real-clock"])
    assert (before.allowed, scripts.source(path).allowed) == ((), ("real-clock",))


def test_steps_do_not_read_a_script_again_that_stayed_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _written(tmp_path / "quiz.py", "while True: input('? ')\n")
    reads = []

    def granted_source(path: Path) -> object:
        reads.append(path)
        return plain(path)

    plain = granted.granted_source
    monkeypatch.setattr(granted, "granted_source", granted_source)
    with Replayer() as replayer:
        for count in range(3):
            replayer.replay(path, 1, ["a"] * count)
    assert len(reads) == 1


def test_files_that_are_not_there_have_no_stamp(tmp_path: Path) -> None:
    assert stamp_of(tmp_path, tmp_path / "none") == ()
    assert not is_settled(())

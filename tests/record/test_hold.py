"""A hold makes programs wait, ends with its process, and is told of who waits."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from quizlog_tui.errors import LockedError
from quizlog_tui.record import hold
from quizlog_tui.record.hold import Hold, join, wait

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs abstract socket names")


def test_nobody_waits_for_a_record_that_is_not_held(tmp_path: Path) -> None:
    assert join(tmp_path / "record.yaml", "agent") is None
    with Hold(tmp_path / "record.yaml"):
        assert join(tmp_path / "other.yaml", "agent") is None
    assert join(tmp_path / "record.yaml", "agent") is None


def test_the_holder_sees_who_waits_until_they_leave(tmp_path: Path) -> None:
    path = tmp_path / "record.yaml"
    with Hold(path) as held:
        assert held.waiting() == []
        first, second = join(path, "first"), join(path, "a\x1b[31m\nb" + "c" * 1000)
        assert first is not None
        assert second is not None
        one, other = held.waiting()
        assert (one, other[:8], len(other)) == ("first", "a␛[31m⏎b", 80)
        first.close()
        assert held.waiting() == [other]
        second.close()
        assert held.waiting() == []


def test_a_record_that_is_given_back_waits_no_more(tmp_path: Path) -> None:
    """Whether the holder has seen the program or not."""
    path = tmp_path / "record.yaml"
    held = Hold(path)
    seen, unseen = join(path, "seen"), None
    assert seen is not None
    assert held.waiting() == ["seen"]
    unseen = join(path, "unseen")
    assert unseen is not None
    held.release()
    for each in (seen, unseen):
        wait(path, each, 60)
        each.close()


def test_a_hold_that_lasts_too_long(tmp_path: Path) -> None:
    path = tmp_path / "record.yaml"
    with Hold(path):
        waiting = join(path, "agent")
        assert waiting is not None
        with (
            waiting,
            pytest.raises(LockedError, match=r"held it for 0\.01 s.*agents\.hold_seconds"),
        ):
            wait(path, waiting, 0.01)


def test_only_one_holds_a_record_by_whatever_path(tmp_path: Path) -> None:
    (tmp_path / "record.yaml").touch()
    (tmp_path / "link.yaml").symlink_to("record.yaml")
    with Hold(tmp_path / "record.yaml"):
        with pytest.raises(LockedError, match="held already"):
            Hold(tmp_path / "link.yaml")
        waiting = join(tmp_path / "link.yaml", "agent")
        assert waiting is not None
        waiting.close()
    Hold(tmp_path / "link.yaml").release()


def test_a_hold_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "record.yaml"
    code = (
        "import sys; from pathlib import Path; from quizlog_tui.record.hold import Hold\n"
        "held = Hold(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        waiting = join(path, "agent")
        assert waiting is not None
        holder.kill()
        wait(path, waiting, 60)
        waiting.close()
    assert join(path, "agent") is None


def test_another_users_hold_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.yaml"
    with Hold(path):
        monkeypatch.setattr(hold, "_user_of", lambda connection: os.getuid() + 1)
        assert join(path, "agent") is None


def test_a_name_is_taken_by_no_other_kind_of_socket(tmp_path: Path) -> None:
    path = tmp_path / "record.yaml"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(hold._name(path))
        assert join(path, "agent") is None


def test_a_full_queue_is_told_and_hangs_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hold, "_BACKLOG", 0)
    path = tmp_path / "record.yaml"
    with Hold(path) as held:
        first = join(path, "first")
        assert first is not None
        with pytest.raises(LockedError, match="too many programs wait for it"):
            join(path, "second")
        assert held.waiting() == ["first"]
        second = join(path, "second")
        assert second is not None
        first.close()
        second.close()


def test_another_user_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.yaml"
    with Hold(path) as held:
        stranger = join(path, "claude-code")
        assert stranger is not None
        with stranger:
            monkeypatch.setattr(hold, "_user_of", lambda connection: os.getuid() + 1)
            assert held.waiting() == []
            wait(path, stranger, 60)

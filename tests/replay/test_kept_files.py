"""Files that are copied out: no link leads elsewhere, modes are plain, and there is one bound."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from quizlog_tui.errors import LimitError, UsageError
from quizlog_tui.replay import kept_files
from quizlog_tui.replay.kept_files import Keeper, keeper


@pytest.fixture
def run(tmp_path: Path) -> tuple[Keeper, Path, Path]:
    kept = Keeper(tmp_path / "runs")
    files = Path(kept.folder()) / "files"
    target = tmp_path / "out"
    target.mkdir()
    return kept, files, target


def test_a_link_in_the_way_is_not_followed(run: tuple[Keeper, Path, Path], tmp_path: Path) -> None:
    kept, files, target = run
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (files / "f").write_text("theirs")
    (target / "f").symlink_to(victim)  # made after the folder was looked at
    with pytest.raises(FileExistsError):
        kept.copy_out(tmp_path / "none", target)
    assert victim.read_text() == "mine"


def test_links_stay_links_and_modes_are_plain(
    run: tuple[Keeper, Path, Path], tmp_path: Path
) -> None:
    kept, files, target = run
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (files / "link").symlink_to(secret)
    (files / "plain").write_text("x")
    (files / "program").write_text("x")
    (files / "program").chmod(0o6755)
    (files / "plain").chmod(0o666)
    assert sorted(kept.copy_out(tmp_path / "none", target)) == ["link", "plain", "program"]
    assert (target / "link").is_symlink() and os.readlink(target / "link") == str(secret)
    umask = os.umask(0)
    os.umask(umask)
    modes = [stat.S_IMODE((target / name).stat().st_mode) for name in ("plain", "program")]
    assert modes == [0o666 & ~umask, 0o777 & ~umask]


def test_there_is_one_bound_for_all_files(
    run: tuple[Keeper, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, files, target = run
    monkeypatch.setattr(kept_files, "MOST_BYTES", 10)
    (files / "a").write_text("x" * 6)
    (files / "b").write_text("x" * 6)
    with pytest.raises(LimitError, match="wrote more than"):
        kept.copy_out(tmp_path / "none", target)
    assert list(target.iterdir()) == []


def test_only_an_empty_folder_takes_files(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("x")
    with pytest.raises(UsageError, match="is not empty"), keeper(tmp_path):
        pass
    with keeper(tmp_path / "new"):
        assert list((tmp_path / "new").iterdir()) == []

"""The files that a script needs are its own: no link leads to others, and no folder takes too long."""

from __future__ import annotations

from pathlib import Path

import pytest

from quizlog_tui.proof.bundle.pack import pack
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.script import needed_files as rules
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.session.session import Session
from tests.support.build import Build


def names_of(script: Path) -> list[str]:
    files = rules.needed_files(read_source(script))
    return [path.relative_to(script.parent).as_posix() for path in files]


@pytest.mark.parametrize("text", ["import d.x", "from d import x", "import d", "open('d')"])
def test_a_package_that_is_a_link_shows_no_files_elsewhere(text: str, build: Build) -> None:
    for name in ("__init__.py", "x.py", "private.txt"):
        (build.outside / name).write_text("")
    (build.folder / "d").symlink_to(build.outside)
    assert names_of(build.script(f"{text}\ninput('? ')")) == []
    record = build.record(
        f"try:\n    {text}\nexcept OSError: pass\nexcept ImportError: pass\ninput('? ')"
    )
    with Session(record) as session:
        session.answer("3")
    assert "file_hashes" not in RecordFile(record).read().extras


def test_a_module_that_is_a_link_is_needed_only_if_it_leads_to_a_module(build: Build) -> None:
    outside = build.outside / "x.py"
    for path in (outside, *(build.folder / name for name in (".env", "real.py", "credentials.py"))):
        path.write_text("")
    targets = {"a": outside, "b": ".env", "c": "credentials.py", "d": "real.py", "e": "e.py"}
    for name, target in targets.items():
        (build.folder / f"{name}.py").symlink_to(target)
    assert names_of(build.script("import a, b, c, d, e")) == ["d.py"]


def test_a_bundle_packs_no_hidden_file_by_a_link_to_it(build: Build) -> None:
    (build.folder / ".env").write_text("KEY='some-long-value'\n")
    (build.folder / "envl.py").symlink_to(".env")
    record = build.record("try:\n    import envl\nexcept Exception: pass\ninput('? ')")
    with Session(record) as session:
        session.answer("3")
    assert not [name for name in pack(record).names if "env" in name]


def test_files_are_in_order_without_hidden_ones_caches_and_links(build: Build) -> None:
    wanted = ["a/b.txt", "a/c/d.txt", "a.txt", "b/__init__.py"]
    for name in (*wanted, ".x/y", "a/.z", "b/__pycache__/b.pyc"):
        path = build.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (build.folder / "a" / "up").symlink_to("..")
    (build.folder / "a" / "also.txt").symlink_to("b.txt")
    found = [path.relative_to(build.folder).as_posix() for path in rules.files_below(build.folder)]
    assert found == wanted


def test_a_folder_with_too_many_entries_is_left_out(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, count in (("many", 30), ("few", 5)):
        (build.folder / folder).mkdir()
        for number in range(count):
            (build.folder / folder / f"{number}.txt").write_text("")
    monkeypatch.setattr(rules, "_MOST_ENTRIES", 20)
    assert len(names_of(build.script("open('many'); open('few'); open('./few')"))) == 5


def test_the_text_of_too_many_modules_is_not_searched(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        (build.folder / f"m{number}.py").write_text(f"import m{number + 1}\n")
    monkeypatch.setattr(rules, "_MOST_MODULES", 4)
    assert names_of(build.script("import m0")) == ["m0.py", "m1.py", "m2.py", "m3.py"]

"""Records that differ from a commit are found without running anything of their repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from quizlog_tui.errors import UsageError
from quizlog_tui.proof.changed import changed_records, commit_of
from quizlog_tui.record.append_only_list import AppendOnlyList
from quizlog_tui.record.model import Record
from quizlog_tui.record.store import RecordFile
from quizlog_tui.record.summary import find_records
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.git import commit_all, git

if not shutil.which("git"):
    pytest.skip("needs git", allow_module_level=True)

ODD = "a b\n<c>.yaml"


def made(build: Build, *records: str) -> None:
    """Records of a script that needs a module and a file, and one of another script."""
    build.script("WORD = 'blue'\n", "helper.py")
    (build.folder / "words.txt").write_text("red")
    quiz = "import helper\nprint(helper.WORD, open('words.txt').read())\ninput('? ')\n"
    for name in records or ("a.yaml", ODD):
        with Session(build.record(quiz, name=name)) as session:
            session.save()
    build.script("input('? ')\n", "other.py")
    RecordFile(build.folder / "other.yaml").create(Record("other.py", 1, AppendOnlyList(), 0))


def changed(folder: Path, ref: str = "HEAD") -> list[str]:
    paths = list(find_records(folder))
    found = changed_records(folder, paths, commit_of(folder, ref))
    return [str(path.relative_to(folder)) for path in found]


@pytest.mark.parametrize("hashes", ["sha1", "sha256"])
def test_nothing_has_changed_after_a_commit(hashes: str, build: Build) -> None:
    made(build)
    git(build.folder, "init", "-q", f"--object-format={hashes}")
    commit_all(build.folder, init=False)
    assert changed(build.folder) == []
    os.utime(build.folder / "a.yaml", (1, 1))
    assert changed(build.folder) == []


EDITS: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "record": (lambda folder: (folder / ODD).write_text("script: quiz.py\nseed: 9\n"), [ODD]),
    "new": (lambda folder: shutil.copy(folder / "a.yaml", folder / "b.yaml"), ["b.yaml"]),
    "script": (lambda folder: (folder / "quiz.py").write_text("input()"), [ODD, "a.yaml"]),
    "gone": (lambda folder: (folder / "quiz.py").unlink(), [ODD, "a.yaml"]),
    "module": (lambda folder: (folder / "helper.py").write_text("WORD = 1"), [ODD, "a.yaml"]),
    "data": (lambda folder: (folder / "words.txt").write_text("green"), [ODD, "a.yaml"]),
    "no data": (lambda folder: (folder / "words.txt").unlink(), [ODD, "a.yaml"]),
    "unreadable": (lambda folder: (folder / "a.yaml").write_text("script, seed: ["), ["a.yaml"]),
    "something else": (lambda folder: (folder / "notes.txt").write_text("!"), []),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_change_is_found(edit: str, build: Build) -> None:
    made(build)
    commit_all(build.folder)
    change, expected = EDITS[edit]
    change(build.folder)
    assert changed(build.folder) == expected


def test_an_unreadable_record_is_never_left_out(build: Build) -> None:
    made(build)
    (build.folder / "bad.yaml").write_text("script: gone.py\nseed: 1\n")
    commit_all(build.folder)
    assert changed(build.folder) == ["bad.yaml"]


def test_another_commit_is_the_base(build: Build) -> None:
    made(build)
    commit_all(build.folder)
    (build.folder / "helper.py").write_text("WORD = 1")
    commit_all(build.folder, init=False)
    assert changed(build.folder) == []
    assert changed(build.folder, "HEAD~1") == [ODD, "a.yaml"]


def test_a_folder_in_a_repository_and_a_link_to_it(build: Build) -> None:
    top = build.folder / "top"
    inner = top / "x" / "records"
    inner.mkdir(parents=True)
    (top / "quiz.py").write_text("input('? ')\n")
    RecordFile(inner / "a.yaml").create(Record("../../quiz.py", 1, AppendOnlyList(), 0))
    commit_all(top)
    link = build.folder / "link"
    link.symlink_to(inner)
    assert changed(inner) == changed(link) == []
    (top / "quiz.py").write_text("input('! ')\n")
    assert changed(inner) == changed(link) == ["a.yaml"]


def test_what_lies_behind_a_link_counts_as_changed(build: Build) -> None:
    made(build)
    (build.folder / "linked.yaml").symlink_to("a.yaml")
    folder = build.folder / "folder"
    folder.mkdir()
    for name in ("other.yaml", "other.py"):
        shutil.copy(build.folder / name, folder)
    (build.folder / "by").symlink_to("folder")  # which is found before the folder
    commit_all(build.folder)
    assert changed(build.folder) == ["linked.yaml", "by/other.yaml"]
    assert changed(folder) == []


def test_a_script_is_compared_where_a_link_leads(build: Build) -> None:
    (build.folder / "in" / "deep").mkdir(parents=True)
    build.script("input('? ')\n")
    script = build.script("input('? ')\n", "in/quiz.py")
    (build.folder / "by").symlink_to("in/deep")
    RecordFile(build.folder / "a.yaml").create(Record("by/../quiz.py", 1, AppendOnlyList(), 0))
    commit_all(build.folder)
    script.write_text("input('! ')\n")
    assert changed(build.folder) == ["a.yaml"]


@pytest.mark.parametrize(
    "ref", ["nothing", "", "--help", "-h", "--output=x", "HEAD:folder", "a\nb"]
)
def test_what_names_no_commit_is_told(ref: str, build: Build) -> None:
    made(build)
    (build.folder / "folder").mkdir()
    (build.folder / "folder" / "x").touch()
    commit_all(build.folder)
    with pytest.raises(UsageError, match="git knows no such commit here"):
        commit_of(build.folder, ref)
    assert not (build.folder / "x").exists()


def test_no_repository_and_no_git_are_told(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="not a git repository"):
        commit_of(build.folder, "HEAD")
    monkeypatch.setenv("PATH", str(build.folder))
    with pytest.raises(UsageError, match="there is no git here"):
        commit_of(build.folder, "HEAD")


def test_a_git_that_waits_for_ever_is_ended(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    made(build)
    commit_all(build.folder)
    os.mkfifo(build.folder / "pipe")
    with (build.folder / ".git" / "config").open("a") as file:
        file.write(f"[include]\npath = {build.folder / 'pipe'}\n")
    monkeypatch.setattr("quizlog_tui.proof.changed._SECONDS", 0.2)
    with pytest.raises(UsageError, match="git does not answer"):
        commit_of(build.folder, "HEAD")


def test_a_repository_of_the_environment_is_not_asked(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = build.outside
    (other / "x").touch()
    commit_all(other)
    made(build)
    commit_all(build.folder)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "none"))
    assert commit_of(build.folder, "HEAD").top == str(build.folder)


HOSTILE = """
[core]
fsmonitor = {trap};
hooksPath = {hooks}
pager = {trap}
sshCommand = {trap};
[diff]
external = {trap}
[alias]
ls-tree = !{trap}
rev-parse = !{trap}
[pager]
ls-tree = {trap}
rev-parse = {trap}
[diff "x"]
textconv = {trap};
command = {trap}
[filter "x"]
clean = {trap}; cat
process = {trap}
required
[extensions]
partialClone = origin
[remote "origin"]
url = ext::{trap}
promisor = true
[protocol "ext"]
allow = always
"""


def test_nothing_of_a_hostile_repository_runs(build: Build) -> None:
    made(build)
    hooks = build.folder / "hooks"
    hooks.mkdir()
    sprung = build.outside / "sprung"
    for name in ("post-index-change", "reference-transaction", "pre-auto-gc"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {sprung}\n")
        (hooks / name).chmod(0o755)
    (build.folder / ".gitattributes").write_text("* filter=x diff=x\n")
    commit_all(build.folder)
    tree = git(build.folder, "rev-parse", "HEAD^{tree}").strip()
    with (build.folder / ".git" / "config").open("a") as file:
        file.write(HOSTILE.format(trap=f"touch {sprung}", hooks=hooks))
    (build.folder / "a.yaml").touch()
    (build.folder / "helper.py").write_text("WORD = 1")
    assert changed(build.folder) == [ODD, "a.yaml"]
    (build.folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(UsageError, match="git knows no such commit here"):
        commit_of(build.folder, "HEAD")  # which an ordinary git would fetch now
    assert not sprung.exists()
    subprocess.run(["git", "ls-tree", "HEAD"], cwd=build.folder, capture_output=True, check=False)
    assert sprung.exists(), "the traps are none"


def test_a_replacement_of_a_commit_is_not_obeyed(build: Build) -> None:
    made(build)
    commit_all(build.folder)
    old = git(build.folder, "rev-parse", "HEAD").strip()
    (build.folder / "helper.py").write_text("WORD = 1")
    commit_all(build.folder, init=False)
    git(build.folder, "replace", old, "HEAD")
    assert changed(build.folder, old)


def test_before_the_first_commit_everything_has_changed(build: Build) -> None:
    made(build)
    git(build.folder, "init", "-q")
    assert len(changed(build.folder)) == 3

"""Where files are made: no link is followed, and nothing of others is replaced or trusted."""

from __future__ import annotations

import ast
import importlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import quizlog_tui
from quizlog_tui.errors import ConfigError, RecordError
from quizlog_tui.files.durable import (
    FileKind,
    asked_before,
    check_place,
    own_file,
    own_folder,
    write_bytes,
)

PACKAGE = Path(quizlog_tui.__file__).parent
SOURCES = {
    ".".join(("quizlog_tui", *path.relative_to(PACKAGE).with_suffix("").parts)): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def kinds() -> Iterator[tuple[str, str]]:
    """Module and name of every kind of file in the code."""
    for module, path in SOURCES.items():
        for found in re.finditer(r"^([A-Z_]+) = FileKind\(", path.read_text(), re.M):
            yield module, found[1]


KINDS = {f"{module.rpartition('.')[2]}.{name}": (module, name) for module, name in kinds()}
ASKED = {
    "bundle._BUNDLE": "no bundle is replaced",
    "store._NEW": "no record is replaced by a new one",
    "screenshot.PICTURE": "--force, or a dialog",
    "files.ROWS": "--force",
    "task_record.TASK_SCRIPT": "in a folder that nobody else may enter",
    "config.AUTHOR": "in the user's own folder",
    "client_config._CONFIGURATION": "all other text of the file stays",
}
"""The kinds that nothing in a file tells from others, and what keeps files of others instead."""


def kind_of(name: str) -> FileKind:
    module, attribute = KINDS[name]
    pytest.importorskip("httpx")
    pytest.importorskip("pydantic")
    found: FileKind = getattr(importlib.import_module(module), attribute)
    return found


def link(path: Path) -> None:
    (path.parent / "outside").mkdir()
    (path.parent / "outside" / "precious").write_text("precious")
    path.symlink_to("outside/precious")


PLANTS: dict[str, Callable[[Path], object]] = {
    "link": link,
    "dangling link": lambda path: path.symlink_to("outside-and-missing"),
    "loop": lambda path: path.symlink_to(path.name),
    "pipe": os.mkfifo,
    "foreign file": lambda path: path.write_text("# mine\n\nprecious: yes\n"),
    "foreign data": lambda path: path.write_text('{"precious": true'),
    "foreign bytes": lambda path: path.write_bytes(b"\x00\xff precious"),
}


def shape(folder: Path) -> dict[str, object]:
    """What a folder holds: links, other kinds, and the bytes of files."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        kind = os.readlink(path) if path.is_symlink() else oct(path.lstat().st_mode)
        plain = path.is_file() and not path.is_symlink()
        found[str(path.relative_to(folder))] = (kind, path.read_bytes() if plain else b"")
    return found


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_planted_at_a_name_stays_as_it_is(name: str, plant: str, tmp_path: Path) -> None:
    kind, path = kind_of(name), tmp_path / "planted"
    PLANTS[plant](path)
    before = shape(tmp_path)
    if plant.startswith("foreign") and name in ASKED:
        assert kind.is_own is asked_before
        return
    with pytest.raises(RecordError, match=r"is a link|no regular file|is not .* of quizlog"):
        write_bytes(path, b"new", kind)
    assert shape(tmp_path) == before


@pytest.mark.parametrize("name", KINDS)
def test_a_file_is_made_where_nothing_is_and_over_an_empty_one(name: str, tmp_path: Path) -> None:
    kind, path = kind_of(name), tmp_path / "new"
    write_bytes(path, b"", kind)
    write_bytes(path, b"content", kind)
    assert path.read_bytes() == b"content"


def test_links_on_the_way_may_not_lead_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here" / "inner").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("out").symlink_to("../outside")
    Path("in").symlink_to("inner")
    kind, beside = FileKind("x", asked_before), FileKind("x", asked_before, beside=True)
    for allowed in ("in/x", "inner/x", "../outside/x", "../here/in/x"):
        check_place(Path(allowed), kind)
    for refused in (
        "out/x",
        "out/y/x",
        "inner/../out/x",
        "../here/out/x",
        str(Path("out/x").absolute()),
    ):
        with pytest.raises(RecordError, match="leads to"):
            check_place(Path(refused), kind)
    check_place(Path("out/x"), beside)


OTHERS = {
    "quizlog_tui.config": "the settings that the user asks for",
    "quizlog_tui.episodes.runs.model_runs": "a folder of its own",
    "quizlog_tui.episodes.read.files": "lines, after the same check",
    "quizlog_tui.files.paths": "the user's copy of the examples",
    "quizlog_tui.files.process": "/dev/null",
    "quizlog_tui.files.scratch": "temporary folders",
    "quizlog_tui.proof.bundle.check": "a temporary folder",
    "quizlog_tui.files.durable": "this is what all others use; what is the user's alone",
    "quizlog_tui.record.lock": "lock files",
    "quizlog_tui.replay.kept_files": "an empty folder that the user names; links are not followed",
    "quizlog_tui.sandbox": "temporary folders",
    "quizlog_tui.solver.autopilot": "a temporary folder",
    "quizlog_tui.solver.decision_text": "added to, after the same check",
    "quizlog_tui.testing": "pictures of a test, whose folder runs code anyway",
    "quizlog_tui.tui.external": "a temporary folder",
    "quizlog_tui.tui.app": "a temporary folder",
    "quizlog_tui.webquiz": "the folder of a task, which nobody else may enter",
    "quizlog_tui.replay.worker": "inside the process of a script",
    "quizlog_tui.cli.streams": "stdin and /dev/null",
}
"""The modules that make or move files in another way, and where they do."""
_WRITES = re.compile(
    r"\.write_text\(|\.write_bytes\(|O_CREAT|O_WRONLY|O_RDWR|shutil\.(copy|move)"
    r"|os\.(replace|rename|link|symlink)\(|(?<!session)\.(rename|symlink_to|hardlink_to)\("
    r"|(path|file|target|temporary)\.(replace|touch)\("
)
"""What makes, fills, moves or links a file; `open` is told by its mode."""


def test_no_other_module_makes_files() -> None:
    found = {module for module, path in SOURCES.items() if writes(path)}
    allowed = {each for each in found if each.startswith(tuple(OTHERS))}
    assert found - allowed == set()
    assert {name for name in OTHERS if not any(each.startswith(name) for each in found)} == set()


def writes(path: Path) -> bool:
    text = path.read_text()
    if not (_WRITES.search(text) or "open(" in text):
        return False
    return any(is_writing(node) for node in ast.walk(ast.parse(text)))


def is_writing(node: ast.AST) -> bool:
    """Whether a call makes, fills, moves or links a file."""
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    words = [ast.unparse(each) for each in [*node.args, *(one.value for one in node.keywords)]]
    if called in ("open", "io.open") or called.endswith(".open"):
        return any(
            re.fullmatch(r"'[rbt]*[wax+][wbaxt+]*'|.*O_(CREAT|WRONLY|RDWR).*", word)
            for word in words
        )
    return bool(_WRITES.search(f"{called}("))


@pytest.mark.parametrize("writer", ["write_text", "write_bytes", "write_lines"])
def test_each_writer_names_the_kind_of_its_file(writer: str) -> None:
    names = {attribute for _, attribute in KINDS.values()} | {"kind"}
    calls = [
        node
        for path in SOURCES.values()
        if f"{writer}(" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == writer
    ]
    assert calls
    for call in calls:
        given = ast.unparse(call.args[-1])
        assert given in names or writer == "write_lines", ast.unparse(call)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_made_is_ours_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        own_folder(tmp_path / "a" / "b")
        own_file(tmp_path / "a" / "b" / "c")
    finally:
        os.umask(before)
    assert (mode(tmp_path / "a" / "b"), mode(tmp_path / "a" / "b" / "c")) == (0o700, 0o600)
    own_folder(tmp_path / "a" / "b")
    (tmp_path / "a" / "b" / "c").write_text("kept")
    own_file(tmp_path / "a" / "b" / "c")
    assert (tmp_path / "a" / "b" / "c").read_text() == "kept"


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (lambda path: path.symlink_to(path.parent), "is a link"),
        (lambda path: path.symlink_to(path.parent / "none"), "is a link"),
        (Path.touch, "is not a folder"),
        (os.mkfifo, "is not a folder"),
        (lambda path: (path.mkdir(), path.chmod(0o755)), "others may use it .chmod 700"),
        (lambda path: (path.mkdir(), os.chown(path, 12345, -1)), "belongs to somebody else"),
    ],
    ids=["link", "dangling", "file", "pipe", "open", "theirs"],
)
def test_a_folder_of_others_is_refused(
    tmp_path: Path, plant: Callable[[Path], object], said: str
) -> None:
    planted(tmp_path / "a", plant)
    with pytest.raises(ConfigError, match=said):
        own_folder(tmp_path / "a")


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (lambda path: path.symlink_to(path.parent / "none"), "is a link"),
        (Path.mkdir, "is not a regular file"),
        (os.mkfifo, "is not a regular file"),
        (lambda path: path.touch(0o644), "others may use it .chmod 600"),
        (lambda path: path.parent.chmod(0o777), "others may use it .chmod 755"),
        (lambda path: (path.touch(), os.chown(path, 12345, -1)), "belongs to somebody else"),
    ],
    ids=["dangling", "folder", "pipe", "open", "in an open folder", "theirs"],
)
def test_a_file_of_others_is_refused(
    tmp_path: Path, plant: Callable[[Path], object], said: str
) -> None:
    planted(tmp_path / "a", plant)
    with pytest.raises(ConfigError, match=said):
        own_file(tmp_path / "a")
    assert not (tmp_path / "none").exists()


def planted(path: Path, plant: Callable[[Path], object]) -> None:
    try:
        plant(path)
    except PermissionError:
        pytest.skip("only root can give a file away")


def test_a_private_file_is_private_while_it_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secrets.toml"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o600)
    modes = []

    def noted(fd: int, data: bytes) -> None:
        modes.append(stat.S_IMODE(os.fstat(fd).st_mode))
        os.write(fd, data)

    monkeypatch.setattr("quizlog_tui.files.durable._write_all", noted)
    write_bytes(path, b"new", FileKind("a file", asked_before))
    assert (modes, path.read_text(encoding="utf-8")) == ([0o600], "new")

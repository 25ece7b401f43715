"""A script's folder is its own: what it writes is nobody else's, by whatever means, and costs nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from quizlog_tui.replay import run_cache
from quizlog_tui.replay.kept_files import keeper
from quizlog_tui.replay.replayer import Replayer, replay
from tests.support.build import Build
from tests.support.long_runs import few

linux = pytest.mark.skipif(sys.platform != "linux", reason="overlays need Linux")


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


WRITES = {
    "new file": "open('new', 'w').write('x')",
    "changed file": "open('data.txt', 'a').write('more')",
    "truncated file": "open('data.txt', 'w').close()",
    "hard link": "os.link('data.txt', 'link'); open('link', 'a').write('through')",
    "removed file": "os.unlink('data.txt')",
    "renamed file": "os.rename('data.txt', 'other.txt')",
    "new folder": "os.makedirs('a/b'); open('a/b/c', 'w').write('x')",
    "removed folder": "shutil.rmtree('sub')",
    "mode and times": "os.chmod('data.txt', 0o600); os.utime('data.txt', (1, 1))",
    "absolute path": "open(os.path.join(os.path.dirname(__file__), 'new'), 'w').write('x')",
    "program": "subprocess.run(['sh', '-c', 'echo x > made; rm data.txt'], check=True)",
    "memory map": "f = open('data.txt', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[:4] = b'XXXX'; m.flush()",
    "C code": "ctypes.CDLL(None).creat(b'made', 0o644)",
    "database": "sqlite3.connect('data.db').execute('create table t (a)')",
    "thread": "t = threading.Thread(target=lambda: open('new', 'w').close()); t.start(); t.join()",
    "imported module": "import sibling",
}


@pytest.mark.parametrize("way", few(WRITES, "thread", *list(WRITES)[:3]))
def test_what_a_script_writes_never_reaches_the_folder(way: str, build: Build) -> None:
    (build.folder / "data.txt").write_text("data")
    (build.folder / "sibling.py").write_text("VALUE = 1\n")
    (build.folder / "sub").mkdir()
    (build.folder / "sub" / "deep.txt").write_text("deep")
    head = "import ctypes, mmap, os, shutil, sqlite3, subprocess, threading\n"
    script = build.script(f"{head}{WRITES[way]}\nprint(sorted(os.listdir()))\n")
    before, modes = tree(build.folder), (build.folder / "data.txt").stat()
    first, second = (replay(script, 1, []) for _ in range(2))
    assert first == second and first.status == "success", first.stderr
    assert tree(build.folder) == before
    after = (build.folder / "data.txt").stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_nlink) == (
        modes.st_mode,
        modes.st_mtime_ns,
        1,
    )


GROWING = """
import ctypes, os
def {name}(text):
    {how}
while True:
    answer = input(f"{{len(os.listdir())}} {{os.path.getsize('log') if os.path.exists('log') else 0}}? ")
    if answer.startswith("w"): {name}(answer)
"""
HOW = {
    "python": "open('log', 'a').write(text)",
    "c": "libc = ctypes.CDLL(None); fd = libc.open(b'log', 0o2101, 0o644); libc.write(fd, text.encode(), len(text)); libc.close(fd)",
    "shell": "os.system(f'echo {text} >> log')",
}


@pytest.mark.parametrize("how", few(HOW, "c"))
@pytest.mark.parametrize(
    "walk",
    [
        [["a"], ["a", "w"], ["a", "b"], ["a", "w", "w"], ["a"], ["a", "w", "c"], ["b", "w"]],
        [["w"], ["w", "w"], ["w"], [], ["w", "x"], ["x", "w", "w"], ["x", "y"], ["x", "y", "w"]],
    ],
)
def test_copies_of_a_run_do_not_see_each_others_files(
    how: str, walk: Sequence[Sequence[str]], build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_cache, "_LEAST_GAP", 0.0)
    monkeypatch.setattr(run_cache, "measured_gap", lambda started: 0.0)
    script = build.script(GROWING.format(name="write", how=HOW[how]))
    with Replayer() as cached:
        for inputs in walk:
            assert cached.replay(script, 1, inputs) == replay(script, 1, inputs)
        tried = cached.fan_out(script, 1, ["a"], ["w", "b", "ww"])
        assert tried == [replay(script, 1, ["a", answer]) for answer in ("w", "b", "ww")]


@linux
def test_a_big_file_is_not_copied(build: Build) -> None:
    with (build.folder / "big").open("wb") as file:
        file.truncate(1 << 36)  # 64 GB, of which nothing is on disk
    script = build.script(
        """
        import os
        with open("big", "rb") as file:
            file.seek(1 << 35); print(file.read(2), os.path.getsize("big"))
        """
    )
    transcript = replay(script, 1, [])
    assert transcript.print == (f"b'\\x00\\x00' {1 << 36}",)


def test_a_script_may_lie_beside_anything(build: Build) -> None:
    (build.folder / ".git").mkdir()
    os.symlink("/nowhere", build.folder / "broken")
    os.symlink(".", build.folder / "loop")
    os.mkfifo(build.folder / "pipe")
    script = build.script("print(open('quiz.py').read()[:5])\n")
    assert replay(script, 1, []).print == ("print",)


@pytest.mark.parametrize(
    "name", ["with space", "comma,colon:back\\slash", "Ünï", "'quote\"", "a=b"]
)
def test_a_folder_may_have_any_name(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    script = folder / "quiz.py"
    script.write_text("import os\nopen('new', 'w').close()\nprint(os.getcwd(), os.listdir())\n")
    transcript = replay(script, 1, [])
    assert transcript.print == (f"{folder} ['new', 'quiz.py']",)
    assert os.listdir(folder) == ["quiz.py"]


def test_temporary_files_are_private_and_gone(build: Build) -> None:
    script = build.script(
        """
        import os, tempfile
        print(os.listdir(tempfile.gettempdir()))
        print(tempfile.mkstemp()[1])
        print(len(os.listdir(tempfile.gettempdir())))
        """
    )
    first, second = (replay(script, 1, []) for _ in range(2))
    assert first.print == second.print
    assert first.print[0] == "[]" and first.print[2] == "1"
    assert not os.path.exists(first.print[1])  # also where the folder is somebody else's


def test_files_are_kept_on_request(build: Build) -> None:
    (build.folder / "data.txt").write_text("data")
    (build.folder / "same.txt").write_text("same")
    script = build.script(
        """
        import os
        os.makedirs("out/deep")
        open("out/deep/made", "w").write("made")
        open("data.txt", "a").write("!")
        os.rename("same.txt", "moved.txt")
        input("? ")
        open("late", "w").write("late")
        os.abort()
        """
    )
    target = build.outside / "kept"
    with keeper(target) as kept:
        with Replayer(checkpoints=0, keeper=kept) as replayer:
            replayer.replay(script, 1, ["x"])
        names = kept.copy_out(build.folder, target)
    assert names == sorted(["data.txt", "late", "moved.txt", os.path.join("out", "deep", "made")])
    assert tree(target) == {
        "data.txt": b"data!",
        "late": b"late",
        "moved.txt": b"same",
        os.path.join("out", "deep", "made"): b"made",
    }
    assert (build.folder / "data.txt").read_text() == "data"


LOW = """
echo 0 > /proc/sys/user/max_user_namespaces
exec setpriv --bounding-set=-all --inh-caps=-all "$@"
"""


@linux
def test_without_overlays_the_folder_is_copied(build: Build) -> None:
    if not shutil.which("setpriv") or not shutil.which("unshare"):
        pytest.skip("needs util-linux, to take rights away")
    build.script(
        "import os\nopen('new', 'w').close()\nprint(os.listdir(), open('data').read())\n1/0\n"
    )
    (build.folder / "data").write_text("data")
    code = (
        "import quizlog_tui as q; t = q.replay('quiz.py', 1, []); "
        "print(t.print[0], t.unavailable, t.last_error.line, t.stderr.splitlines()[1])"
    )
    command = ["unshare", "-Ur", "sh", "-c", LOW, "sh", sys.executable, "-c", code]
    done = subprocess.run(command, cwd=build.folder, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "setpriv" in done.stderr or "max_user" in done.stderr:
        pytest.skip(f"rights cannot be taken away here: {done.stderr.strip()}")
    where = f'  File "{build.folder / "quiz.py"}", line 4, in <module>'
    assert done.stdout.rstrip() == f"['data', 'new', 'quiz.py'] data ('folder',) 4 {where}"
    assert sorted(os.listdir(build.folder)) == ["data", "quiz.py"]

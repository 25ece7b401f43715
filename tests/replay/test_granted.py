"""A grant holds for what was looked at, at its place, and a run with it finds nothing else there.

Grants are stored by place, as a file that a person can read and edit. A script is read once while
its file stays as it is.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from quizlog_tui.errors import ConfigError, IsolationError, ScriptError, UsageError
from quizlog_tui.files.regular_file import is_settled, stamp_of
from quizlog_tui.replay.kept_files import keeper
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script import granted
from quizlog_tui.replay.script import surroundings as bounds
from quizlog_tui.replay.script.granted import (
    Grant,
    SourceCache,
    grant,
    grant_at,
    granted_source,
    grants_path,
    place_of,
    store_grant,
)
from quizlog_tui.replay.script.interpreter import OWN, choose
from quizlog_tui.replay.script.source import read_source
from tests.support.build import Build
from tests.support.interpreters import VERSIONS, make_environment, python_of
from tests.support.long_runs import few
from tests.support.processes import wait_for

linux = pytest.mark.skipif(sys.platform != "linux", reason="overlays need Linux")
QUIZ = """
    #quizlog: real-files
    import json, helper
    print(json.dumps(helper.VALUE), *helper.read("data.txt"))
    input("? ")
"""
HELPER = (
    "VALUE = 'mine'\ndef read(name):\n    exec(open(name).read())\n    return [open(name).read()]\n"
)
STRANGER = "print('STRANGER')\ndef dumps(x): return x\n"

LOW = """
echo 0 > /proc/sys/user/max_user_namespaces
exec setpriv --bounding-set=-all --inh-caps=-all "$@"
"""


@pytest.fixture
def script(build: Build) -> Path:
    """A script with a module, data and a cache beside it, which was granted what it asks for."""
    folder = build.folder / "mine"
    (folder / "package").mkdir(parents=True)
    (folder / "helper.py").write_text(HELPER)
    (folder / "data.txt").write_text("pass")
    (folder / "package" / "__init__.py").write_text("")
    path = build.script(QUIZ).rename(folder / "quiz.py")
    grant(read_source(path), ["real-files"])
    return path


def allowed(script: Path) -> tuple[str, ...]:
    return granted_source(script).allowed


def withheld(script: Path) -> str:
    return granted_source(script).withheld


def test_a_grant_holds_while_nothing_changes(script: Path) -> None:
    assert allowed(script) == ("real-files",)
    assert replay(script, 7, []).print == ['"mine" pass']
    assert allowed(script) == ("real-files",)


def test_reading_a_script_alone_grants_nothing(script: Path) -> None:
    assert read_source(script).allowed == ()


def _package(at: Path) -> None:
    at.mkdir()
    (at / "__init__.py").write_text(STRANGER)


CHANGES: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "module": (lambda at: (at / "json.py").write_text(STRANGER), "json.py is new"),
    "start": (lambda at: (at / "sitecustomize.py").write_text(STRANGER), "sitecustomize.py is new"),
    "package": (lambda at: _package(at / "json"), "json/__init__.py is new"),
    "below": (lambda at: (at / "package" / "x.py").write_text(""), "package/x.py is new"),
    "names path": (lambda at: (at / "evil.pth").write_text("import x"), "evil.pth is new"),
    "library": (lambda at: (at / "json.so").write_bytes(b"\x7fELF"), "json.so is new"),
    "compiled": (lambda at: (at / "json.pyc").write_bytes(b"x"), "json.pyc is new"),
    "data": (lambda at: (at / "data.txt").write_text("print('STRANGER')"), "data.txt changed"),
    "helper": (lambda at: (at / "helper.py").write_text(STRANGER), "helper.py changed"),
    "script": (lambda at: (at / "quiz.py").write_text("#quizlog: real-files\n"), "quiz.py changed"),
    "gone": (lambda at: (at / "data.txt").unlink(), "data.txt is gone"),
    "link": (lambda at: (at / "json.py").symlink_to("helper.py"), "json.py is new"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_what_is_other_than_it_was_asks_again(kind: str, script: Path) -> None:
    change, new = CHANGES[kind]
    change(script.parent)
    assert allowed(script) == ()
    assert withheld(script) == f"{new} since you allowed it"
    grant(granted_source(script), ["real-files"])
    assert allowed(script) == ("real-files",)


def test_a_few_changes_are_named_and_the_rest_counted(script: Path) -> None:
    for name in ("a.py", "b\x1b[1m.py", "c.py", "d.py", "e.py"):
        (script.parent / name).touch()
    new = "a.py is new, b␛[1m.py is new, c.py is new and 2 more since you allowed it"
    assert withheld(script) == new


def test_the_run_says_why_it_has_no_grant(script: Path) -> None:
    (script.parent / "json.py").write_text(STRANGER)
    [said] = [text for text in replay(script, 7, []).warnings if "asks for" in text]
    new = "json.py is new since you allowed it (--allow real-files)"
    assert said == f"it asks for real-files and runs without: {new}"


def test_a_copy_elsewhere_asks_again(script: Path) -> None:
    copy = shutil.copytree(script.parent, script.parent.with_name("stranger"))
    assert allowed(copy / "quiz.py") == ()
    assert allowed(script) == ("real-files",)


def test_the_same_folder_moved_asks_again(script: Path) -> None:
    moved = script.parent.rename(script.parent.with_name("moved"))
    assert allowed(moved / "quiz.py") == ()


def test_a_link_to_the_script_in_another_folder_asks_again(script: Path) -> None:
    stranger = script.parent.with_name("stranger")
    stranger.mkdir()
    (stranger / "quiz.py").symlink_to(script)
    (stranger / "json.py").write_text(STRANGER)
    assert allowed(stranger / "quiz.py") == ()


def test_the_same_place_by_another_spelling_is_the_same(script: Path) -> None:
    link = script.parent.with_name("by-link")
    link.symlink_to(script.parent)
    assert allowed(link / "quiz.py") == ("real-files",)
    assert place_of(link / "quiz.py") == place_of(script)


def _compiled_beside(script: Path) -> None:
    """Code of a stranger in the cache of an innocent module, which Python takes for up to date."""
    helper = script.parent / "helper.py"
    info, innocent = helper.stat(), helper.read_bytes()
    helper.write_text(f"print('STRANGER')\n{HELPER}")
    evil = helper.with_name("evil.pyc")
    import py_compile

    py_compile.compile(str(helper), str(evil))
    data = bytearray(evil.read_bytes())
    data[8:16] = int(info.st_mtime).to_bytes(4, "little") + len(innocent).to_bytes(4, "little")
    helper.write_bytes(innocent)
    os.utime(helper, ns=(info.st_atime_ns, info.st_mtime_ns))
    cache = Path(importlib.util.cache_from_source(str(helper)))
    cache.parent.mkdir(exist_ok=True)
    cache.write_bytes(data)
    evil.unlink()


UNSEEN = {
    "cache": _compiled_beside,
    "hidden folder": lambda script: (script.parent / ".git").mkdir(),
    "record": lambda script: (script.parent / "r.json").write_text('{"script": 1, "seed": 1}'),
    "decisions": lambda script: (script.parent / "r.decisions.jsonl").touch(),
    "link out": lambda script: (script.parent / "json.py").symlink_to("/stranger/json.py"),
}


@linux
@pytest.mark.parametrize("kind", UNSEEN)
def test_what_was_not_looked_at_is_not_there_for_the_run(kind: str, script: Path) -> None:
    UNSEEN[kind](script)
    assert allowed(script) == ("real-files",)
    lists = script.with_name("lists.py")
    lists.write_text("#quizlog: real-files\nimport helper, os\nprint(*sorted(os.listdir()))\n")
    grant(read_source(lists), ["real-files"])
    (shown,) = replay(lists, 7, []).print
    assert set(shown.split()) - {"__pycache__"} == {
        *("data.txt", "helper.py", "lists.py", "package", "quiz.py")
    }


@linux
def test_a_cache_beside_an_innocent_module_is_not_run(script: Path) -> None:
    _compiled_beside(script)
    plain = script.with_name("plain.py")
    plain.write_text("import helper\n")
    assert replay(plain, 7, []).print == ["STRANGER"]  # as Python does: it runs shut in
    plain.unlink()
    assert replay(script, 7, []).print == ['"mine" pass']


def test_what_changes_before_the_run_begins_is_not_run(script: Path) -> None:
    source = granted_source(script)
    (script.parent / "helper.py").write_text(STRANGER)
    with pytest.raises(IsolationError, match=r"helper.py is not as it was when it was read"):
        replay(source, 7, [])


@linux
def test_what_changes_while_it_runs_is_not_seen(build: Build) -> None:
    path = build.script("#quizlog: real-files\ninput('? ')\nimport late\nprint(late.VALUE)\n")
    (build.folder / "late.py").write_text("VALUE = 'mine'\n")
    grant(read_source(path), ["real-files"])
    source = granted_source(path)
    with Replayer() as replayer:
        waiting = replayer.replay(source, 7, [])
        (build.folder / "late.py").write_text("VALUE = 'STRANGER'\n")
        ended = replayer.extend(waiting, "go")
        assert ended is not None
        assert ended.print == ["mine"]
    assert allowed(path) == ()


def test_an_environment_that_nobody_chose_is_not_entered(script: Path) -> None:
    packages = make_environment(Path(sys.executable), script.parent / ".venv", helper=STRANGER)
    (packages / "harm.pth").write_text("import os; print('STRANGER')\n")
    source = granted_source(script)
    assert source.allowed == ("real-files",)
    assert source.interpreter == OWN
    assert f"quizlog new {script.name} --python PATH" in source.missing_module_hint
    assert read_source(script).interpreter.environment == str(script.parent / ".venv")
    assert replay(script, 7, []).print == ['"mine" pass']


def test_a_chosen_environment_is_part_of_the_grant(script: Path) -> None:
    packages = make_environment(Path(sys.executable), script.parent / ".venv", tiny="X = 1\n")
    choose(script, str(script.parent / ".venv/bin/python"))
    assert withheld(script) == "its Python environment changed since you allowed it"
    script.write_text("#quizlog: real-files\nimport tiny, helper\nprint(tiny.X, helper.VALUE)\n")
    grant(read_source(script), ["real-files"])
    assert replay(script, 7, []).print == ["1 mine"]
    (packages / "json.py").write_text(STRANGER)
    assert withheld(script) == "its Python environment changed since you allowed it"


def test_a_later_grant_adds_to_what_still_holds(build: Build) -> None:
    path = build.script("#quizlog: real-files\n#quizlog: real-network\n")
    grant(read_source(path), ["real-files"])
    grant(read_source(path), ["real-network"])
    assert allowed(path) == ("real-files", "real-network")
    (build.folder / "json.py").touch()
    grant(read_source(path), ["real-network"])
    assert allowed(path) == ("real-network",)


def test_a_later_grant_does_not_renew_what_no_longer_holds(build: Build) -> None:
    path = build.script("#quizlog: real-files\n#quizlog: real-network\n")
    grant(read_source(path), ["real-files"])
    opened = granted_source(path)
    (build.folder / "json.py").touch()
    grant(opened, ["real-network"])
    assert allowed(path) == ("real-network",)


def test_too_much_to_be_looked_at_is_not_granted(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "_MOST_ENTRIES", 3)
    assert allowed(script) == ()
    assert "too much to be looked at" in withheld(script)
    with pytest.raises(UsageError, match="too much to be looked at"):
        grant(read_source(script), ["real-files"])


def test_a_script_that_asks_for_nothing_is_not_looked_up(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(granted, "grant_at")
    monkeypatch.delattr(bounds, "surroundings")
    assert granted_source(build.script("input()\n")).allowed == ()


@linux
def test_a_chosen_environment_is_there_however_its_folder_is_spelled(script: Path) -> None:
    elsewhere = script.parent.with_name("environments")
    make_environment(Path(sys.executable), elsewhere, tiny="X = 1\n")
    (script.parent / ".venv").symlink_to(elsewhere)
    by_link = script.parent.with_name("by-link")
    by_link.symlink_to(script.parent)
    script.write_text("#quizlog: real-files\nimport tiny\nprint(tiny.X)\n")
    choose(script, str(script.parent / ".venv/bin/python"))
    grant(read_source(by_link / "quiz.py"), ["real-files"])
    assert replay(script, 7, []).print == ["1"]
    assert replay(by_link / "quiz.py", 7, []).print == ["1"]


@pytest.mark.parametrize("version", few(VERSIONS, "3.9"))
def test_what_was_looked_at_is_copied_by_each_version(version: str, script: Path) -> None:
    choose(script, str(python_of(version)))
    grant(read_source(script), ["real-files"])
    assert replay(script, 7, []).print == ['"mine" pass']


@linux
def test_without_overlays_what_was_looked_at_is_copied(script: Path) -> None:
    if not shutil.which("setpriv") or not shutil.which("unshare"):
        pytest.skip("needs util-linux, to take rights away")
    (script.parent / "sub").mkdir()
    (script.parent / ".git").mkdir()
    code = (
        "import quizlog_tui as q; t = q.replay('quiz.py', 1, []); print(t.print[0], t.unavailable)"
    )
    command = ["unshare", "-Ur", "sh", "-c", LOW, "sh", sys.executable, "-c", code]
    done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "setpriv" in done.stderr or "max_user" in done.stderr:
        pytest.skip(f"rights cannot be taken away here: {done.stderr.strip()}")
    assert done.stdout.strip() == "\"mine\" pass ('folder',)"


def test_files_that_a_run_with_a_grant_writes_can_be_kept(script: Path) -> None:
    script.write_text("#quizlog: real-files\nopen('new', 'w').write(open('data.txt').read())\n")
    grant(read_source(script), ["real-files"])
    target = script.parent.with_name("kept")
    with keeper(target) as kept, Replayer(checkpoints=0, keeper=kept) as replayer:
        replayer.replay(script, 7, [])
        assert kept.copy_out(script.parent, target) == ["new"]
    assert not (script.parent / "new").exists()


HERE, ELSEWHERE = "/home/me/quiz.py", "/home/me/copy/quiz.py"
DIGEST = "sha256:" + "0" * 64
GRANT = Grant(frozenset({"real-clock", "real-files"}), {"quiz.py": DIGEST, "data": "folder"}, "uv")


def written(text: str) -> None:
    grants_path().parent.mkdir(parents=True, exist_ok=True)
    grants_path().write_text(text, encoding="utf-8")


def test_a_grant_is_for_one_place_and_replaces_the_one_before() -> None:
    assert grant_at(HERE) is None
    store_grant(HERE, Grant(frozenset({"real-network"})))
    store_grant(ELSEWHERE, Grant(frozenset({"real-clock"})))
    store_grant(HERE, GRANT)
    assert grant_at(HERE) == GRANT
    assert grant_at(ELSEWHERE) == Grant(frozenset({"real-clock"}))
    assert grant_at("/home/me/other.py") is None


@pytest.mark.parametrize("name", ['a"b', "a\nb", "a\\b", "]", "\x7f\x01", "ñ 😀", "sha256:x"])
def test_any_name_is_read_as_it_was_stored(name: str) -> None:
    grant = Grant(frozenset({"real-clock"}), {name: DIGEST}, name)
    store_grant(f"/home/{name}/quiz.py", grant)
    assert grant_at(f"/home/{name}/quiz.py") == grant


def test_a_table_that_a_person_deletes_is_no_longer_granted() -> None:
    store_grant(HERE, GRANT)
    store_grant(ELSEWHERE, GRANT)
    before, _, after = grants_path().read_text().partition(f'["{HERE}"]')
    written(before + after[after.index(f'["{ELSEWHERE}"]') :])
    assert grant_at(HERE) is None
    assert grant_at(ELSEWHERE) == GRANT


def test_a_grant_by_digest_alone_as_of_old_is_none() -> None:
    written(f'"{DIGEST}" = ["real-files"]\n')
    assert grant_at(HERE) is grant_at(DIGEST) is None
    store_grant(HERE, GRANT)
    assert DIGEST not in grants_path().read_text().partition("[")[0]


@pytest.mark.parametrize(
    "text", ["", "nonsense", "\0", f'"{HERE}" = 1', f'["{HERE}"', f'[["{HERE}"]]']
)
def test_what_is_no_grant_grants_nothing(text: str) -> None:
    written(text)
    assert grant_at(HERE) is None


@pytest.mark.parametrize(
    "text", ['allowed = ["real-everything"]', "allowed = 1", "files = [1, [2]]"]
)
def test_what_a_grant_cannot_hold_is_passed_over(text: str) -> None:
    written(f'["{HERE}"]\n{text}\n')
    assert grant_at(HERE) == Grant(frozenset())


def test_a_file_that_cannot_be_written_is_said() -> None:
    grants_path().mkdir(parents=True)
    with pytest.raises(ConfigError, match="cannot store what is allowed"):
        store_grant(HERE, GRANT)


def test_a_file_that_a_person_broke_is_not_replaced() -> None:
    written("[broken")
    with pytest.raises(ConfigError, match="mend or remove it"):
        store_grant(HERE, GRANT)
    assert grants_path().read_text() == "[broken"


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

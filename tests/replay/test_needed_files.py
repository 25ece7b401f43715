"""The files that a script needs are its own, and those that it must not read are hidden from it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from quizlog_tui.proof.bundle.pack import pack
from quizlog_tui.record.store import RecordFile
from quizlog_tui.replay.replayer import Replayer, replay
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


LISTS = "import os\nprint(sorted(os.listdir('.')))\nanswer = input('? ')\n"
linux = pytest.mark.skipif(sys.platform != "linux", reason="overlays need Linux")


@pytest.fixture
def folder(build: Build) -> Build:
    """A folder with a secret, records, decisions, and data that are none of these."""
    build.record("input()\n", name="other.yaml")
    (build.folder / "other.json").write_text(json.dumps({"script": "quiz.py", "seed": 1}))
    (build.folder / "other.decisions.jsonl").write_text("{}\n")
    (build.folder / ".env").write_text("KEY=secret\n")
    (build.folder / "data.yaml").write_text("seeds: [1]\n")
    (build.folder / "data.json").write_text('{"seed": 1}\n')
    return build


def test_secrets_and_records_are_private(folder: Build) -> None:
    source = read_source(folder.script(LISTS))
    names = [".env", "other.decisions.jsonl", "other.json", "other.yaml"]
    assert rules.private_files(source) == names


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("print(open('.env').read())", True),
        ("import helper", True),
        ("import os\nprint(os.environ)  # .env", False),
    ],
)
def test_a_script_asks_by_a_string_of_its_text(text: str, asked: bool, folder: Build) -> None:
    folder.script("PATH = '.env'\n", name="helper.py")
    source = read_source(folder.script(text + "\ninput()\n"))
    assert (".env" not in rules.private_files(source)) is asked


@linux
def test_a_script_does_not_find_what_is_private(folder: Build) -> None:
    run = replay(folder.script(LISTS), 7, [])
    assert run.print == ["['data.json', 'data.yaml', 'quiz.py']"]
    assert not run.tainted
    assert (folder.folder / ".env").read_text() == "KEY=secret\n"


@linux
def test_an_answer_that_is_code_reads_no_secret_by_any_path(folder: Build) -> None:
    script = folder.script(
        "while True:\n    try: print(eval(input('? ')))\n    except OSError: print('none')\n"
    )
    names = [
        ".env",
        str(folder.folder / ".env"),
        "../" + folder.folder.name + "/.env",
        "other.yaml",
    ]
    answers = [f"open({name!r}).read()" for name in names]
    assert replay(script, 7, answers).print == ["none"] * len(names)


@linux
def test_it_stays_private_after_a_rewind_that_writes(folder: Build) -> None:
    script = folder.script(
        "import os\nfor i in range(4):\n    open(input('? '), 'w').close()\n    print('.' + 'env' in os.listdir())\n"
    )
    with Replayer() as replayer:
        replayer.replay(script, 7, ["a", "b"])
        for answers in (["a", "c"], ["a", "c", "d"], ["x", "y", "z"]):
            assert set(replayer.replay(script, 7, answers).print) == {"False"}

"""Bundles from strangers: whatever they hold, they are refused in a line, and cost little."""

from __future__ import annotations

import io
import json
import random
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from quizlog_tui.cli import main
from quizlog_tui.proof.bundle.check import BundleReport, verify_bundle
from quizlog_tui.proof.bundle.container import ContainerError, from_archive, to_archive
from quizlog_tui.proof.bundle.manifest import MANIFEST, STEPS, digest, start_of_chain
from quizlog_tui.proof.bundle.pack import pack
from quizlog_tui.replay.world import World
from quizlog_tui.session.session import Session
from tests.support.build import Build

QUIZ = "print('one')\nprint('two', input('? '))\n"
EVIL = b"print('evil')\n"
Members = dict[str, bytes]
About = dict[str, Any]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What a bundle holds before it is changed."""
    path = Build(tmp_path_factory.mktemp("honest"), dedent).record(QUIZ)
    with Session(path) as session:
        session.answer("x")
    return pack(path).data


@pytest.fixture
def bundle(honest: bytes, tmp_path: Path) -> Path:
    target = tmp_path / "b.zip"
    target.write_bytes(honest)
    return target


def repacked(bundle: Path, change: Callable[[Members, About], object]) -> None:
    """Change members and manifest; the manifest's hashes are those of the members again."""
    members = from_archive(bundle.read_bytes())
    about = json.loads(members.pop(MANIFEST))
    change(members, about)
    if isinstance(about.get("files"), dict):
        about["files"] |= {
            name: digest(members[name]) for name in about["files"] if name in members
        }
    members.setdefault(MANIFEST, (json.dumps(about, indent=1) + "\n").encode())
    bundle.write_bytes(to_archive(members))


def refused(bundle: Path) -> BundleReport:
    """The report on a bundle in which something is wrong."""
    report = verify_bundle(bundle)
    assert report.problems and report.verdict is None and not report.ok
    assert all("\n" not in one.message for one in report.problems)
    json.dumps(report.to_dict())
    return report


# -- the archive


def nested(count: int, size: int) -> bytes:
    """An archive of entries each of which holds the next one, header and all."""
    body, inside = bytes(size), []
    for number in range(count):
        name, crc = f"script/{number:05}".encode(), zlib.crc32(body)
        head = struct.pack(
            "<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 33, crc, len(body), len(body), len(name), 0
        )
        inside.append((name, crc, len(body)))
        body = head + name + body
    directory, at = b"", 0
    for name, crc, length in reversed(inside):
        fields = (20, 20, 0, 0, 0, 33, crc, length, length, len(name), 0, 0, 0, 0, 0, at)
        directory += struct.pack("<4s6H3L5H2L", b"PK\1\2", *fields) + name
        at += 30 + len(name)
    numbers = (0, 0, count, count, len(directory), len(body), 0)
    return body + directory + struct.pack("<4s4H2LH", b"PK\5\6", *numbers)


def test_entries_that_hold_each_other_are_refused_before_they_are_read(tmp_path: Path) -> None:
    data = nested(400, 1_000_000)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        assert sum(info.file_size for info in infos) > 400_000_000
        with suppress(zipfile.BadZipFile):  # newer versions of Python read no such file either
            assert len(archive.read(infos[0])) > 1_000_000
    path = tmp_path / "b.zip"
    path.write_bytes(data)
    tracemalloc.start()
    report = refused(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert report.problems[0].message == "its files are bigger than all of it"
    assert peak < 3 * len(data)


def test_a_directory_of_millions_of_entries_is_refused_unread(tmp_path: Path) -> None:
    fields = (20, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    directory = (struct.pack("<4s6H3L5H2L", b"PK\1\2", *fields) + b"a") * 300_000
    for count in (300_000 % 65536, 1):
        numbers = (0, 0, count, count, len(directory), 4, 0)
        end = struct.pack("<4s4H2LH", b"PK\5\6", *numbers)
        path = tmp_path / "b.zip"
        path.write_bytes(b"PK\3\4" + directory + end)
        tracemalloc.start()
        refused(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 4 * path.stat().st_size


@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "a/b/c/d"), ("A", "a/b"), ("a/b", "A")])
def test_a_name_that_is_a_file_and_a_folder_is_refused(names: tuple[str, str]) -> None:
    with pytest.raises(ContainerError, match="is a file and a folder"):
        from_archive(to_archive(dict.fromkeys(names, b"x")))


@pytest.mark.parametrize("name", ["x" * 256, "é" * 128, "/".join(["x" * 200] * 6)])
def test_names_that_are_too_long_are_refused(name: str) -> None:
    with pytest.raises(ContainerError, match="too long"):
        from_archive(to_archive({name: b"x"}))


def test_a_disk_without_room_is_told(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert main(["verify", str(bundle)]) == 4
    expected = "quizlog: the system refuses: No space left on device (make room on the disk)\n"
    assert capsys.readouterr().err == expected


# -- what is verified is what is run


@pytest.mark.parametrize(
    ("script", "more"),
    [
        ("evil.py", {"evil.py": EVIL}),
        ("script/evil.py", {"script/evil.py": EVIL}),
        ("evil.py", {}),
        ("quiz.py", {"quiz.py": EVIL}),
        ("./quiz.py", {"quiz.py": EVIL}),
        ("script/deep/quiz.py", {"script/deep/quiz.py": EVIL}),
        ("script/../script/deep/quiz.py", {"script/deep/quiz.py": EVIL}),
        ("script/deep/QUIZ.py", {"script/deep/quiz.py": EVIL}),
        ("script/quiz.py/../evil.py", {"script/evil.py": EVIL}),
    ],
)
def test_a_record_that_names_another_script_than_is_verified_is_refused(
    script: str, more: Members, bundle: Path
) -> None:
    def change(members: Members, about: About) -> None:
        record = members["record.yaml"].replace(b'"quiz.py"', json.dumps(script).encode())
        members.update({"record.yaml": record, **more})
        about["files"] |= dict.fromkeys(more)

    repacked(bundle, change)
    report = refused(bundle)
    assert {one.part for one in report.problems} <= {"record", "file"}


@pytest.mark.parametrize(
    "script", ["quiz.py", "script/quiz.py", "../quizzes/quiz.py", "/home/ada/quiz.py", "./quiz.py"]
)
def test_a_record_may_have_been_anywhere_beside_its_script(script: str, bundle: Path) -> None:
    repacked(
        bundle,
        lambda members, about: members.update(
            {"record.yaml": members["record.yaml"].replace(b'"quiz.py"', f'"{script}"'.encode())}
        ),
    )
    assert verify_bundle(bundle).ok


def test_a_file_that_is_no_part_of_a_bundle_is_refused(bundle: Path) -> None:
    def change(members: Members, about: About) -> None:
        members["evil.txt"] = b"x"
        about["files"]["evil.txt"] = ""

    repacked(bundle, change)
    (problem,) = refused(bundle).problems
    assert (problem.part, problem.name) == ("file", "evil.txt")


# -- the manifest

WRONG: dict[str, Callable[[About], object]] = {
    "files is a list": lambda about: about.update(files=[*about["files"]]),
    "files is a text": lambda about: about.update(files="script/quiz.py record.yaml steps.jsonl"),
    "files is nothing": lambda about: about.update(files=None),
    "a hash is a number": lambda about: about["files"].update({"script/quiz.py": 7, "x": 1}),
    "a hash is a list": lambda about: about["files"].update({"x": []}),
    "record is a list": lambda about: about.update(record=["record.yaml"]),
    "record is a folder above": lambda about: about.update(record="../record.yaml"),
    "record is the steps": lambda about: about.update(record=STEPS),
    "script is a number": lambda about: about.update(script=1),
    "script is the record": lambda about: about.update(script="record.yaml"),
    "script is deeper": lambda about: about.update(script="script/a/quiz.py"),
    "versions is a list": lambda about: about.update(versions=[]),
    "a version is a list": lambda about: about["versions"].update(python=[3]),
    "packages is a text": lambda about: about["versions"].update(packages="x"),
    "a package is a number": lambda about: about["versions"].update(packages={"x": 1}),
    "steps is a text": lambda about: about.update(steps="2"),
    "steps is true": lambda about: about.update(steps=True),
    "head is a list": lambda about: about.update(head=[]),
    "more than is known": lambda about: about.update(more=1),
    "less than is needed": lambda about: about.pop("head"),
    "the format is true": lambda about: about.update(quizlog_bundle=True),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_manifest_of_another_shape_is_refused(
    change: Callable[[About], object], bundle: Path
) -> None:
    repacked(bundle, lambda members, about: change(about))
    (problem,) = refused(bundle).problems
    assert (problem.part, problem.name) == ("manifest", MANIFEST)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[]", "null", "1", '""', "{}", '{"files": ' * 2000, "9" * 5000, "\ud800", ""],
    ids=lambda text: text[:5],
)
def test_a_manifest_that_is_none_is_refused(text: str, bundle: Path) -> None:
    data = text.encode("utf-8", "surrogatepass")
    repacked(bundle, lambda members, about: members.update({MANIFEST: data}))
    assert refused(bundle).problems[0].part == "manifest"


def test_a_manifest_says_nothing_twice(bundle: Path) -> None:
    def change(members: Members, about: About) -> None:
        text = json.dumps(about, indent=1) + "\n"
        members[MANIFEST] = text.replace('"script"', '"script": "x", "script"', 1).encode()

    repacked(bundle, change)
    assert refused(bundle).problems[0].part == "manifest"


# -- the steps

STEP: Any = {"step": 0, "written": ["one\n"], "prompt": "? ", "input": "x"}


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"step": 0},
        {key: value for key, value in STEP.items() if key != "input"},
        STEP | {"input": ["x"]},
        STEP | {"written": "one"},
        STEP | {"written": [1]},
        STEP | {"prompt": 1},
        STEP | {"step": "0"},
        STEP | {"step": 1},
        STEP | {"step": False},
        STEP | {"more": 1},
        STEP | {"written": [[[[]]]]},
    ],
)
def test_a_step_of_another_shape_is_refused(line: Any, bundle: Path) -> None:
    """Its hash, and that over all steps, are right."""
    import hashlib

    def hashed(before: str, data: Any) -> str:
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(f"{before}\n{text}".encode("ascii")).hexdigest()

    def change(members: Members, about: About) -> None:
        code_hash = digest(members["script/quiz.py"])
        start = start_of_chain(code_hash, World(7, _start(members)))
        head = hashed(start, line)
        members[STEPS] = f"{json.dumps({**line, 'hash': head})}\n".encode()
        about.update(head=head, steps=1)

    repacked(bundle, change)
    (problem,) = refused(bundle).problems
    assert (problem.part, problem.name) == ("step", "0")


def _start(members: Members) -> int:
    from quizlog_tui.record.document import from_text
    from quizlog_tui.replay.world import world_of

    return world_of(from_text(members["record.yaml"].decode(), "r.yaml")).start


# -- anything


def mutated(value: Any, luck: random.Random) -> Any:
    """A value with one thing in it replaced, removed or doubled."""
    odd = [None, True, -1, 10**30, 1.5, "", "x", "../x", "\x1b[31m", [], {}, [[]], {"a": {}}]
    if isinstance(value, dict) and value and luck.random() < 0.8:
        key = luck.choice(list(value))
        rest = {each: one for each, one in value.items() if each != key}
        return luck.choice([rest, value | {key: mutated(value[key], luck)}, rest | {"z": 1}])
    if isinstance(value, list) and value and luck.random() < 0.8:
        at = luck.randrange(len(value))
        return luck.choice([value[:at], [*value, value[at]], [mutated(value[at], luck)]])
    return luck.choice(odd)


@pytest.mark.parametrize("part", [MANIFEST, STEPS, "record.yaml"])
def test_whatever_a_bundle_says_is_judged_without_breaking(part: str, bundle: Path) -> None:
    luck = random.Random(part)
    whole = bundle.read_bytes()
    for _ in range(40):

        def change(members: Members, about: About) -> None:
            if part == MANIFEST:
                members[MANIFEST] = (json.dumps(mutated(about, luck), indent=1) + "\n").encode()
            elif part == STEPS:
                lines = [json.loads(line) for line in members[STEPS].splitlines()]
                members[STEPS] = "".join(
                    f"{json.dumps(one)}\n" for one in mutated(lines, luck) or []
                ).encode()
            else:
                import yaml

                record = mutated(yaml.safe_load(members[part]), luck)
                members[part] = json.dumps(record).encode()

        bundle.write_bytes(whole)
        try:
            repacked(bundle, change)
        except TypeError:
            continue
        report = verify_bundle(bundle)
        json.dumps(report.to_dict())
        assert report.ok or report.problems or report.verdict

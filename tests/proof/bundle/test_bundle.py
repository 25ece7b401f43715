"""Bundles: what goes in, what is checked, and that each changed byte is noticed and named."""

from __future__ import annotations

import getpass
import io
import json
import shutil
import stat
import subprocess
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quizlog_tui.errors import DifferenceError, RecordError, UsageError
from quizlog_tui.files.regular_file import is_archive
from quizlog_tui.proof.bundle.check import (
    BundleReport,
    unpack_bundle,
    verify_bundle,
)
from quizlog_tui.proof.bundle.container import (
    ContainerError,
    check_names,
    from_archive,
    to_archive,
)
from quizlog_tui.proof.bundle.manifest import first_invalid_step, start_of_chain, step_lines
from quizlog_tui.proof.bundle.pack import pack
from quizlog_tui.proof.bundle.sign import sign, signature
from quizlog_tui.record.document import to_text
from quizlog_tui.record.who import Giver
from quizlog_tui.replay.replayer import Replayer, replay
from quizlog_tui.replay.script.needed_files import needed_files
from quizlog_tui.replay.script.source import read_source
from quizlog_tui.replay.world import World
from quizlog_tui.session.session import Session
from tests.support.build import Build
from tests.support.long_runs import examples, few

QUIZ = """
import random
from helper import ask
for line in open("data/words.txt"):
    answer = ask(line.strip(), random.randint(1, 9))
    print("you said", answer)
raise Exception("enough")  #score = 0.4
"""


@pytest.fixture
def record(build: Build, replayer: Replayer) -> Path:
    return finished_record(build, replayer)


def finished_record(build: Build, replayer: Replayer) -> Path:
    """A finished record whose script needs a module and a data file."""
    (build.folder / "data").mkdir()
    (build.folder / "data" / "words.txt").write_text("red\nblue\n")
    (build.folder / "private.txt").write_text("nobody's business\n")
    build.script("def ask(word, n):\n    return input(f'{n} {word}? ')\n", "helper.py")
    path = build.record(QUIZ)
    with Session(path, replayer) as session:
        session.answer("x")
        session.answer("y")
    return path


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    with Replayer() as replayer:
        build = Build(tmp_path_factory.mktemp("packed"), dedent)
        return pack(finished_record(build, replayer)).data


@pytest.fixture
def bundle(packed: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "evidence.zip"
    path.write_bytes(packed)
    return path


def test_a_bundle_holds_what_the_script_needs_and_nothing_else(record: Path) -> None:
    made = pack(record)
    assert made.names == (
        "manifest.json", "record.yaml", "script/data/words.txt", "script/helper.py",
        "script/quiz.py", "steps.jsonl",
    )  # fmt: skip
    members = from_archive(made.data)
    assert members["record.yaml"] == record.read_bytes()
    steps = [json.loads(line) for line in members["steps.jsonl"].decode().splitlines()]
    assert [step["input"] for step in steps] == ["x", "y", None]
    assert (steps[-1]["status"], steps[-1]["error"]["score"]) == ("error", 0.4)
    about = json.loads(members["manifest.json"])
    assert about["head"] == made.head == steps[-1]["hash"]
    assert about["versions"]["python"] and about["versions"]["packages"] == {}


def test_the_same_record_gives_the_same_bytes(record: Path) -> None:
    assert pack(record).data == pack(record).data


def test_a_bundle_is_verified_far_from_where_it_was_made(
    record: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "b.zip"
    elsewhere.write_bytes(pack(record).data)
    shutil.rmtree(record.parent)
    report = verify_bundle(elsewhere)
    assert report.ok and report.problems == () and report.others == ()
    assert report.to_dict()["verdict"] == "reproducible"


def changed(bundle: Path, name: str, old: str, new: str, *, listed: bool = False) -> BundleReport:
    """The report after a member was edited; its hash in the manifest too, if `listed`."""
    members = from_archive(bundle.read_bytes())
    assert old in members[name].decode()
    members[name] = members[name].decode().replace(old, new, 1).encode()
    if listed:
        from quizlog_tui.proof.bundle.manifest import digest

        about = json.loads(members["manifest.json"])
        about["files"][name] = digest(members[name])
        members["manifest.json"] = (json.dumps(about, indent=1) + "\n").encode()
    bundle.write_bytes(to_archive(members))
    return verify_bundle(bundle)


@pytest.mark.parametrize(
    ("name", "old", "new", "part"),
    [
        ("record.yaml", '"x"', '"z"', "file"),
        ("script/quiz.py", "0.4", "0.9", "file"),
        ("script/helper.py", "word", "w0rd", "file"),
        ("script/data/words.txt", "red", "RED", "file"),
        ("steps.jsonl", '"x"', '"z"', "file"),
        ("manifest.json", '"quizlog_bundle": 1', '"quizlog_bundle": 2', "manifest"),
        ("manifest.json", '"steps": 3', '"steps": 4', "manifest"),
        ("manifest.json", '"head": "', '"head": "0', "manifest"),
    ],
)
def test_an_edited_member_is_named(name: str, old: str, new: str, part: str, bundle: Path) -> None:
    report = changed(bundle, name, old, new)
    assert not report.ok
    assert [(one.part, one.name) for one in report.problems] == [(part, name)]
    assert report.to_dict()["verdict"] == "diverges"


@pytest.mark.parametrize(
    ("name", "old", "new", "found"),
    [
        ("steps.jsonl", '"input": "y"', '"input": "z"', ("step", "1")),
        ("steps.jsonl", "you said x", "you said z", ("step", "1")),
        ("steps.jsonl", '"score": 0.4', '"score": 0.9', ("step", "2")),
        ("steps.jsonl", "{", " {", ("step", "0")),
        ("record.yaml", '- "y"', '- "z"', ("record", "record.yaml")),
        ("record.yaml", "seed: 7", "seed: 8", ("step", "0")),
        ("record.yaml", "sha256:", "sha256:0", ("record", "record.yaml")),
        ("record.yaml", "seed:", "sead:", ("record", "record.yaml")),
        ("script/quiz.py", "you said", "he said", ("step", "0")),
        ("script/data/words.txt", "blue", "BLUE", ("replay", "1")),
        ("script/helper.py", "{n} {word}? ", "{n} {word}! ", ("replay", "0")),
    ],
)
def test_an_edit_that_mends_the_manifest_too_is_named(
    name: str, old: str, new: str, found: tuple[str, str], bundle: Path
) -> None:
    report = changed(bundle, name, old, new, listed=True)
    assert not report.ok
    assert found in [(one.part, one.name) for one in report.problems]


@settings(max_examples=examples(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_any_changed_byte_is_noticed_without_running_anything(
    place: float, bit: int, bundle: Path
) -> None:
    flipped = bytearray(bundle.read_bytes())
    flipped[int(place * len(flipped))] ^= 1 << bit
    broken = bundle.with_name("broken.zip")
    broken.write_bytes(flipped)
    report = verify_bundle(broken)
    assert report.problems and report.verdict is None


@pytest.mark.parametrize("cut", few([0, 1, 30, -1, -30]))
def test_bytes_more_or_less_are_noticed(cut: int, bundle: Path) -> None:
    whole = bundle.read_bytes()
    bundle.write_bytes(whole[:cut] if cut else whole + b"x")
    assert verify_bundle(bundle).problems


@pytest.mark.parametrize("change", ["missing", "extra"])
def test_a_missing_or_an_added_file_is_named(change: str, bundle: Path) -> None:
    members = from_archive(bundle.read_bytes())
    if change == "missing":
        del members["script/helper.py"]
    else:
        members["script/evil.py"] = b""
    bundle.write_bytes(to_archive(members))
    (problem,) = verify_bundle(bundle).problems
    expected = {"missing": "script/helper.py", "extra": "script/evil.py"}[change]
    assert (problem.part, problem.name) == ("file", expected)


EVIL = [
    "../evil",
    "/evil",
    "a/../../evil",
    "C:/evil",
    "a\\..\\evil",
    "a//b",
    "./a",
    "a/",
    "a\nb",
    "",
]


@pytest.mark.parametrize("name", few(EVIL))
def test_names_that_leave_the_folder_are_refused(name: str, bundle: Path) -> None:
    with pytest.raises(ContainerError, match=r"^(its name would leave|has a name that not every)"):
        check_names([name])
    buffer = io.BytesIO(bundle.read_bytes())
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"evil")
    bundle.write_bytes(buffer.getvalue())
    report = verify_bundle(bundle)
    assert report.problems and report.verdict is None
    assert not (bundle.parent.parent / "evil").exists() and not (bundle.parent / "evil").exists()


def archive_with(
    info: zipfile.ZipInfo | None, *, compressed: bool = False, twice: bool = False
) -> bytes:
    buffer = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        archive.writestr(info or "a", b"x" * 1000)
        if twice:
            archive.writestr("A", b"y")
    return buffer.getvalue()


def test_links_doubles_and_bombs_are_refused() -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    for data, said in (
        (archive_with(link), "link"),
        (archive_with(None, compressed=True), "compressed"),
        (archive_with(None, twice=True), "differs from a in capitals only"),
    ):
        with pytest.raises(ContainerError, match=said):
            from_archive(data)


NAMES = st.lists(st.sampled_from(["a", "b/c", "d/e.f", "é", "long " * 9]), unique=True)


@given(NAMES, st.binary(max_size=50))
def test_packing_and_unpacking_gives_the_same(names: list[str], data: bytes) -> None:
    members = {name: data + name.encode() for name in names}
    assert from_archive(to_archive(members)) == members
    assert to_archive(dict(reversed(members.items()))) == to_archive(members)


ODD = [":", '"', "\t", "\n", "\\", "*", "|", "\udcff"]
FINE = ["-quiz.py", " a b.py", "ü日.py", "x" * 250 + ".py", "%41#'$HOME{x}[y]~.py", "quiz", ".q.py"]


@pytest.mark.parametrize(
    "name",
    few([*(f"part{char}1.py" for char in ODD), *FINE], "part:1.py", "part\udcff1.py", *FINE[:5]),
)
def test_a_script_of_any_name_is_bundled_and_verified_or_refused_for_it(
    name: str, build: Build, replayer: Replayer, tmp_path: Path
) -> None:
    path = build.record("input('? ')\n")
    (build.folder / "quiz.py").rename(build.folder / name)
    path.write_text(to_text({"script": name, "seed": 1, "inputs": [], "pointer": 0}, path))
    with Session(path, replayer) as session:
        assert session.answer("x").status == "success"
    if name not in FINE:
        with pytest.raises(UsageError, match="has a name that not every system takes") as refused:
            pack(path)
        assert refused.value.where == name and "in record.yaml" in (refused.value.hint or "")
        return
    bundle = tmp_path / "odd.zip"
    bundle.write_bytes(pack(path).data)
    assert verify_bundle(bundle).ok
    with Session(unpack_bundle(bundle, tmp_path / "unpacked"), replayer) as session:
        assert session.reply().status == "success"


@pytest.mark.parametrize(
    "names", [("A.txt", "a.txt"), ("a:b",), ("d" * 200 + "/" + "e/" * 450 + "f",)]
)
def test_what_is_packed_can_be_read_again(names: tuple[str, ...], record: Path) -> None:
    for name in names:
        path = record.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("data\n")
    with pytest.raises(UsageError, match=r"differs from|not every system|too long"):
        pack(record, [record.parent / name for name in names])


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for whole in (data, b"PK\x03\x04" + data, to_archive({"a": b"x"}) + data):
        try:
            from_archive(whole)
        except ContainerError as error:
            assert error.message


def test_a_step_of_the_chain_that_was_changed_is_the_first_that_breaks(build: Build) -> None:
    run = replay(build.script("for i in range(5): print(i, input('? '))\n"), 1, list("abcde"))
    start = start_of_chain("sha256:0", World(1, 0))
    lines = step_lines(run, start)
    assert first_invalid_step(lines, start) is None and len(lines) == 6
    for index in range(6):
        other = [*lines]
        other[index] = other[index].replace('"prompt": ', '"prompt":  ')
        assert first_invalid_step(other, start) == index
        assert first_invalid_step([*lines[:index], *lines[index + 1 :]], start) == (
            index if index < 5 else None
        )
    assert first_invalid_step(lines, start_of_chain("sha256:0", World(2, 0))) == 0
    assert first_invalid_step(["[]", "null", "{}"], start) == 0


def test_what_a_script_mentions_is_found(build: Build) -> None:
    for name in ("a.csv", "pkg/__init__.py", "pkg/deep.py", "pkg/.hidden", "b.txt", "c d.json"):
        path = build.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("open('b.txt')\n" if name.endswith("deep.py") else "")
    (build.folder.parent / "outside.txt").write_text("")
    source = read_source(
        build.script(
            """
            import pkg.deep, os
            open("a.csv"); open("./c d.json"); open("../outside.txt"); open("quiz.py"); open("/etc/passwd")
            os.listdir("."); print("", "nothing here", "a" * 1000, "nul\\0")
            """
        )
    )
    names = [path.relative_to(build.folder).as_posix() for path in needed_files(source)]
    assert names == ["a.csv", "b.txt", "c d.json", "pkg/__init__.py", "pkg/deep.py"]
    assert needed_files(read_source(build.script("if x ==\n", "broken.py"))) == []


def test_a_record_that_is_not_what_happened_is_not_vouched_for(record: Path) -> None:
    record.write_text(record.read_text().replace("you said x", "you said z"))
    with pytest.raises(DifferenceError, match="from step 1 on"):
        pack(record)


NOISY = """
import sys, os
print("see", os.path.abspath("x"), file=sys.stderr)
if os.path.exists(".env"):
    open(".env").read()
print("KEEP_KEY=printed-by-it")
raise Exception("no " + input("? "))
"""


@pytest.fixture
def noisy(build: Build, replayer: Replayer) -> Path:
    """A record with private things in stderr, a remark, a note and the output, beside a `.env`."""
    (build.folder / ".env").write_text("ANY=some-long-value\n")
    path = build.record(NOISY)
    with Session(path, replayer) as session:
        session.answer("x", giver=Giver("screen", "person", getpass.getuser()))
        session.comment(0, "as in /home/eve/notes", author=getpass.getuser())
        session.fork(0, "y")
        session.note("main", "it was some-long-value")
    return path


def test_files_that_hold_keys_are_packed_only_where_they_are_named(noisy: Path) -> None:
    made = pack(noisy)
    assert (made.left_out, "script/.env" in made.names) == ((".env",), False)
    assert b"some-long-value" not in from_archive(made.data)["script/quiz.py"]
    named = pack(noisy, [noisy.parent / ".env"])
    assert (named.left_out, "script/.env" in named.names) == ((), True)
    assert ("file", ".env", "the bundle") in named.private


def test_what_is_private_goes_out_of_all_that_is_no_evidence(noisy: Path) -> None:
    plain, made = pack(noisy), pack(noisy, redact=True)
    assert (plain.removed, {one.kind for one in plain.private}) == (
        (),
        {"folder", "login", "secret"},
    )
    assert {one.kind for one in made.removed} == {"folder", "login", "secret"}
    assert {one.where for one in made.private} == {"the record's print", "quiz.py"}
    text = from_archive(made.data)["record.yaml"].decode()
    for private in (str(noisy.parent), "/home/eve", "some-long-value", getpass.getuser()):
        assert private not in text
    assert "KEEP_KEY=printed-by-it" in text and "[folder]/x" in text
    path = noisy.parent / "redacted.zip"
    path.write_bytes(made.data)
    assert verify_bundle(path).ok
    assert from_archive(made.data)["steps.jsonl"] == from_archive(plain.data)["steps.jsonl"]


def test_added_files_must_lie_in_the_folder_of_the_script(record: Path) -> None:
    assert "script/private.txt" in pack(record, [record.parent / "private.txt"]).names
    for path in (Path("/etc/passwd"), record.parent, record.parent / "nope"):
        with pytest.raises(UsageError, match="not a file in the script's folder"):
            pack(record, [path])


def test_what_is_no_bundle_is_told(tmp_path: Path, record: Path) -> None:
    assert not is_archive(record) and not is_archive(tmp_path / "nope")
    with pytest.raises(RecordError, match="cannot read"):
        verify_bundle(tmp_path / "nope")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_a_signature_belongs_to_one_file_and_one_key(bundle: Path) -> None:
    key = bundle.parent / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    assert signature(bundle) == (None, None)
    sign(bundle, key)
    report = verify_bundle(bundle)
    assert report.ok and report.signer is not None and "SHA256:" in report.signer
    members = from_archive(bundle.read_bytes())
    bundle.write_bytes(to_archive(members | {"script/more.txt": b""}))
    parts = {problem.part for problem in verify_bundle(bundle).problems}
    assert parts == {"signature", "file"}
    with pytest.raises(UsageError, match="could not sign"):
        sign(bundle, bundle)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")
def test_a_signature_by_one_of_some_people_can_be_demanded(bundle: Path) -> None:
    folder = bundle.parent
    for name in ("ada", "eve"):
        key = folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    signers = folder / "signers"
    signers.write_text(f"ada@example.org {(folder / 'ada.pub').read_text()}")
    assert signature(bundle, signers) == (None, "is missing: nobody signed it")
    assert not verify_bundle(bundle, signers=signers).ok
    sign(bundle, folder / "eve")
    assert verify_bundle(bundle).ok
    (problem,) = verify_bundle(bundle, signers=signers).problems
    assert problem.part == "signature" and "by anybody in signers" in problem.message
    sign(bundle, folder / "ada")
    report = verify_bundle(bundle, signers=signers)
    assert report.ok and (report.signer or "").startswith("ada@example.org, ED25519 key SHA256:")
    assert signature(bundle, folder / "none")[0] is None


def test_a_bundle_is_unpacked_to_look_at_only_if_its_files_are_unchanged(
    record: Path, build: Build, replayer: Replayer
) -> None:
    bundle, folder = build.outside / "quiz.zip", build.outside / "unpacked"
    made = pack(record)
    bundle.write_bytes(made.data)
    with Session(unpack_bundle(bundle, folder), replayer) as session:
        assert list(session.record.inputs) == ["x", "y"]
        assert session.transcript.score == 0.4 and not session.warnings
    members = dict(from_archive(made.data))
    bundle.write_bytes(to_archive({**members, "script/quiz.py": b"print('other')"}))
    with pytest.raises(DifferenceError, match=r"script/quiz\.py: its bytes are not those"):
        unpack_bundle(bundle, folder)
    for damaged in (b"PK\x03\x04", made.data + b"more"):
        bundle.write_bytes(damaged)
        with pytest.raises(DifferenceError) as caught:
            unpack_bundle(bundle, folder)
        [problem] = verify_bundle(bundle).problems
        assert caught.value.message == f"{problem.part} {problem.name}: {problem.message}"
        assert caught.value.exit_code == 3

"""Films of a record, and the pictures of README and guides."""

from __future__ import annotations

import json
import re
import shutil
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

import pytest

import quizlog_tui
from quizlog_tui.cli import main
from quizlog_tui.files.paths import shipped
from quizlog_tui.tui.screenshot import Film, asciicast, frame_svg, moving_svg
from tests.support.build import Build
from tests.support.documents import DOCUMENTS
from tests.support.frames import frame, on_terminal
from tests.support.golden_pictures import TAKEN_WITH
from tests.support.guide_pictures import FILM, SHOTS, make
from tests.support.long_runs import few

PICTURES = Path(quizlog_tui.__file__).parent / "guides" / "pictures"
ASKS = "#quizlog: real-files\nprint(input('a? '))\ninput('b? ')\n"
QUIZ = "for name in 'abc':\n    print('seen', input(f'{name}? '))\n"


@pytest.mark.parametrize("name", few([*SHOTS, FILM]))
def test_a_picture_of_the_guides_is_as_the_screens_are(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Make them anew: python -m tests.support.guide_pictures quizlog_tui/guides/pictures."""
    if TAKEN_WITH.read_text().strip() != version("textual"):
        pytest.skip("the pictures were taken with another Textual")
    pytest.importorskip("numpy")
    shutil.copytree(shipped("records"), tmp_path / "records")
    monkeypatch.chdir(tmp_path / "records")
    assert make(name) == (PICTURES / f"{name}.svg").read_text(encoding="utf-8")


def test_every_picture_is_shown_somewhere() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in DOCUMENTS.values())
    shown = set(re.findall(r"pictures/(\w+)\.svg\)", texts))
    assert shown == {*SHOTS, FILM} == {path.stem for path in PICTURES.glob("*.svg")}


@pytest.mark.parametrize("form", ["cast", "svg"])
def test_a_film_has_the_same_bytes_each_time(form: str, build: Build) -> None:
    record = build.record(QUIZ, "1", "2", "3")
    before = record.read_bytes()
    targets = [build.folder / f"{number}.{form}" for number in (1, 2)]
    for target in targets:
        assert main(["cast", str(record), "-o", str(target), "--size", "60x20"]) == 0
    one, two = [target.read_bytes() for target in targets]
    assert one == two and record.read_bytes() == before


def test_a_cast_ends_on_the_screen_that_a_picture_shows(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    record, keys = build.record(QUIZ, "1", "2"), build.folder / "keys"
    keys.write_text("# one back\nescape 0\nh 0.5\n\nl\n", encoding="utf-8")
    target = build.folder / "a.cast"
    call = ["cast", str(record), "-o", str(target), "--keys", str(keys), "--size", "60x20"]
    assert main(call) == 0
    head, *events = map(json.loads, target.read_text(encoding="utf-8").splitlines())
    assert (head["version"], head["width"], head["height"]) == (2, 60, 20)
    assert [time for time, _, _ in events] == [0, 1, 1.5, 2.5]
    capsys.readouterr()
    assert main(["screenshot", str(record), "--keys", "escape,h,l", "--size", "60x20"]) == 0
    shown = on_terminal("".join(data for _, _, data in events), 60, 20)
    assert shown == capsys.readouterr().out


def test_rows_of_a_moving_picture_are_seen_when_the_film_shows_them() -> None:
    film = Film("t", [(frame("a", "b"), 1), (frame("a", "c"), 2), (frame("a", "b"), 1)])
    svg = moving_svg(film)
    ElementTree.fromstring(svg)
    assert svg.count('class="m ') == 2 and "<script" not in svg and "http" not in svg[40:]
    steps = "0%{visibility:visible}25%{visibility:hidden}75%{visibility:visible}"
    assert f"{{{steps}}}" in svg
    assert "{0%{visibility:hidden}25%{visibility:visible}75%{visibility:hidden}}" in svg


def test_an_asciicast_tells_only_rows_that_change() -> None:
    film = Film("t", [(frame("a", "b"), 1), (frame("a", "c"), 1)])
    events = [json.loads(line) for line in asciicast(film).splitlines()[1:]]
    assert events[1][2].count("H") == 1 and "c" in events[1][2]


def test_every_character_of_a_picture_has_its_own_column() -> None:
    root = ElementTree.fromstring(frame_svg(frame("ab c", "─日x"), "t"))
    texts = {text.text: text.get("x") for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert texts["abc"] == "0 9 27" and texts["日x"] == "9 27"


def test_thirty_seconds_are_below_a_megabyte(build: Build) -> None:
    script = "for n in range(30):\n    print('x' * 90)\n    input(f'question {n}? ')\n"
    target = build.folder / "long.svg"
    assert main(["cast", str(build.record(script, *"1" * 28)), "-o", str(target)]) == 0
    assert target.stat().st_size < 1_000_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "a.gif"], "a.gif: is neither .cast nor .svg"),
        (["-o", "a.svg", "--size", "wide"], "'wide' is not a size"),
        (["-o", "a.svg", "--keys", "gone"], "gone: cannot read"),
        (["-o", "a.svg", "--keys", "bad"], "bad:2: is not a key press"),
        (
            ["-o", "a.svg", "--keys", "misspelt"],
            "misspelt:1: there is no key 'entre' (did you mean enter?)",
        ),
    ],
)
def test_a_wrong_film_is_refused(
    words: list[str],
    said: str,
    build: Build,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(build.folder)
    (build.folder / "bad").write_text("h\nl soon\n", encoding="utf-8")
    (build.folder / "misspelt").write_text("entre 2\n", encoding="utf-8")
    assert main(["cast", str(build.record(QUIZ, "1")), *words]) == 2
    assert said in capsys.readouterr().err


def test_a_picture_asks_for_no_grant(build: Build) -> None:
    record = build.record(ASKS, "x")
    for words in (["cast", "-o", "c.cast"], ["screenshot", "-o", "s.txt"]):
        target = str(build.folder / words[2])
        assert main([words[0], str(record), "-o", target]) == 0
        assert "run it without" not in Path(target).read_text()

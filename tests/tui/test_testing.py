"""The fixture for users' own tests, used as they would: in a run of pytest of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from quizlog_tui.cli import main
from quizlog_tui.errors import UsageError
from quizlog_tui.tui.picture import picture
from tests.support.build import Build

pytestmark = pytest.mark.early
TEST = """
def test_first_question(quizlog_screen):
    quizlog_screen("record.yaml", 1, size=(60, 20))
    quizlog_screen("record.yaml", 0, size=(60, 20), form="svg")

async def test_inside_a_loop(quizlog_screen):
    assert "name? Ada" in quizlog_screen.render("record.yaml").text
"""
QUIZ = "name = input('name? ')\nprint('Hello', name)\ninput('more? ')\n"


@pytest.fixture
def run_pytest(
    build: Build, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str]]:
    """Runs the tests beside the records; their exit code, and what was written."""
    monkeypatch.chdir(build.folder)

    def run(*words: str) -> tuple[int, str]:
        settings = ("asyncio_mode=auto", "asyncio_default_fixture_loop_scope=function")
        given = [word for one in settings for word in ("-o", one)]
        done = pytester.runpytest_inprocess("-q", "-p", "no:cacheprovider", *given, *words)
        return int(done.ret), "\n".join([*done.outlines, *done.errlines])

    return run


def test_the_fixture_compares_updates_and_shows_the_difference(
    build: Build, run_pytest: Callable[..., tuple[int, str]]
) -> None:
    record = build.record(QUIZ, "Ada")
    before = record.read_bytes()
    (build.folder / "test_mine.py").write_text(TEST)
    code, said = run_pytest()
    assert code == 1 and "--quizlog-update writes it" in said and "Traceback" not in said
    assert run_pytest("--quizlog-update")[0] == 0
    golden = sorted(path.name for path in (build.folder / "golden").iterdir())
    assert golden == ["test_first_question-0-60x20.svg", "test_first_question-1-60x20.txt"]
    assert run_pytest()[0] == 0
    build.script(QUIZ.replace("more?", "less?"))
    code, said = run_pytest()
    assert code == 1 and "-│▎more? ▏" in said and "+│▎less? ▏" in said
    assert record.read_bytes() == before


DIFFERENT = """
def test_keys_and_themes(quizlog_screen):
    for keys in ((), ("question_mark",), ("escape", "0"), ("x",) * 50, ("x",) * 51):
        quizlog_screen("record.yaml", size=(60, 20), keys=keys)
    quizlog_screen("record.yaml", size=(60, 20), theme="nord")
    quizlog_screen("record.yaml", size=(60, 20), theme="nord")

def test_records(quizlog_screen):
    quizlog_screen("record.yaml")
    quizlog_screen("other.yaml")
"""


def test_no_two_pictures_share_a_golden_file(
    build: Build, run_pytest: Callable[..., tuple[int, str]]
) -> None:
    build.record(QUIZ, "Ada")
    build.record(QUIZ, "Bea", name="other.yaml")
    (build.folder / "test_mine.py").write_text(DIFFERENT)
    code, said = run_pytest("--quizlog-update")
    assert code == 1 and "1 failed, 1 passed" in said
    assert "two different pictures would share" in said and "test_records-80x24.txt" in said
    golden = {path.name for path in (build.folder / "golden").iterdir()}
    assert len(golden) == 7
    assert {f"test_keys_and_themes-{name}-60x20.txt" for name in ("escape-0", "nord")} < golden


def test_pictures_of_other_text_differ_only_in_that_text(build: Build) -> None:
    pictures = [
        picture(build.record(QUIZ, name, name=f"{name}.yaml")).svg for name in ("Ada", "Bea")
    ]
    told = [line for line in pictures[0].splitlines() if line not in pictures[1].splitlines()]
    assert told and all("Ada" in line for line in told)


def test_pictures_come_out_alike_and_change_nothing(build: Build) -> None:
    record = build.record(QUIZ, "Ada")
    before = record.read_bytes()
    one, two = (picture(record, keys=("x", "enter"), size=(70, 20)) for _ in range(2))
    assert one == two and "more? x" in one.text and one.svg.startswith("<svg")
    assert record.read_bytes() == before


def test_what_there_is_not_is_said(build: Build) -> None:
    record = build.record(QUIZ, "Ada")
    with pytest.raises(UsageError, match="there is no step 9"):
        picture(record, 9)
    with pytest.raises(UsageError, match="there is no theme"):
        picture(record, theme="none")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("escape,entre", "there is no key 'entre' (did you mean enter?)"),
        ("Crtl+X", "there is no key 'Crtl+X' (did you mean ctrl+x?)"),
        ("wait:1", "there is no key 'wait:1' (such as escape, f5, ctrl+x or ?)"),
    ],
)
def test_a_screenshot_names_the_key_that_there_is_not(
    keys: str, said: str, build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["screenshot", str(build.record(QUIZ, "Ada")), "--keys", keys]) == 2
    assert capsys.readouterr().err == f"quizlog: {said}\n"


def test_keys_may_be_written_as_people_do(build: Build) -> None:
    record = build.record(QUIZ, "Ada")
    written, named = (
        picture(record, keys=keys) for keys in (("Escape", "?"), ("escape", "question_mark"))
    )
    assert written == named != picture(record)


def test_the_shell_takes_screenshots(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    record = build.record(QUIZ, "Ada")
    assert main(["screenshot", str(record), "0", "--size", "60x20"]) == 0
    assert "name? ▏" in capsys.readouterr().out
    target = build.folder / "a.svg"
    assert main(["screenshot", str(record), "-o", str(target)]) == 0
    assert target.read_text().startswith("<svg")
    target.write_text("mine")
    assert main(["screenshot", str(record), "-o", str(target)]) == 2
    assert "exists already" in capsys.readouterr().err and target.read_text() == "mine"
    assert main(["screenshot", str(record), "-o", str(target), "--force"]) == 0
    assert target.read_text().startswith("<svg")
    assert main(["screenshot", str(record), "--size", "big"]) == 2
    assert main(["screenshot", str(record), "-o", str(build.folder / "no" / "a.svg")]) == 2
    assert "a.svg: cannot write" in capsys.readouterr().err

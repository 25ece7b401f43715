"""Plug-ins of other packages: the examples of the guide installed and used, and broken ones."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from quizlog_tui import plugins
from quizlog_tui.cli import main
from quizlog_tui.guides import guide
from quizlog_tui.replay.script.input_type import input_type
from quizlog_tui.replay.script.source import Source
from quizlog_tui.tui.app import QuizlogApp
from quizlog_tui.tui.widgets.editors import registry
from tests.episodes.support import episode
from tests.support.build import Build
from tests.support.documents import blocks
from tests.support.long_runs import few
from tests.support.screens import press, settled, shows

SLIDER = "print(input('How sure? '))  #slider\n"
GROUPS = (plugins.INPUT_KINDS, plugins.VOTERS, plugins.EXPORTERS)
Install = Callable[..., None]


def _forget() -> None:
    plugins._entry_points.cache_clear()
    registry._plugin_editor.cache_clear()
    registry._REFUSED.clear()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package, as an installer leaves it: entry points by group, and modules."""
    site, before = tmp_path / "site", set(sys.modules)

    def installed(
        groups: dict[str, dict[str, str]], modules: dict[str, str], name: str = "plugins-of-ann"
    ) -> None:
        info = site / f"{name.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        info.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\n")
        lines = [
            f"[{group}]\n{each} = {what}"
            for group in groups
            for each, what in groups[group].items()
        ]
        info.joinpath("entry_points.txt").write_text("\n".join(lines))
        for file, text in modules.items():
            site.joinpath(file).write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(site)
        _forget()

    yield installed
    _forget()
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(site) in str(
            sys.modules[name].__file__
        ):
            del sys.modules[name]


@pytest.fixture
def examples(install: Install) -> None:
    """Installs each example as a package of its own."""
    shown = blocks(guide("extending"))
    project = next(tomllib.loads(each.text) for each in shown if each.language == "text")
    modules = {each.file: each.text for each in shown if each.file}
    for group, points in project["project"]["entry-points"].items():
        [target] = points.values()
        module = target.partition(":")[0]
        file = f"{module}.py"
        install({group: points}, {file: modules.pop(file)}, module.replace("_", "-"))
    assert not modules


@pytest.fixture
def broken(install: Install) -> None:
    groups = {
        "quizlog.input_kinds": {"slider": "plugin_of_ann:Slider", "loud": "plugin_of_ann:Loud"},
        "quizlog.voters": {"dice": "plugin_of_ann:answer"},
        "quizlog.exporters": {"pairs": "plugin_of_ann:pairs", "odd": "plugin_of_bob:odd"},
    }
    install(
        groups,
        {
            "plugin_of_ann.py": "raise RuntimeError('no disk')\n",
            "plugin_of_bob.py": "def odd(one):\n    yield {'x': 1 / 0}\n",
        },
    )


def test_each_example_is_short() -> None:
    for block in blocks(guide("extending")):
        code = [line for line in block.text.splitlines() if line.strip()]
        assert block.language != "python" or len(code) <= 25


@pytest.mark.usefixtures("examples")
def test_the_examples_are_three_packages() -> None:
    found = [each for group in GROUPS for each in plugins._entry_points(group).values()]
    names = [each.dist.name for each in found if each.dist is not None]
    assert names == ["quizlog-slider", "quizlog-dice", "quizlog-pairs"]


@pytest.mark.usefixtures("examples")
async def test_a_tag_brings_the_input_of_a_plugin(build: Build) -> None:
    path = build.record(SLIDER)
    async with QuizlogApp(path).run_test() as pilot:
        await settled(pilot)
        await shows(pilot, "█ 50")
        await press(pilot, "right", "right", "left", "right", "enter")
    assert yaml.safe_load(path.read_text())["inputs"] == ["52"]


@pytest.mark.usefixtures("broken")
async def test_a_broken_input_is_told_in_a_line_and_the_plain_one_is_there(build: Build) -> None:
    path = build.record(SLIDER)
    async with QuizlogApp(path).run_test(size=(160, 30), notifications=True) as pilot:
        await settled(pilot)
        await shows(pilot, "'slider' of quizlog.input_kinds failed: RuntimeError: no disk")
        await shows(pilot, "(mend or uninstall plugins-of-ann)")
        await press(pilot, *"52", "enter")
        assert pilot.app.faults == []  # type: ignore[attr-defined]
    assert yaml.safe_load(path.read_text())["inputs"] == ["52"]


FAULTY = """
from textual.widgets import Static

from quizlog_tui.tui.widgets.editors.editor import Editor, send

CSS = Editor.DEFAULT_CSS


class Slider(Editor, can_focus=True):
    BINDINGS = [("right", "move", "More"), ("enter", "send", "Send")]
    DEFAULT_CSS = {css}

    def compose(self):
        {compose}
        yield Static("a slider")

    def on_mount(self):
        {mount}

    async def fit(self, kind, text):
        {fit}

    async def fill(self, answer):
        {fill}

    @property
    def draft(self):
        {draft}
        return ""

    def begin(self):
        {begin}
        self.focus()

    def on_focus(self):
        {focus}

    def action_move(self):
        {move}

    def action_send(self):
        send(self, {answer})

    async def work(self):
        1 / 0

    def render_lines(self, crop):
        {render}
        return super().render_lines(crop)
"""
SOUND = dict.fromkeys(
    ("compose", "mount", "fit", "fill", "draft", "begin", "focus", "move", "render"), "pass"
) | {"answer": "'50'", "css": "CSS"}
LATE = "1 / 0 if self.has_focus else None"
"""Fails only once the user may type."""
KEYS = {"number as answer": ["enter"]}
"""What is pressed besides, where only that fails."""
FAULTS = {
    **{place: {place: "1 / 0"} for place in SOUND if place not in ("answer", "css")},
    "late render": {"render": LATE},
    "number as draft": {"draft": "return 7"},
    "number as answer": {"answer": "7"},
    "broken style": {"css": "'Slider { width: }'"},
    "worker": {"move": "self.run_worker(self.work())"},
    "timer": {"mount": "self.set_timer(0.01, lambda: self.nothing)"},
}


@pytest.mark.parametrize("fault", few(FAULTS, "compose", "late render"))
async def test_an_input_that_fails_anywhere_gives_way_to_the_plain_line(
    fault: str, build: Build, install: Install
) -> None:
    module = FAULTY.format(**SOUND | FAULTS[fault])
    install(
        {"quizlog.input_kinds": {"slider": "slider_of_ann:Slider"}}, {"slider_of_ann.py": module}
    )
    path = build.record(f"input('Name? ')\n{SLIDER}input('End? ')  #slider\n", "Ann")
    app = QuizlogApp(path)
    async with app.run_test(size=(160, 30), notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("right", *KEYS.get(fault, []))
        await pilot.press("escape", "h", "l", "i", "escape", "M")  # keys end the message
        await shows(pilot, "the plug-in 'slider' of quizlog.input_kinds failed: ")
        await shows(pilot, "(mend or uninstall plugins-of-ann)")
        await pilot.press("q")
        await settled(pilot)
        await press(pilot, "escape", "i", "home", "shift+end", "delete")
        await shows(pilot, "type the answer, Enter sends it")
        await press(pilot, *"52", "enter")
        await press(pilot, *"53", "enter")
        assert app.faults == [] and len(app._notifications) <= 1
    assert yaml.safe_load(path.read_text())["inputs"] == ["Ann", "52", "53"]


def test_without_its_plugin_a_tag_is_a_comment() -> None:
    source = Source(Path("quiz.py"), SLIDER.encode())
    assert input_type("How sure? ", 1, source).name == "text"


@pytest.mark.usefixtures("examples")
def test_an_own_tag_goes_before_that_of_a_plugin() -> None:
    source = Source(Path("quiz.py"), b"input('? ')  #slider #textarea\n")
    assert input_type("? ", 1, source).name == "textarea"
    assert input_type("? ", 1, Source(Path("quiz.py"), SLIDER.encode())).name == "slider"


def _export(build: Build, form: str) -> int:
    build.folder.joinpath("e.jsonl").write_text(
        json.dumps(episode(("4", "end"), [("4", "end")])) + "\n"
    )
    return main(["episodes", "export", str(build.folder / "e.jsonl"), "--to", form, "--all"])


@pytest.mark.usefixtures("examples")
def test_episodes_are_exported_by_a_plugin(
    build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _export(build, "pairs") == 0
    [row] = map(json.loads, capsys.readouterr().out.splitlines())
    assert row.keys() == {"question", "answer"}


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("pairs", "the plug-in 'pairs' of quizlog.exporters failed: RuntimeError: no disk"),
        (
            "odd",
            "the plug-in 'odd' of quizlog.exporters failed: ZeroDivisionError: division by zero",
        ),
    ],
)
def test_a_broken_exporter_is_told_in_a_line(
    form: str, said: str, build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _export(build, form) == 2
    assert capsys.readouterr().err == f"quizlog: {said} (mend or uninstall plugins-of-ann)\n"


@pytest.mark.usefixtures("broken")
def test_what_uses_no_plugin_goes_on(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    assert _export(build, "messages") == 0
    assert _export(build, "nowhere") == 2
    assert "nowhere" in capsys.readouterr().err


async def _ask_dice(folder: Path) -> tuple[str, str | None]:
    pytest.importorskip("httpx")
    from quizlog_tui.solver.decisions.decision import ModelQuestion
    from quizlog_tui.solver.models.models import read_models
    from quizlog_tui.solver.models.panel import live_panel
    from quizlog_tui.solver.models.transport import NoReplyError
    from quizlog_tui.solver.prompts import solve_prompt
    from tests.solver.panels import run_here

    path = folder / "models.yaml"
    path.write_text(
        next(each.text for each in blocks(guide("extending")) if each.language == "yaml")
    )
    async with live_panel(read_models(path), run_here) as panel:
        [client] = panel.clients
        try:
            return (
                await client._transport.complete(solve_prompt(ModelQuestion("A die? "), (), ()))
            ).text, None
        except NoReplyError as error:
            return "", error.message


@pytest.mark.usefixtures("examples")
async def test_a_plugin_votes(tmp_path: Path) -> None:
    text, error = await _ask_dice(tmp_path)
    assert error is None and 1 <= json.loads(text)["answer"] <= 6


@pytest.mark.usefixtures("broken")
async def test_a_broken_voter_gives_no_reply_and_says_why(tmp_path: Path) -> None:
    _, error = await _ask_dice(tmp_path)
    assert error is not None and "'dice' of quizlog.voters failed: RuntimeError: no disk" in error


async def test_a_voter_that_is_not_installed_gives_no_reply_and_says_so(tmp_path: Path) -> None:
    _, error = await _ask_dice(tmp_path)
    assert error is not None and error.startswith(
        "no plug-in 'dice' of quizlog.voters is installed"
    )

"""Themes: all shipped ones load, bad ones are told with their mend."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color

from quizlog_tui.errors import QuizlogError
from quizlog_tui.files.paths import shipped
from quizlog_tui.tui.theming import contrast, load_theme, load_themes

FILES = sorted(shipped("themes").glob("*.yaml"))


def test_there_are_at_least_eight_and_all_load() -> None:
    themes, problems = load_themes(FILES)
    assert not problems and len(themes) >= 8
    assert {theme.dark for theme in themes} == {True, False}
    assert sum(theme.ansi for theme in themes) == 2
    assert [theme.name for theme in themes] == [path.stem for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_colour_can_be_read_on_every_ground(path: Path) -> None:
    theme = load_theme(path)
    if theme.ansi:
        pytest.skip("the terminal's own colours are not ours to measure")
    least = 7.0 if "contrast" in theme.name else 4.5
    for ground in (theme.background, theme.surface):
        for name in ("foreground", "primary", "accent", "error", "success", "warning", "secondary"):
            assert contrast(Color.parse(getattr(theme, name)), Color.parse(str(ground))) >= least, (
                name
            )


@pytest.mark.parametrize("kind", ["dark", "light"])
def test_good_and_bad_differ_for_the_colour_blind(kind: str) -> None:
    theme = load_theme(shipped("themes") / f"quizlog-colour-blind-{kind}.yaml")
    good, bad = Color.parse(str(theme.success)), Color.parse(str(theme.error))
    assert good.b > bad.b + 60 and bad.r > good.r + 60  # blue against orange


BAD = {
    "name: x": "primary: is missing (add",
    'primary: "#fff"': "name: is missing",
    'name: "x"\nprimary: "#fff"\nsucess: "#fff"': "did you mean success?",
    'name: "x"\nprimary: "zzz"': "primary: 'zzz' is not a colour",
    'name: "x"\nprimary: 12': "must be a quoted colour",
    'name: "x"\nprimary: "#fff"\ndark: 1': "must be true or false",
    'name: "x"\nprimary: "#fff"\nvariables: 3': "must be a mapping",
    'name: "x"\nprimary: "#fff"\nvariables:\n  footer-key-foreground: "zzz"': "variables.footer-key-foreground: 'zzz'",
    'name: "x"\nprimary: "#fff"\nluminosity_spread: hello': "must be a number from 0 to 1",
    'name: "x"\nprimary: "#fff"\ntext_alpha: .nan': "must be a number from 0 to 1",
    "- 1": "is not a theme",
    "a: [": "",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_theme_is_told(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(QuizlogError) as caught:
        load_theme(path)
    assert BAD[text] in str(caught.value) and str(path) in str(caught.value)

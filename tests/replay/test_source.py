"""What a script's text says, and which kind of answer a prompt wants."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.replay.script.input_type import choices_in, input_type, parsed_kind
from quizlog_tui.replay.script.scores import Score
from quizlog_tui.replay.script.source import Source, code_lines
from tests.support.build import Build


def source(text: str) -> Source:
    return Source(Path("/q.py"), text.encode())


def kind(prompt: str, code: str = "x = input(p)", before: str = "") -> str:
    return input_type(prompt, 1, source(code), before).name


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Is the matrix positive semi-definite?", "yesno"),
        ("Continue? [Y/n] ", "yesno"),
        ("Type yes or no: ", "yesno"),
        ("Do you agree?", "yesno"),
        ("We are done. Are you sure? ", "yesno"),
        ("Is it even or odd?", "text"),
        ("How many legs has a spider?", "integer"),
        ("Enter an integer: ", "integer"),
        ("What is 3 + 4? ", "number"),
        ("7 * 8 = ", "number"),
        ("What is the determinant of A? ", "number"),
        ("What is two minus seven, as a number?", "number"),
        ("Give the number of rooms: ", "number"),
        ("Which version number is the oldest? ", "text"),
        ("Which is the older version (3.9/3.10)?", "text"),
        ("Your phone number: ", "text"),
        ("Which order number stands on the slip? ", "text"),
        ("The day after 2024-01-05, as a date: ", "text"),
        ("Write the sum of 9 and 6 in hexadecimal: ", "text"),
        ("How many digits has the phone number?", "integer"),
        ("Enter the matrix A: ", "matrix"),
        ("Rows, as [[1,0],[0,1]]: ", "matrix"),
        ("Give your answer as JSON: ", "json"),
        ("Colour (red/green/blue)? ", "choice"),
        ("Choose a, b or c: ", "choice"),
        ("Pick one:\na) first\nb) second\n> ", "choice"),
        ("Your name? ", "text"),
        ("", "text"),
    ],
)
def test_a_prompt_tells_what_it_wants(prompt: str, expected: str) -> None:
    assert kind(prompt) == expected


def test_an_empty_prompt_is_judged_by_what_was_printed_before() -> None:
    assert kind("", before="Is it prime?") == "yesno"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = int(input(p))", "integer"),
        ("x = float( input(p) )", "number"),
        ("x = json.loads(input(p))", "json"),
        ("x = input(p)  #textarea", "textarea"),
        ("x = input(p)  #radio", "radio"),
        ("x = input(p)  # radio or television", "text"),
        ("x = input(p)  #checkbox", "checkbox"),
        ("x = int(input(p))  #matrix", "matrix"),
        ("x = input(p)  #matrixlist", "matrix"),
        ("x = input(p)  #rows=4", "textarea"),
        ("x = input('#matrix')", "text"),
        ("x = input(p)  #matrixes", "text"),
    ],
)
def test_tags_and_parsing_come_before_the_prompt(code: str, expected: str) -> None:
    assert kind("", code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x = int(input('N (a)? ').strip())  # how many", "integer"),
        ("total = sum([int(input('a) ')), int(input(f'b{1}')),", "integer"),
        ("elif float(input('\\'\"(')) > 3:", "number"),
        ("x = float(input('Price? ') + '1')", None),
        ("x = int(input('PIN? ')[0])", None),
        ("x = int(input('hex? '), 16)", None),
        ("x = int(input('hex? '", None),
        ("x = int(input('hex? ')", None),
        ("x = int('1' + input('? '))", None),
        ("x = int(input('? ') or 7)", None),
        ("x = int(input('? ').replace(',', ''))", None),
        ("x = json.loads(input('? '), parse_float=str)", None),
        ("x = my.int(input('? '))", None),
        ("x = point(input('? '))", None),
        ("x = int(my.input('? '))", None),
        ("x = int(input('a? ')), input('b? ')", None),
        ("x = int(input('a? ')), float(input('b? '))", None),
        ("x = input('V? ')  # int(input())", None),
        ("x = input('what does int(input()) read? ')", None),
        ("x = int(input), 7", None),
    ],
)
def test_a_line_reads_a_number_only_from_all_that_input_returns(
    code: str, expected: str | None
) -> None:
    assert parsed_kind(code) == expected


def test_several_tags_apply() -> None:
    found = input_type("Pick (a/b)", 1, source("input(p)  #radio #rows = 3"))
    assert (found.name, found.choices, found.rows) == ("radio", ("a", "b"), 3)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("(a/b/c)", ("a", "b", "c")),
        ("[red|green]", ("red", "green")),
        ("choose left or right", ("left", "right")),
        ("1) one\n2) two", ("1", "2")),
        ("(3/4)", ()),
        ("(see page 3)", ()),
        ("nothing", ()),
    ],
)
def test_options_are_found(text: str, options: tuple[str, ...]) -> None:
    assert choices_in(text) == options


@given(st.text(max_size=200), st.text(max_size=60))
def test_no_prompt_and_no_script_breaks_it(prompt: str, code: str) -> None:
    found = input_type(prompt, 1, source(code.encode("utf-8", "replace").decode()))
    assert found.name


@given(st.binary(max_size=80))
def test_any_bytes_are_a_source(data: bytes) -> None:
    broken = Source(Path("/q.py"), data)
    found = broken.score(1, 3)
    assert found is None or found[0].problem or 0 <= (found[0].value or 0) <= 1
    assert broken.code_hash.startswith("sha256:")


def test_only_modules_in_the_folder_are_other_files_of_a_script(tmp_path: Path) -> None:
    for name in ("lib.py", ".env", ".hidden.py", "record.yaml"):
        (tmp_path / name).write_text("secret = 1\n")
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    (tmp_path / "credentials.py").write_text("secret = 1\n")
    (tmp_path / ".folder").mkdir()
    (tmp_path / ".folder" / "in_it.py").write_text("secret = 1\n")
    (tmp_path / "folder").symlink_to(".folder")
    links = {"a.py": ".env", "b.py": ".hidden.py", "c.py": "record.yaml", "d.py": "credentials.py"}
    for link, target in links.items():
        (tmp_path / link).symlink_to(target)
    script = Source(tmp_path / "quiz.py", b"")
    names = ("lib.py", ".env", ".hidden.py", "record.yaml", "link.py", "../x.py", "no.py")
    names = (*names, *links, "folder/in_it.py")
    assert [name for name in names if script.file(name)] == ["lib.py"]
    assert script.file_at("lib.py:1") is not None
    assert script.at(".env:1", 3) == (script, 3)


def test_a_score_is_looked_up_however_many_lines_a_script_claims() -> None:
    source = Source(Path("quiz.py"), b"x = 1\nraise Exception('a')  #score = 0.5\n")
    assert source.score(2, 2**53) == source.score(2, 1) == (Score(0.5), 2)
    assert source.score(1, 2**53) is source.score(3, 2**53) is None


@pytest.mark.parametrize("name", ["punycode", "PunyCode", "idna", "undefined", "hex", "rot13"])
def test_an_encoding_that_is_not_for_texts_is_not_used(name: str, build: Build) -> None:
    text = f"# coding: {name}\n# {'x' * 300_000}-\nprint(1)\n"
    assert Source(build.script(""), text.encode()).lines[2] == "print(1)"


SEPARATORS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What `str.splitlines` takes for the end of a line and Python does not."""


ENDS = ("\n", "\r", "\r\n")


@given(st.lists(st.sampled_from(["text", "'", *ENDS, *SEPARATORS])))
def test_lines_are_counted_as_python_counts_them(parts: list[str]) -> None:
    text = "#" + "".join(f"{part}#" if part in ENDS else part for part in parts) + "\n1 / 0"
    assert code_lines(text)[ast.parse(text.encode()).body[0].lineno - 1] == "1 / 0"


@pytest.mark.parametrize("mark", SEPARATORS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_separator_in_a_text_shifts_no_line_comment_or_score(mark: str, end: str) -> None:
    lines = [
        f"t = 'a{mark}b'  # one{mark}two",
        "x = input(t)  #radio",
        "raise Exception  #score = .5",
    ]
    source = Source(Path("quiz.py"), end.join(lines).encode())
    assert source.lines == lines
    assert source.tags(2) == ["radio"]
    assert source.score(3, 3) == (Score(0.5), 3)


def test_a_form_feed_between_functions_is_part_of_its_line() -> None:
    source = Source(Path("quiz.py"), b"import os\n\x0c\ndef ask():\n    input()  #matrix\n")
    assert (source.line(3), source.tags(4)) == ("def ask():", ["matrix"])


def test_a_mark_of_the_encoding_is_no_part_of_the_first_line() -> None:
    assert Source(Path("quiz.py"), b"\xef\xbb\xbfprint(1)\n").lines == ["print(1)"]


def test_an_encoding_is_declared_in_the_first_two_lines_only() -> None:
    late = b"a = 1\rb = 2\r# coding: latin-1\rprint('\xc3\xa9')"
    assert Source(Path("quiz.py"), late).lines[3] == "print('\u00e9')"
    early = b"# coding: latin-1\rprint('\xe9')"
    assert Source(Path("quiz.py"), early).lines[1] == "print('\u00e9')"

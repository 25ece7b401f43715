"""What names a machine or looks like a secret: found, listed by its start, and taken out."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest

from quizlog_tui.record.feedback import Feedback
from quizlog_tui.record.private_text import Privacy, is_private_file, listed, privacy_of

KEY = "kjh34kjh5kj3h4"


@pytest.fixture
def privacy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Privacy:
    monkeypatch.setattr(socket, "gethostname", lambda: "ada-laptop.example")
    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.setenv("HOME", "/srv/people/ada")
    (tmp_path / ".env.local").write_text(f"# A=commented-out\nPLAIN='{KEY}'\nSHORT=1234567\n")
    return privacy_of(tmp_path, {"MY_API_KEY": "from-the-environment", "LANG": "de_DE.UTF-8"})


CASES = {
    "its folder": ("{folder}/quiz.py:3: careful", "[folder]/quiz.py:3: careful"),
    "the home": ("/srv/people/ada/x and /srv/people/adam", "~/x and /srv/people/adam"),
    "another's home": ("File \"/home/eve/a b.py\", 'C:\\Users\\eve\\x'", "File \"~/a b.py\", '~\\x'"),
    "system folders": ("/usr/bin/python /etc/passwd /tmp", "/usr/bin/python /etc/passwd /tmp"),
    "this machine": ("on ada-laptop.example, ada-laptop:", "on [machine], [machine]:"),
    "of an environment file": (f"it is {KEY}!", "it is [secret]!"),
    "of the environment": ("from-the-environment", "[secret]"),
    "no secret": ("1234567 de_DE.UTF-8 commented-out", "1234567 de_DE.UTF-8 commented-out"),
    "a key": ("sk-abcdefghij0123456789.", "[secret]."),
    "a token": ("ghp_abcdefghij0123456789 AKIAABCDEFGHIJKLMNOP", "[secret] [secret]"),
    "no key": ("task-abcdefghij0123456789", "task-abcdefghij0123456789"),
    "a JWT": ("Bearer eyJhbGciOiJIUzI1.eyJzdWIiOjF9.c2lnbmF0dXJl", "Bearer [secret]"),
    "a password in a URL": ("postgresql://jo:hush@db/x", "postgresql://[secret]@db/x"),
    "a line of an environment file": ("A\nOTHER_TOKEN = 'abcdefgh'\nB", "A\n[secret]'\nB"),
    "a line of a script": ("API_KEY = os.environ['API_KEY']", "API_KEY = os.environ['API_KEY']"),
    "a private key": (
        "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n", "[secret]\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_private_is_found_and_taken_out(
    case: str, privacy: Privacy, tmp_path: Path
) -> None:
    text, clean = CASES[case]
    text = text.replace("{folder}", str(tmp_path))
    assert privacy.clean(text) == clean
    found = privacy.find(text, "here")
    assert bool(found) is (text != clean)
    assert not any(one.text in text and len(one.text) > 5 for one in found if one.kind == "secret")
    assert privacy.find(clean, "here") == []


def test_values_of_any_shape_are_cleaned_and_an_author_is_not_the_login(privacy: Privacy) -> None:
    said = Feedback(author="ada", text=f"see {KEY}", extras={"author": "ada", "by": ["ada", KEY]})
    assert privacy.clean_value([said, 3, None]) == [
        Feedback(text="see [secret]", extras={"by": ["ada", "[secret]"]}), 3, None,
    ]  # fmt: skip
    assert privacy.clean_value(Feedback(author="eve")) == Feedback(author="eve")
    found = privacy.find_in(said, "a remark")
    assert sorted(one.kind for one in found) == ["login", "login", "secret", "secret"]
    assert listed(found) == [
        "your login name, ada: a remark", f"what looks like a secret, {KEY[:4]}…: a remark",
    ]  # fmt: skip


def test_a_giver_of_answers_is_not_the_login(privacy: Privacy) -> None:
    ada, eve = ({"at": 0, "by": "person", "name": name} for name in ("ada", "eve"))
    record = {"who": [ada, eve], "name": "ada"}
    bare = {"at": 0, "by": "person"}
    assert privacy.clean_value(record) == {"who": [bare, eve], "name": "ada"}
    assert listed(privacy.find_in(record, "a record")) == ["your login name, ada: a record"]


def test_a_machine_named_by_a_plain_word_is_let_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "main")
    assert privacy_of(tmp_path, {}).clean("branch main") == "branch main"


@pytest.mark.parametrize(
    ("name", "private"),
    [
        (".env", True), (".env.local", True), ("id_ed25519", True), ("server.pem", True),
        ("credentials.json", True), (".netrc", True),
        ("env.py", False), ("data.csv", False), ("keys.py", False), ("quiz.py", False),
    ],
)  # fmt: skip
def test_files_that_usually_hold_keys(name: str, private: bool) -> None:
    assert is_private_file(name) is private


@pytest.mark.parametrize("unit", ["x", "KEY", "KEY=(", "eyJ-", "://a:b", "/home/", "-----BEGIN "])
def test_long_texts_take_a_time_that_grows_with_their_length(unit: str, privacy: Privacy) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        started = time.process_time()
        privacy.find(text, "here")
        return time.process_time() - started

    assert seconds(400_000) < 12 * seconds(100_000)

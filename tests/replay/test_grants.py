"""Grants are stored by place, as a file that a person can read and edit."""

from __future__ import annotations

import pytest

from quizlog_tui.errors import ConfigError
from quizlog_tui.replay.script.granted import Grant, grant_at, grants_path, store_grant

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

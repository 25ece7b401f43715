"""The small rules: addresses, settling, budgets, names, replies, refusals, settings, turns."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.errors import ConfigError
from quizlog_tui.sandbox.result import SandboxLimits
from quizlog_tui.solver.decision import ModelQuestion, Refusal
from quizlog_tui.solver.redaction import Redaction
from quizlog_tui.webquiz.net.address import (
    Allowed,
    BadAddressError,
    allowed_for,
    free_name,
    is_special,
    name_of,
    safe_name,
    site_of,
)
from quizlog_tui.webquiz.net.submit import payload_of, read_reply
from quizlog_tui.webquiz.page.visit import _CAP, _FrameState, settled
from quizlog_tui.webquiz.task.orchestrate import _as_asked, is_refused, tells
from quizlog_tui.webquiz.task.settings import TaskSettings, read_settings
from quizlog_tui.webquiz.task.task import TaskRequest, request_fault
from quizlog_tui.webquiz.task.task_context import Budget
from quizlog_tui.webquiz.task.task_runner import TaskRunner
from quizlog_tui.webquiz.task.tasks import url_fault
from quizlog_tui.webquiz.task.workspace import cleanup_task_workspace, create_workspace, sweep
from tests.solver.panels import panel


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
     "::1", "fe80::1", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "fe80::1%eth0",
     "64:ff9b::7f00:1", "64:ff9b:1::1", "fec0::1", "::127.0.0.1", "::ffff:0:127.0.0.1", "2001::1", "2002:808:808::",
     "192.0.0.192", "192.88.99.1", "ff02::1", "255.255.255.255"],
)  # fmt: skip
def test_special_addresses_are_refused_unless_their_host_is_named(address: str) -> None:
    assert is_special(address)
    assert not Allowed(frozenset()).address("quiz.site", address)
    assert Allowed(frozenset(), frozenset({"quiz.site"})).address("quiz.site", address)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_allowed(address: str) -> None:
    assert not is_special(address)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.b", "file:///etc/passwd", "javascript:1", "", "http://", "http://u:p@a.b/",
        "http://a.b:99999/", "http://[::1", "http://a.b/\ud800", "http://2130706433/",
        "http://0x7f.1/", "http://0x/", "http://127.1/", "http://0177.0.0.1/", "http://0/",
        "http://127.0.0.1.1/", "http://①②⑦.1/", "http://%31%32%37.0.0.1/",
    ],
)  # fmt: skip
def test_what_is_no_url_to_visit(url: str) -> None:
    with pytest.raises(BadAddressError):
        site_of(url)


def test_sites_differ_by_port_and_host_and_agree_whatever_the_case() -> None:
    allowed = allowed_for("https://Quiz.Site/x")
    assert allowed.site(site_of("https://quiz.site:443/y"))
    assert not allowed.site(site_of("http://quiz.site/"))
    assert not allowed.site(site_of("https://a.quiz.site/"))


@pytest.mark.parametrize(
    ("first", "other", "same"),
    [
        ("http://quiz.site/", "https://quiz.site/", True),
        ("http://quiz.site:80/", "https://QUIZ.site:443/x", True),
        ("https://quiz.site/", "http://quiz.site/", False),
        ("http://quiz.site:8080/", "https://quiz.site/", False),
        ("http://quiz.site/", "https://quiz.site:8443/", False),
        ("http://quiz.site/", "https://a.quiz.site/", False),
    ],
)
def test_a_site_may_be_moved_to_https_and_nowhere_else(first: str, other: str, same: bool) -> None:
    allowed = allowed_for(first)
    assert (allowed.site(site_of(other)), allowed.is_home(other)) == (same, same)


def moment(**other: object) -> _FrameState:
    usual = {"length": 50, "quiet": 500.0, "ready": True, "pictures": 0, "timers": 0}
    usual |= {"asks": True, "loading": False}
    return _FrameState(**(usual | other))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("frame", "pending", "done"),
    [
        (moment(), 0, True),
        (moment(quiet=300.0), 0, False),
        (moment(), 1, False),
        (moment(quiet=1600.0), 1, True),
        (moment(timers=1), 0, False),
        (moment(asks=False), 0, False),
        (moment(asks=False, quiet=700.0), 0, True),
        (moment(length=0, quiet=5000.0), 0, False),
        (moment(length=0, pictures=1, asks=False, quiet=700.0), 0, True),
        (moment(loading=True, quiet=5000.0), 0, False),
        (moment(ready=False), 0, False),
        (moment(asks=False, quiet=4100.0), 1, True),
        (moment(inert=True, asks=False, quiet=0.0), 0, True),
        (moment(inert=True, quiet=0.0), 1, False),
    ],
)
def test_when_a_page_has_settled(frame: _FrameState, pending: int, done: bool) -> None:
    assert bool(settled([frame], pending, 1.0)) is done
    assert settled([frame], pending, _CAP)


@given(st.integers(0, 2), st.floats(0, 400))
def test_no_attempt_outlives_the_page(attempt: int, age: float) -> None:
    budget = Budget()
    assert 0 <= budget.thought(attempt, age) <= max(0, budget.stop - age)
    assert not budget.open(3, age)
    if age >= budget.stop:
        assert not budget.open(attempt, age)


@pytest.mark.parametrize(
    ("attempt", "age", "seconds"),
    [(0, 0, 75), (0, 69, 6), (0, 71, 54), (1, 80, 45), (0, 158, 5), (0, 170, 2), (2, 200, 0)],
)
def test_thought_lasts_until_the_next_time_that_is_ahead(
    attempt: int, age: float, seconds: float
) -> None:
    assert Budget().thought(attempt, age) == seconds


@given(st.text(max_size=300))
def test_safe_names_are_plain(wish: str) -> None:
    name = safe_name(wish)
    assert name
    assert "/" not in name
    assert not name.startswith(".")
    assert len(name) <= 80


def test_free_names_never_overwrite(tmp_path: Path) -> None:
    names = []
    for _ in range(3):
        name = free_name(tmp_path, "../a.csv")
        (tmp_path / name).write_text("")
        names.append(name)
    assert names == ["a.csv", "a-2.csv", "a-3.csv"]
    assert name_of("https://a.b/c/d%20e.zip?x=1") == "d_e.zip"


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (200, {"correct": True}, "graded"),
        (200, {"correct": False, "reason": None, "url": None}, "graded"),
        (200, {"correct": "true"}, "graded"),
        (200, {"correct": " FALSE"}, "graded"),
        (200, {"correct": 1}, "graded"),
        (200, {"correct": 0}, "graded"),
        (200, {"correct": False, "delay": float("nan")}, "graded"),
        (200, {"correct": False, "delay": 10**400}, "graded"),
        (200, {"correct": "yes"}, "rejected"),
        (200, {"correct": 2}, "rejected"),
        (200, {"correct": None}, "rejected"),
        (200, {"status": "received"}, "rejected"),
        (200, [True], "no_reply"),
        (200, "<html>", "no_reply"),
        (500, {"error": "x"}, "no_reply"),
        (503, "", "no_reply"),
        (429, "", "no_reply"),
        (413, "", "unfit"),
        (400, {"error": "Missing field answer"}, "unfit"),
        (404, "", "rejected"),
        (302, "", "rejected"),
        (403, "", "rejected"),
    ],
)
def test_what_a_reply_means(status: int, body: object, outcome: str) -> None:
    data = body if isinstance(body, str) else json.dumps(body)
    reply = read_reply(status, data.encode())
    assert reply.outcome == outcome
    assert reply.correct is (body in ({"correct": True}, {"correct": "true"}))
    assert reply.delay is None


@given(st.binary(max_size=200), st.integers(100, 599))
def test_any_reply_is_read(body: bytes, status: int) -> None:
    assert not read_reply(status, body).correct


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=())),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_an_answer_is_sent_as_it_is(answer: object) -> None:
    sent = json.loads(payload_of("a@b", "s", "http://u", answer, {"answer": 0, "quiz": 1}))
    assert sent == {"email": "a@b", "secret": "s", "url": "http://u", "answer": answer, "quiz": 1}


def test_refused_classes_are_not_sent_again() -> None:
    question = ModelQuestion("RMSE, 2 decimals.", input_type="number")
    refused = [Refusal(1.77, "no")]
    assert is_refused("1.77", refused, question)
    assert is_refused(1.7701, refused, question)
    assert not is_refused(1.89, refused, question)
    for failure in ("Error: Max iterations reached", None, "", "Unable to solve", float("nan")):
        assert is_refused(failure, [], question)


def test_a_boolean_in_quotes_is_sent_as_one_where_one_is_asked_for() -> None:
    assert _as_asked("False", ModelQuestion("Answer with a JSON boolean")) is False
    assert _as_asked("false", ModelQuestion("The third word?")) == "false"


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("RMSE should be ~1.89 (n-1)", True),
        ("Expected: 4", True),
        ("q07-api: not accepted", False),
        ("wrong", False),
        ("", False),
    ],
)
def test_which_reasons_tell_something(reason: str, told: bool) -> None:
    assert tells(reason) is told


@pytest.mark.parametrize(
    "data",
    [
        [], "x", {}, {"email": "a", "secret": "b"}, {"email": 1, "secret": "b", "url": "c"},
        {"email": "a", "secret": " ", "url": "c"}, {"email": "\ud800", "secret": "b", "url": "c"},
        {"email": "a", "secret": "b", "url": "c\udfff"},
    ],
)  # fmt: skip
def test_faults_of_a_trigger(data: object) -> None:
    assert request_fault(data)


def test_a_good_trigger_may_hold_more_and_hides_its_secret() -> None:
    assert request_fault({"email": "a", "secret": "b", "url": "c", "more": 1}) is None
    assert "hush" not in repr(TaskRequest("a", "hush", "c"))


def test_settings_by_the_names_of_the_plan(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "AIPROXY_TOKEN=tok\nUSER_EMAIL=a@b.c\nUSER_SECRET='hush-hush'\nTASK_RETENTION_HOURS=1.5\n"
        "MAX_CONCURRENT_TASKS=7\nDEBUG_KEEP_WORKSPACES=true\nPRIMARY_MODEL=ada\nTASK_BASEDIR=/x\nUNKNOWN=1\n"
    )
    found = read_settings(tmp_path / ".env", {"MAX_CONCURRENT_TASKS": "9"})
    assert (found.user_email, found.user_secret, found.aiproxy_token) == (
        "a@b.c",
        "hush-hush",
        "tok",
    )
    assert (found.task_retention_hours, found.max_concurrent_tasks) == (1.5, 9)
    assert found.debug_keep_workspaces
    assert found.task_basedir == Path("/x")
    assert "hush" not in repr(found)
    assert "tok" not in repr(found)


@pytest.mark.parametrize(
    "line",
    [
        "MAX_CONCURRENT_TASKS=many", "TASK_RETENTION_HOURS=0", "DEBUG_KEEP_WORKSPACES=perhaps",
        "USER_SECRET=short", "TASK_RETENTION_HOURS=inf",
    ],
)  # fmt: skip
def test_bad_settings_are_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "e").write_text(line)
    with pytest.raises(ConfigError, match=line.split("=")[0]):
        read_settings(tmp_path / "e", {})


def test_the_current_folder_gives_who_you_are_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    counted = set()
    for name in (each.name.upper() for each in fields(TaskSettings)):
        (tmp_path / ".env").write_text(f"{name}=long-enough\n")
        try:
            counted.add(name if read_settings(None, {}) != TaskSettings() else "")
        except ConfigError as error:
            assert f"gives secrets only, and not {name} (" in str(error)
            assert "quizlog/.env, or export" in str(error)
    assert counted == {"USER_EMAIL", "USER_SECRET", "AIPROXY_TOKEN"}
    (tmp_path / ".env").write_text("TASK_BASEDIR=.\nUSER_SECRET=hush-hush\nTASK_DATABASE_URL=x\n")
    with pytest.raises(ConfigError, match="and not TASK_BASEDIR, TASK_DATABASE_URL "):
        read_settings(None, {})


def test_a_file_of_settings_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "e").write_bytes("USER_EMAIL=jürgen@quiz.test".encode("latin-1"))
    with pytest.raises(ConfigError, match="not UTF-8") as caught:
        read_settings(tmp_path / "e", {})
    assert caught.value.where == str(tmp_path / "e")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x", "http://localhost/", "http://10.0.0.1/",
        "http://169.254.169.254/latest", "http://[::1]/", "http://127.0.0.1./",
        "http://①②⑦.⓪.⓪.①/", "http://2130706433/x", "http://0x7f.1/q", "http://[64:ff9b::7f00:1]/",
        "ftp://a.b", "nonsense",
    ],
)  # fmt: skip
def test_private_urls_are_no_tasks(url: str) -> None:
    assert url_fault(url, TaskSettings())


def test_private_hosts_may_be_named() -> None:
    assert (
        url_fault("http://127.0.0.1:80/x", TaskSettings(quiz_private_hosts=("127.0.0.1",))) is None
    )
    assert url_fault("https://quiz.site/x", TaskSettings()) is None


def test_a_workspace_keeps_its_results_when_it_goes(tmp_path: Path) -> None:
    space = create_workspace(tmp_path, "a" * 32, Redaction(["hush-hush"]))
    assert space.folder.stat().st_mode & 0o077 == 0
    space.note("the secret is hush-hush\x1b[31m\nsecond")
    space.write_result({"answer": ["hush-hush"]})
    (space.page_folder(1, "../../x") / "data").write_text("x")
    cleanup_task_workspace(space)
    kept = tmp_path / "results" / ("a" * 32)
    assert not space.folder.exists()
    assert sorted(path.name for path in kept.iterdir()) == ["result.json", "task.log"]
    text = (kept / "task.log").read_text()
    assert "hush" not in text + (kept / "result.json").read_text()
    assert text.count("\n") == 1
    assert "\x1b" not in text


def test_the_sweeper_takes_old_folders_of_tasks_only(tmp_path: Path) -> None:
    for name in ("a" * 32, "b" * 32, "c" * 32, "somebody"):
        (tmp_path / name).mkdir()
        if name[0] != "b":
            os.utime(tmp_path / name, (1, 1))
    (tmp_path / ("d" * 32)).symlink_to(tmp_path / "somebody")
    sweep(tmp_path, 1, frozenset({"c" * 32}))
    assert sorted(path.name[0] for path in tmp_path.iterdir()) == ["b", "c", "d", "s"]


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{0}", "{0:#x}", "{1}.{2}", "{1}.{3}.{4}", "0{1:o}.0.0.1"]))  # fmt: skip
def test_an_address_that_is_not_in_full_is_no_host(number: int, form: str) -> None:
    first, rest, second, last = (
        number >> 24,
        number & 0xFFFFFF,
        number >> 16 & 0xFF,
        number & 0xFFFF,
    )
    with pytest.raises(BadAddressError):
        site_of(f"http://{form.format(number, first, rest, second, last)}/")


@given(st.ip_addresses())
def test_an_address_in_full_is_a_host(address: object) -> None:
    host = f"[{address}]" if ":" in str(address) else str(address)
    assert site_of(f"http://{host}/").host == str(address)


async def test_tasks_share_the_turns_of_their_models() -> None:
    runner = TaskRunner(TaskSettings(max_concurrent_models=2), panel())
    async with runner.panel.turns, runner.panel.turns:
        assert runner.panel.turns.locked()  # type: ignore[attr-defined]


def test_the_first_answer_has_time_for_a_second_round() -> None:
    budget = Budget()
    seconds = budget.thought(0, age=budget.render)
    assert SandboxLimits().wall <= 20
    assert min(budget.thinking.first(seconds), budget.thinking.model) + 20 <= seconds


async def test_what_is_set_wrong_is_said_in_plain_words(tmp_path: Path) -> None:
    settings = TaskSettings(task_basedir=tmp_path, browser_executable=str(tmp_path / "none"))
    runner = TaskRunner(settings, panel())
    try:
        result = await runner.work(TaskRequest("a@b.c", "hush-hush", "https://8.8.8.8/quiz"))
    finally:
        await runner.close()
    assert result.state == "failed"
    assert (result.error or "").startswith("BROWSER_EXECUTABLE: ")

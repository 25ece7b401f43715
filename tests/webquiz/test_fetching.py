"""Models ask for requests before they answer: what is sent, what is refused, what comes back."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.sandbox import run_code
from quizlog_tui.solver.contract import FetchRequest
from quizlog_tui.solver.decision_text import read_decisions
from quizlog_tui.solver.models.cassettes import FETCHED
from quizlog_tui.solver.models.choice import live_panel, recorded_panel
from quizlog_tui.solver.models.models import Models
from quizlog_tui.solver.redaction import Redaction
from quizlog_tui.solver.solve import ROUNDS
from quizlog_tui.webquiz.net import fetching
from quizlog_tui.webquiz.net.address import allowed_for
from quizlog_tui.webquiz.net.fetching import _MOST_BODY, _address_of, _fault_of
from quizlog_tui.webquiz.task.task import TaskRequest, TaskResult
from quizlog_tui.webquiz.task.task_runner import TaskRunner
from tests.webquiz.api_site import Answer, ApiSite, Seen, api_site
from tests.webquiz.conftest import JON, QUICK, SECRET, Lab, Thought, lab, needs_sandbox
from tests.webquiz.stand_in import StandIn

ASKS = "Get the value. POST the answer to /submit"


async def worked(base: Path, site: ApiSite, **thoughts: Thought) -> TaskResult:
    async with lab(None, base, thoughts, browser=StandIn()) as running:
        result = await running.work(url=f"{site.url}/q?email={JON}")
        assert SECRET.encode() not in running.artefacts()
    return result


def fetches(*wishes: dict[str, Any]) -> Thought:
    """A model that asks for some requests, and answers with the value in the last reply."""

    def thought(data: dict[str, Any], nth: int) -> dict[str, Any]:
        if "fetched" not in data:
            return {"fetch": list(wishes)}
        return {"answer": json.loads(data["fetched"][-1]["begins"])["value"]}

    return thought


def value(seen: Seen) -> Answer:
    return Answer({"value": 42})


def only_with(**headers: str) -> Any:
    """The value, but only to who sends these headers."""
    wanted = {name.replace("_", "-"): text for name, text in headers.items()}

    def answers(seen: Seen) -> Answer:
        fits = all(seen.headers.get(name) == text for name, text in wanted.items())
        return Answer({"value": 42}) if fits else Answer({"error": "no"}, 401)

    return answers


TREE = "/repos/ada/quiz/git/trees/c0ffee?recursive=1"


@pytest.mark.parametrize(
    ("phrase", "wish", "answers", "path"),
    [
        ("Call /api sending the header X-Key: 77.",
         {"url": "/api", "headers": {"X-Key": 77}}, only_with(x_key="77"), "/api"),
        ("Call /api (header <code>X-Key: 77</code>).",
         {"url": "/api", "headers": {"X-Key": "77"}}, only_with(x_key="77"), "/api"),
        ("Call /api with the following headers: <ul><li>X-Key: 77</li><li>X-Team: b</li></ul>",
         {"url": "/api", "headers": {"X-Key": "77", "X-Team": "b"}},
         only_with(x_key="77", x_team="b"), "/api"),
        ("Run curl -H 'X-Key: 77' -H 'Accept: text/csv' /api",
         {"url": "/api", "headers": {"X-Key": "77", "Accept": "text/csv"}},
         only_with(x_key="77", accept="text/csv"), "/api"),
        ("Call /repos/{owner}/{repo}/git/trees/{sha}?recursive=1: owner ada, repo quiz, sha c0ffee",
         {"url": TREE}, value, TREE),
        ("Call /api?email=&lt;your email&gt;",
         {"url": f"/api?email={JON}"}, value, f"/api?email={JON}"),
        ("POST {\"n\": 3} as JSON to /api",
         {"method": "post", "url": "/api", "body": {"n": 3}},
         only_with(content_type="application/json"), "/api"),
        ("POST the form n=3 to /api",
         {"method": "POST", "url": "/api", "body": "n=3",
          "headers": {"Content-Type": "application/x-www-form-urlencoded"}},
         only_with(content_type="application/x-www-form-urlencoded"), "/api"),
    ],
)  # fmt: skip
async def test_a_question_about_an_interface_is_solved_however_it_is_phrased(
    tmp_path: Path, phrase: str, wish: dict[str, Any], answers: Any, path: str
) -> None:
    with api_site(f"<p>{phrase}</p>{ASKS}", 42, answers) as site:
        result = await worked(tmp_path, site, ada=fetches(wish))
    assert (result.state, site.sent) == ("finished", [42])
    assert site.seen[-1].path == path
    body = wish.get("body")
    assert site.seen[-1].body == ("" if body is None else body if body == "n=3" else '{"n": 3}')


@needs_sandbox()
async def test_replies_are_files_for_code_and_the_pages_that_follow_are_fetched(
    tmp_path: Path,
) -> None:
    def answers(seen: Seen) -> Answer:
        number = int(seen.path.partition("=")[2] or 1)
        following = f"/orders?page={number + 1}" if number < 3 else None
        return Answer({"items": [number] * 10, "next": following})

    def thought(data: dict[str, Any], nth: int) -> dict[str, Any]:
        if "fetched" not in data:
            return {"fetch": [{"url": "/orders", "headers": {"X-Key": "7"}}]}
        names = [one["file"] for one in data["fetched"]]
        return {
            "code": f"import json\nanswer = sum(sum(json.load(open(n))['items']) for n in {names})"
        }

    with api_site(ASKS, 60, answers) as site:
        result = await worked(tmp_path, site, ada=thought)
    assert (result.state, site.sent) == ("finished", [60])
    assert [(one.path, one.headers["x-key"]) for one in site.seen] == [
        ("/orders", "7"), ("/orders?page=2", "7"), ("/orders?page=3", "7")
    ]  # fmt: skip


async def test_equal_requests_are_sent_once_and_again_to_who_asks_again(tmp_path: Path) -> None:
    wish = {"method": "POST", "url": "/api", "body": {"start": True}}

    def patient(data: dict[str, Any], nth: int) -> dict[str, Any]:
        found = [json.loads(one["begins"]) for one in data.get("fetched", ())]
        ready = found and found[-1]["ready"]
        return {"answer": 42} if ready else {"fetch": [wish]}

    with api_site(ASKS, 42, lambda seen: Answer({"ready": len(site.seen) > 1})) as site:
        result = await worked(tmp_path, site, ada=patient, bea=patient, cyd=patient)
    assert (result.state, len(site.seen)) == ("finished", 2)


async def test_the_decision_the_log_and_the_results_tell_of_it(tmp_path: Path) -> None:
    with api_site(ASKS, 42, value) as site:
        result = await worked(
            tmp_path, site, ada=fetches({"url": "/api", "headers": {"X-Key": "7"}})
        )
    results = tmp_path / "results" / result.id
    (decision,) = read_decisions(results / "record.decisions.jsonl").decisions
    (one,) = decision.models[0].fetched
    assert (one.method, one.url, one.headers) == ("GET", f"{site.url}/api", ("X-Key: 7",))
    assert (one.status, one.size, json.loads(one.begins)) == (200, 13, {"value": 42})
    log = (results / "task.log").read_text()
    assert f"fetched for a model: GET {site.url}/api: HTTP 200, 13 bytes, {one.file}" in log
    assert len(list((results / FETCHED).iterdir())) == 1


async def test_the_second_round_sees_what_was_fetched(tmp_path: Path) -> None:
    def other(data: dict[str, Any], nth: int) -> dict[str, Any]:
        if "model_outputs" in data:
            return {"final_answer": json.loads(data["fetched"][0]["begins"])["value"]}
        return {"answer": 3}

    def ada(data: dict[str, Any], nth: int) -> dict[str, Any]:
        return other(data, nth) if "model_outputs" in data else fetches({"url": "/api"})(data, nth)

    with api_site(ASKS, 42, value) as site:
        result = await worked(tmp_path, site, ada=ada, bea=other)
    assert (result.state, site.sent) == ("finished", [42])


# -- what is refused

QUIZ = "https://quiz.site/project2/q"
CLOSED = ("https://quiz.site/submit", "https://quiz.site/grade/7")
SECRETS = Redaction([SECRET])


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ({"url": "https://evil.site/x"}, "is on none of the sites https://quiz.site"),
        ({"url": "//evil.site/x"}, "is on none"),
        ({"url": "https://quiz.site@evil.site/"}, "is on none"),
        ({"url": "https://me:you@quiz.site/"}, "is on none"),
        ({"url": "https://quiz.site:8443/"}, "is on none"),
        ({"url": "http://quiz.site/"}, "is on none"),
        ({"url": "http://169.254.169.254/latest"}, "is on none"),
        ({"url": "file:///etc/passwd"}, "is on none"),
        ({"url": "wss://quiz.site/"}, "is on none"),
        ({"url": "http://[::1"}, "is on none"),
        ({"url": "/submit"}, "is where answers are sent"),
        ({"url": "/submit?x=1#y", "method": "POST"}, "is where answers are sent"),
        ({"url": "/Submit/", "method": "PUT"}, "is where answers are sent"),
        ({"url": "/x/../%73ubmit"}, "is where answers are sent"),
        ({"url": "https://quiz.site//submit"}, "is where answers are sent"),
        ({"url": "../grade/7"}, "is where answers are sent"),
        ({"url": f"/x?s={SECRET}"}, "holds a secret"),
        ({"url": "/x?s=[key]"}, "holds a secret"),
        ({"url": "/x", "headers": {"X-Key": SECRET}}, "holds a secret"),
        ({"url": "/x", "headers": {SECRET: "1"}}, "holds a secret"),
        ({"url": "/x", "body": {"a": [SECRET]}}, "holds a secret"),
        ({"url": "/x", "headers": {"Host": "evil.site"}}, "has a header that is not a model's"),
        ({"url": "/x", "headers": {"proxy-authorization": "x"}}, "has a header that is not"),
        ({"url": "/x", "headers": {" content-length ": "3"}}, "has a header that is not"),
        ({"url": "/x", "headers": {"X": "1\r\nHost: evil.site"}}, "has a header that cannot be"),
        ({"url": "/x", "headers": {"X: 1\r\nY": "1"}}, "has a header that cannot be"),
        ({"url": "/x", "headers": {"X": "é"}}, "has a header that cannot be"),
        ({"url": "/x", "body": "x" * (_MOST_BODY + 1)}, "has a body of more than"),
    ],
)  # fmt: skip
def test_requests_that_are_not_sent(wish: dict[str, Any], why: str) -> None:
    asked = FetchRequest(**wish)
    fault = _fault_of(asked, _address_of(asked, QUIZ), allowed_for(QUIZ), CLOSED, SECRETS)
    assert fault
    assert fault.startswith(why)


@pytest.mark.parametrize("url", ["/api", "api?x=[1]", "https://QUIZ.site/submit/more", "?page=2"])
def test_requests_that_are_sent(url: str) -> None:
    asked = FetchRequest(url=url, headers={"Authorization": "Bearer 7", "Cookie": "a=b"})
    assert _fault_of(asked, _address_of(asked, QUIZ), allowed_for(QUIZ), CLOSED, SECRETS) is None


@given(st.text(min_size=1, max_size=50), st.text(max_size=10), st.text(max_size=10))
def test_whatever_a_model_writes_is_sent_to_the_quiz_or_refused(
    url: str, name: str, text: str
) -> None:
    asked = FetchRequest(url=url, headers={name: text})
    place = _address_of(asked, QUIZ)
    fault = _fault_of(asked, place, allowed_for(QUIZ), CLOSED, SECRETS)
    assert fault or place.lower().startswith("https://quiz.site/")


async def test_a_page_that_tempts_models_gets_nothing_out_and_no_answer_in(tmp_path: Path) -> None:
    def tempted(data: dict[str, Any], nth: int) -> dict[str, Any]:
        if "fetched" in data:
            assert all(one["error"].startswith("not sent: ") for one in data["fetched"])
            return {"answer": 42}
        return {"fetch": [
            {"method": "POST", "url": "/submit", "body": {"answer": 1, "email": JON}},
            {"url": f"{other.url}/steal?email={JON}"},
            {"url": f"/steal?secret={SECRET}"},
        ]}  # fmt: skip

    with api_site("", 0, value) as other, api_site(ASKS, 42, value) as site:
        result = await worked(tmp_path, site, ada=tempted)
    assert (site.sent, site.seen, other.seen) == ([42], [], [])
    assert len(result.refused) == 3
    assert "a model's request is where answers are sent" in result.refused[0]


async def test_no_redirect_leads_away(tmp_path: Path) -> None:
    def answers(seen: Seen) -> Answer:
        where = f"{other.url}/steal" if seen.path == "/away" else "/submit"
        return Answer({}, 307, {"Location": where})

    def thought(data: dict[str, Any], nth: int) -> dict[str, Any]:
        if "fetched" not in data:
            return {
                "fetch": [{"url": "/away"}, {"method": "POST", "url": "/in", "body": {"answer": 1}}]
            }
        away, inside = data["fetched"]
        assert away["status"] == 403
        assert inside["error"] == "leads to /submit: not followed"
        return {"answer": 42}

    with api_site("", 0, value) as other, api_site(ASKS, 42, answers) as site:
        result = await worked(tmp_path, site, ada=thought)
    assert (result.state, site.sent, other.seen) == ("finished", [42], [])


async def test_a_reply_that_tells_the_secret_tells_it_to_nobody(tmp_path: Path) -> None:
    def thought(data: dict[str, Any], nth: int) -> dict[str, Any]:
        assert SECRET not in json.dumps(data)
        return fetches({"url": "/api"})(data, nth)

    with api_site(ASKS, 42, lambda seen: Answer({"value": 42, "of": SECRET})) as site:
        result = await worked(tmp_path, site, ada=thought)
    assert result.state == "finished"


# -- limits


async def test_a_model_that_never_stops_asking_has_no_vote(tmp_path: Path) -> None:
    def endless(data: dict[str, Any], nth: int) -> dict[str, Any]:
        return {"fetch": [{"url": f"/api?{nth}"}]}

    with api_site(ASKS, 42, value) as site:
        result = await worked(tmp_path, site, ada=endless, bea=lambda data, nth: {"answer": 42})
    assert (result.state, len(site.seen)) == ("finished", ROUNDS)


async def test_the_requests_of_a_page_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_MOST_REQUESTS", 3)

    def endless_pages(seen: Seen) -> Answer:
        return Answer({"next": f"/api?{len(site.seen)}"})

    def thought(data: dict[str, Any], nth: int) -> dict[str, Any]:
        if "fetched" not in data:
            return {"fetch": [{"url": "/api"}]}
        assert data["fetched"][-1]["error"] == "not sent: the page had 3 requests"
        return {"answer": 42}

    with api_site(ASKS, 42, endless_pages) as site:
        result = await worked(tmp_path, site, ada=thought)
    assert (result.state, len(site.seen)) == ("finished", 3)


async def test_what_is_too_big_or_too_slow_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_MOST_REPLY", 1000)
    monkeypatch.setattr(fetching, "_SECONDS", 1.0)

    def answers(seen: Seen) -> Answer:
        if seen.path == "/slow":
            site.closing.wait()
        return Answer("x" * 2000)

    def thought(data: dict[str, Any], nth: int) -> dict[str, Any]:
        if "fetched" not in data:
            return {"fetch": [{"url": "/big"}, {"url": "/slow"}]}
        errors = [one["error"] for one in data["fetched"]]
        assert errors == ["the reply is too big", "no reply within 1 s"]
        return {"answer": 42}

    with api_site(ASKS, 42, answers) as site:
        result = await worked(tmp_path, site, ada=thought)
        site.closing.set()
    assert result.state == "finished"


async def test_a_busy_server_is_asked_again(tmp_path: Path) -> None:
    def answers(seen: Seen) -> Answer:
        busy = Answer({"error": "slow down"}, 429, {"Retry-After": "0"})
        return busy if len(site.seen) == 1 else value(seen)

    with api_site(ASKS, 42, answers) as site:
        result = await worked(tmp_path, site, ada=fetches({"url": "/api"}))
    assert (result.state, len(site.seen)) == ("finished", 2)


# -- once more, without a network


async def test_a_task_is_repeated_with_recorded_replies_and_sends_no_request(
    tmp_path: Path,
) -> None:
    def answers(seen: Seen) -> Answer:
        return Answer({"error": "gone"}, 500) if gone else value(seen)

    gone, replies = False, tmp_path / "replies"
    with api_site(ASKS, 42, answers) as site:
        async with lab(None, tmp_path / "a", {"ada": fetches({"url": "/api"})}) as running:
            voter = {"name": "ada", "base_url": running.fake.url, "model": "ada"}
            async with live_panel(Models(models=[voter]), run_code, keep=replies) as panel:  # type: ignore[list-item]
                running.runner.panel = panel
                first = await once(running, running.runner, site)
            shutil.copytree(tmp_path / "a" / "results" / first.id / FETCHED, replies / FETCHED)
            gone, settings = True, replace(running.runner.settings, task_basedir=tmp_path / "b")
            runner = TaskRunner(settings, recorded_panel(replies, run_code), budget=QUICK)
            again = await once(running, runner, site)
    assert (first.state, again.state) == ("finished", "finished")
    assert (site.sent, len(site.seen)) == ([42, 42], 1)


async def once(running: Lab, runner: TaskRunner, site: ApiSite) -> TaskResult:
    runner.browser = StandIn()  # type: ignore[assignment]
    return await runner.work(TaskRequest(JON, SECRET, f"{site.url}/q"))

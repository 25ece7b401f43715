"""The quiz server: its grader, its clock, its files, each reply as real servers give it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator

import httpx
import pytest

from quizlog_tui.errors import UsageError
from quizlog_tui.webquiz.demo_server.grader import (
    Options,
    all_pages,
    asset,
    chain_of,
    email_number,
    numbers,
)
from quizlog_tui.webquiz.demo_server.web import QuizServer, quiz_server
from tests.support.long_runs import few
from tests.webquiz.right import right_answer

JON, DORA = "jon@quiz.test", "dora@quiz.test"


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[QuizServer]:
    with quiz_server(Options(clock="virtual", **getattr(request, "param", {}))) as running:
        yield running


def post(server: QuizServer, path: str = "/submit", **fields: object) -> httpx.Response:
    body = {"email": JON, "secret": "hush-hush", "url": f"{server.url}/q01-start", "answer": 1}
    body = {key: value for key, value in (body | fields).items() if value is not ...}
    return httpx.post(f"{server.url}{path}", json=body)


def test_personal_values_are_those_of_the_data() -> None:
    assert (email_number(JON), email_number(DORA)) == (16696, 17646)


@pytest.mark.parametrize("email", [JON, DORA])
def test_the_table_of_the_audio_page_gives_the_answer(email: str) -> None:
    page, cutoff = all_pages()["/q03-audio"], email_number(email)
    rows = list(numbers(email))
    assert len(rows) == 1000
    assert sum(one for one, _ in rows if one >= cutoff) == page.expected(email)
    spoken = asset("/q03.vtt", email)
    assert spoken and b"greater than or equal" in spoken.data


@pytest.mark.parametrize("email", [JON, DORA])
def test_the_logs_give_the_answer_and_try_to_leave_the_folder(
    server: QuizServer, email: str
) -> None:
    data = httpx.get(f"{server.url}/files/q10.zip").content
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        assert "../evil.txt" in file.namelist()
        rows = [json.loads(line) for name in file.namelist() if name.startswith("logs/")
                for line in file.read(name).splitlines()]  # fmt: skip
    total = sum(row["bytes"] for row in rows if row["event"] == "download")
    assert total + len(email) % 5 == all_pages()["/q10-zip"].expected(email)


@pytest.mark.parametrize("email", few([JON, DORA], DORA))
def test_the_whole_chain_with_right_answers(server: QuizServer, email: str) -> None:
    url, seen = server.first(email), []
    while url:
        page = all_pages()[httpx.URL(url).path]
        path = "/grade/q06" if page.id == "q06-fetch" else "/submit"
        answer = right_answer(page, email, server.url)
        replies = [post(server, path, email=email, url=url, answer=answer)]
        while replies[-1].status_code in (500, 503):
            replies.append(post(server, path, email=email, url=url, answer=answer))
        assert replies[-1].json()["correct"], (page.id, replies[-1].text)
        assert len(replies) == (3 if page.id == "q21-flaky" else 1)
        url, _ = replies[-1].json()["url"], seen.append(page.id)
    assert seen == [page.id for page in all_pages().values()]


@pytest.mark.parametrize("page", few(all_pages().values()), ids=lambda page: page.id)
def test_a_wrong_answer_is_wrong_and_shows_the_next_page_only_on_easy_ones(page) -> None:
    chain = (page.id, "q35-final") if page.id != "q35-final" else (page.id,)
    path = "/grade/q06" if page.id == "q06-fetch" else "/submit"
    with quiz_server(Options(chain=chain)) as server:
        fields = {"url": f"{server.url}{page.path}", "answer": "certainly wrong"}
        replies = [post(server, path, **fields) for _ in range(3)]
    said = replies[-1].json()
    assert said["correct"] is (page.id == "q01-start")
    assert bool(said["url"]) is (page.difficulty <= 2)
    assert bool(said["reason"]) is (page.id != "q01-start")


@pytest.mark.parametrize("name", ["email", "secret", "url", "answer"])
@pytest.mark.parametrize("value", [..., None, "", "  ", []])
def test_missing_fields_are_named(server: QuizServer, name: str, value: object) -> None:
    reply = post(server, **{name: value})
    assert (reply.status_code, reply.json()) == (400, {"error": f"Missing field {name}"})
    assert not server.grader.rows


@pytest.mark.parametrize("value", [False, 0])
def test_false_and_zero_are_answers(server: QuizServer, value: object) -> None:
    assert post(server, answer=value).json()["correct"]


def test_what_is_no_submission_is_refused_in_the_servers_words(server: QuizServer) -> None:
    assert httpx.get(f"{server.url}/submit").json() == {"error": "Use POST /submit"}
    assert httpx.put(f"{server.url}/submit").status_code == 405
    assert httpx.post(f"{server.url}/submit", content=b"{").status_code == 400
    assert httpx.post(f"{server.url}/submit", content=b"x" * 1_000_001).status_code == 413
    assert "Unknown url" in post(server, url=f"{server.url}/nowhere").json()["error"]
    assert "Invalid id=9" in post(server, url=f"{server.url}/q01-start?id=9").json()["error"]
    assert post(server, url=f"{server.url}/q06-fetch").status_code == 404


def test_a_submission_is_late_by_the_time_its_url_was_issued(server: QuizServer) -> None:
    url = post(server).json()["url"]
    httpx.post(f"{server.url}/_clock", json={"advance": 180})
    assert post(server, url=url, answer=16696).json()["delay"] == 180
    httpx.post(f"{server.url}/_clock", json={"advance": 1})
    late = post(server, url=url, answer=16696).json()
    assert late["correct"] is False
    assert late["reason"] == " [DELAY: 181s > 180s]"
    assert late["url"]


def test_the_two_rules_score_a_right_answer_that_was_overwritten(server: QuizServer) -> None:
    url = post(server).json()["url"]
    post(server, url=url, answer=16696)
    post(server, url=url, answer=1)
    score = httpx.get(f"{server.url}/_score").json()
    assert score["last"][JON]["q02-scrape"] is False
    assert score["max"][JON]["q02-scrape"] is True


@pytest.mark.parametrize("server", [{"min_counted_delay": 1}], indirect=True)
def test_answers_in_the_same_second_may_not_count(server: QuizServer) -> None:
    url = post(server).json()["url"]
    post(server, url=url, answer=16696)
    assert "q02-scrape" not in server.grader.score()["max"].get(JON, {})


@pytest.mark.parametrize("server", [{"fail_rate": 1.0}], indirect=True)
def test_failures_by_chance_store_nothing(server: QuizServer) -> None:
    assert post(server).status_code == 500
    assert not server.grader.rows


def test_the_log_holds_submissions_and_hits_and_no_secret(server: QuizServer) -> None:
    post(server)
    httpx.get(f"{server.url}/steal")
    said = httpx.get(f"{server.url}/_log")
    assert "hush-hush" not in said.text
    assert [hit["path"] for hit in said.json()["hits"]] == ["/submit", "/steal", "/_log"]
    assert said.json()["submissions"][0]["page"] == "q01-start"


def test_orders_want_their_key_and_patience(server: QuizServer) -> None:
    httpx.get(server.first(JON))
    url, headers = f"{server.url}/api/q07/orders", {"X-Quiz-Key": "16696"}
    assert httpx.get(url).status_code == 401
    first = httpx.get(url, headers=headers)
    assert (first.status_code, first.headers["Retry-After"]) == (429, "1")
    total, after = 0.0, "/api/q07/orders"
    while after:
        data = httpx.get(f"{server.url}{after}", headers=headers).json()
        total += sum(item["amount"] for item in data["items"] if item["status"] == "paid")
        after = data["next"]
    assert round(total, 1) == 890.2


def test_an_unknown_page_in_a_chain_is_named() -> None:
    with pytest.raises(UsageError, match="q99"):
        chain_of(["q99"])

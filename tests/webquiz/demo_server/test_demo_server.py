"""The quiz server: its grader, its clock, its files, each reply as real servers give it."""

from __future__ import annotations

import csv
import io
import json
import time
import zipfile
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from quizlog_tui.errors import UsageError
from quizlog_tui.webquiz.demo_server.grader import Options, all_pages
from quizlog_tui.webquiz.demo_server.web import QuizServer, quiz_server
from tests.support.long_runs import few
from tests.webquiz.right import right_answer

JON, DORA = "jon@quiz.test", "dora@quiz.test"


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    with httpx.Client() as client:
        yield client


class Client:
    """A client of a running server."""

    def __init__(self, server: QuizServer, http: httpx.Client) -> None:
        self.server, self._http = server, http

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self._http.get(f"{self.server.url}{path}", **more)

    def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        return self._http.request(method, f"{self.server.url}{path}", **more)

    def post(self, path: str = "/submit", **fields: object) -> httpx.Response:
        own = {"email": JON, "secret": "hush-hush", "url": self.url("/q01-start"), "answer": 1}
        body = {name: value for name, value in (own | fields).items() if value is not ...}
        return self.call("POST", path, json=body)

    def url(self, path: str) -> str:
        return f"{self.server.url}{path}"


@pytest.fixture
def client(http: httpx.Client) -> Iterator[Client]:
    with quiz_server() as server:
        yield Client(server, http)


@pytest.mark.parametrize("email", [JON, DORA])
def test_files_give_the_answers(client: Client, email: str) -> None:
    cutoff = all_pages()["/q02-scrape"].expected(email)
    table = client.get("/q03.csv", params={"email": email}).text
    rows = [int(one) for one, _ in csv.reader(io.StringIO(table))]
    assert len(rows) == 1000
    assert sum(one for one in rows if one >= cutoff) == all_pages()["/q03-audio"].expected(email)
    assert "greater than or equal" in client.get("/q03.vtt").text
    with zipfile.ZipFile(io.BytesIO(client.get("/files/q10.zip").content)) as file:
        assert "../evil.txt" in file.namelist()  # it tries to leave the folder
        logs = [json.loads(line) for name in file.namelist() if name.startswith("logs/")
                for line in file.read(name).splitlines()]  # fmt: skip
    total = sum(row["bytes"] for row in logs if row["event"] == "download")
    assert total + len(email) % 5 == all_pages()["/q10-zip"].expected(email)


@pytest.mark.parametrize("email", few([JON, DORA], DORA))
def test_the_whole_chain_with_right_answers(client: Client, email: str) -> None:
    url, seen = client.server.first(email), []
    while url:
        page = all_pages()[httpx.URL(url).path]
        fields = {"email": email, "url": url, "answer": right_answer(page, email, client.url(""))}
        replies = [client.post(page.submit_path, **fields)]
        while replies[-1].status_code in (500, 503):
            replies.append(client.post(page.submit_path, **fields))
        assert replies[-1].json()["correct"], (page.id, replies[-1].text)
        assert len(replies) == (3 if page.id == "q21-flaky" else 1)
        url, _ = replies[-1].json()["url"], seen.append(page.id)
    assert seen == [page.id for page in all_pages().values()]


@pytest.mark.parametrize("page", few(all_pages().values()), ids=lambda page: page.id)
def test_a_wrong_answer_is_wrong_and_shows_the_next_page_only_on_easy_ones(
    page: Any, http: httpx.Client
) -> None:
    chain = (page.id, "q35-final") if page.id != "q35-final" else (page.id,)
    with quiz_server(Options(chain=chain)) as server:
        fields = {"url": f"{server.url}{page.path}", "answer": "certainly wrong"}
        replies = [Client(server, http).post(page.submit_path, **fields) for _ in range(3)]
    said = replies[-1].json()
    assert said["correct"] is (page.id == "q01-start")
    assert bool(said["url"]) is (page.difficulty <= 2)
    assert bool(said["reason"]) is (page.id != "q01-start")


def test_missing_fields_are_named_and_false_and_zero_are_none(client: Client) -> None:
    for name in ("email", "secret", "url", "answer"):
        for value in (..., None, "", "  ", []):
            reply = client.post(**{name: value})
            assert (reply.status_code, reply.json()) == (400, {"error": f"Missing field {name}"})
    assert not client.server.grader.rows
    assert [client.post(answer=value).json()["correct"] for value in (False, 0)] == [True, True]


def test_what_is_no_submission_is_refused_in_the_servers_words(client: Client) -> None:
    assert client.get("/submit").json() == {"error": "Use POST /submit"}
    assert client.call("PUT", "/submit").status_code == 405
    assert client.call("POST", "/submit", content=b"{").status_code == 400
    assert client.call("POST", "/submit", content=b"x" * 1_000_001).status_code == 413
    assert "Unknown url" in client.post(url=client.url("/nowhere")).json()["error"]
    assert "Invalid id=9" in client.post(url=client.url("/q01-start?id=9")).json()["error"]
    assert client.post(url=client.url("/q06-fetch")).status_code == 404


def test_a_submission_is_late_by_the_time_its_url_was_issued(client: Client) -> None:
    now = time.time()
    client.server.grader.clock = lambda: now
    url = client.post().json()["url"]
    now += 180
    assert client.post(url=url, answer=16696).json()["delay"] == 180
    now += 1
    late = client.post(url=url, answer=16696).json()
    assert late["correct"] is False
    assert late["reason"] == " [DELAY: 181s > 180s]"
    assert late["url"]


def test_the_two_rules_score_a_right_answer_that_was_overwritten(client: Client) -> None:
    url = client.post().json()["url"]
    client.post(url=url, answer=16696)
    client.post(url=url, answer=1)
    score = client.get("/_score").json()
    assert score["last"][JON]["q02-scrape"] is False
    assert score["max"][JON]["q02-scrape"] is True


def test_the_log_holds_submissions_and_hits_and_no_secret(client: Client) -> None:
    client.post()
    client.get("/steal")
    said = client.get("/_log")
    assert "hush-hush" not in said.text
    assert [hit["path"] for hit in said.json()["hits"]] == ["/submit", "/steal", "/_log"]
    assert said.json()["submissions"][0]["page"] == "q01-start"


def test_orders_want_their_key_and_patience(client: Client) -> None:
    client.get("/q01-start", params={"email": JON})
    path, headers = "/api/q07/orders", {"X-Quiz-Key": "16696"}
    assert client.get(path).status_code == 401
    first = client.get(path, headers=headers)
    assert (first.status_code, first.headers["Retry-After"]) == (429, "1")
    items, after = [], path
    while after:
        data = client.get(after, headers=headers).json()
        items += data["items"]
        after = data["next"]
    assert len(items) == 47
    assert round(sum(item["amount"] for item in items if item["status"] == "paid"), 1) == 890.2


def test_an_unknown_page_is_named_before_anything_listens() -> None:
    with pytest.raises(UsageError, match="q99"), quiz_server(Options(chain=("q99",))):
        pass

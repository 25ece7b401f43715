from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.webquiz.net.address import allowed_for
from quizlog_tui.webquiz.page.page import _asked_kind, _sample_of, decoded, lenient, read_page
from quizlog_tui.webquiz.page.snapshot import Link, PageForm, PageFrame, Snapshot

URL = "https://quiz.site/project2/q?email=a%40b.c&id=7"
AT = "https://quiz.site/project2"
ALLOWED = allowed_for(URL, ["https://other.site"])


def shot(text: str = "", **frame: object) -> Snapshot:
    loaded = frame.pop("loaded", ())
    return Snapshot(
        URL, (PageFrame(URL, str(frame.pop("base", URL)), text=text, **frame),), loaded=loaded
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("snapshot", "url", "rule"),
    [
        (shot("POST this JSON to https://quiz.site/submit\n"), "https://quiz.site/submit", "text"),
        (shot("Send it (to https://quiz.site/grade/7)."), "https://quiz.site/grade/7", "text"),
        (shot("POST it to //quiz.site/p/submit"), "https://quiz.site/p/submit", "text"),
        (shot("POST it to //evil.site/submit"), "", "none"),
        (shot("POST it to HTTPS://quiz.site/s"), "https://quiz.site/s", "text"),
        (shot("Submit it to https://quiz.site/s/{id}"), "", "none"),
        (shot("GET /data and POST the sum to sums/7/submit."), f"{AT}/sums/7/submit", "text"),
        (shot("Where is the answer to /data/answer-key.csv?"), "", "none"),
        (shot("POST the code back to /submit"), "https://quiz.site/submit", "text"),
        (shot("POST it to https://example.com/submit"), "", "none"),
        (shot("POST it to https://evil.site/submit"), "", "none"),
        (shot("POST it to https://quiz.site.evil.site/submit"), "", "none"),
        (shot("POST it to https://quiz.site@evil.site/submit"), "", "none"),
        (shot("POST it to http://quiz.site/submit"), "", "none"),
        (shot("POST it to https://other.site/submit"), "", "none"),
        (
            shot("POST it to https://other.site/submit, or https://quiz.site/s"),
            "https://quiz.site/s",
            "text",
        ),
        (shot(links=(Link("https://quiz.site/submit"),)), "https://quiz.site/submit", "link"),
        (
            shot(forms=(PageForm("https://quiz.site/f", "post", ("answer",)),)),
            "https://quiz.site/f",
            "form",
        ),
        (shot(loaded=('{"submit": "/grade/6"}',)), "https://quiz.site/grade/6", "loaded"),
        (shot("Data: https://quiz.site/data.csv"), "", "none"),
        (
            shot("POST your answer to the grader", drawn=("POST to https://quiz.site/c/submit",)),
            "https://quiz.site/c/submit",
            "text",
        ),
    ],
)
def test_the_submit_url_and_how_it_was_found(snapshot: Snapshot, url: str, rule: str) -> None:
    page = read_page(snapshot, ALLOWED)
    assert (page.submit_url, page.submit_rule) == (url, rule)


@pytest.mark.parametrize(
    "text",
    [
        "Do not POST your answer to /no/submit. POST it to /s/submit instead.",
        "Do not POST it to /no/submit but to /s/submit.",
        "Do not, ever, POST it to /no/submit; POST it to /s/submit.",
        "Never send answers to https://quiz.site/no/submit. POST it to https://quiz.site/s/submit",
        "Don't submit to /no/submit, POST it to /s/submit",
        "You must not use POST to /no/submit or to /no/grade. POST it to /s/submit",
        "Do not POST it to:\n\n/no/submit\n\nPOST it to:\n\n/s/submit",
        "Instead of /no/submit, POST it to /s/submit",
        "POST it to /s/submit, not to /no/submit.",
        "POST it to /s/submit (not to /no/submit).",
        "The old address was: POST to /no/submit. It is closed. Now POST it to /s/submit",
        "POST it to /no/submit is no longer possible. POST it to /s/submit.",
        "Formerly: POST it to /no/submit. POST it to /s/submit",
        "Example: POST it to /no/submit\nPOST it to /s/submit",
        "An example from another quiz:\nPOST it to /no/submit.\nPOST it to /s/submit",
        "In the old quiz answers were posted to /no/submit. POST it to /s/submit",
        "~~POST it to /no/submit~~ POST it to /s/submit",
        "Send a bug report to /no/submit. POST your answer to /s/submit",
        "Submissions to /no/submit are no longer accepted. POST it to /s/submit",
        "It is forbidden to POST it to /no/submit. POST it to /s/submit",
        "POST it to /no/submit (closed). POST it to /s/submit",
    ],
)
def test_an_address_that_a_text_refuses_gets_no_answer(text: str) -> None:
    refused = ("/no/submit", "/no/grade")
    links = tuple(Link(f"https://quiz.site{one}", one) for one in refused)
    assert read_page(shot(text), ALLOWED).submit_url == "https://quiz.site/s/submit"
    without = text.replace("/s/submit", "the teacher").replace("https://quiz.sitethe", "the")
    page = read_page(shot(without, links=links[: 1 + (refused[1] in text)]), ALLOWED)
    assert (page.submit_url, page.submit_rule) == ("", "none")


@pytest.mark.parametrize(
    "text",
    [
        "Do not forget to POST it to /s/submit",
        "Submit the command (not its output) to /s/submit",
        "Do not include units and POST it to /s/submit",
        "Do not use GET. POST it to /s/submit",
        "Don't use GET, POST it to /s/submit",
        "Never share your secret; POST it to /s/submit.",
        "POST it, no longer than 5 lines, to /s/submit",
        "Which of the other cities is not in it? POST it to /s/submit",
        "POST it to /s/submit. Do not POST it twice.",
        "Do not POST to /s/submit by form. POST it to /s/submit as JSON.",
    ],
)
def test_a_refusal_of_something_else_refuses_no_address(text: str) -> None:
    assert read_page(shot(text), ALLOWED).submit_url == "https://quiz.site/s/submit"


def test_a_submit_url_is_carried_over_within_its_origin_only() -> None:
    page = read_page(shot("Sum it."), ALLOWED, "https://quiz.site/grade")
    assert (page.submit_url, page.submit_rule) == ("https://quiz.site/grade", "carried")
    page = read_page(shot("Sum it."), ALLOWED, "https://other.site/grade")
    assert (page.submit_url, page.submit_rule) == ("", "none")


def test_where_a_page_names_an_address_of_its_own_none_is_carried_over() -> None:
    page = read_page(shot("POST it to https://evil.site/s"), ALLOWED, "https://quiz.site/grade")
    assert (page.submit_url, page.submit_rule) == ("", "none")
    page = read_page(shot("POST it to https://example.com/s"), ALLOWED, "https://quiz.site/grade")
    assert (page.submit_url, page.submit_rule) == ("https://quiz.site/grade", "carried")


def test_a_relative_submit_url_is_resolved_against_the_base() -> None:
    page = read_page(shot("POST it to /submit", base="https://quiz.site:443/x/"), ALLOWED)
    assert page.submit_url == "https://quiz.site:443/submit"


def test_no_answer_is_sent_to_another_site_and_that_one_was_named_is_told() -> None:
    text = "POST it to https://other.site/submit or https://evil.site/s or https://example.com/s"
    page = read_page(shot(text, base="https://other.site/x/"), ALLOWED)
    assert page.submit_url == ""
    assert page.foreign == ("https://other.site/submit", "https://evil.site/s")


def test_a_page_of_another_allowed_site_gets_no_answer() -> None:
    url = "https://other.site/q"
    snapshot = Snapshot(url, (PageFrame(url, url, text="Sum it. POST it to /submit"),))
    page = read_page(snapshot, ALLOWED)
    assert (page.submit_url, page.submit_rule) == ("", "none")
    assert page.foreign == ("https://other.site/submit",)


def test_a_page_that_was_moved_to_https_is_answered_there() -> None:
    plain, safe = "http://quiz.site/q", "https://quiz.site/q"
    page = read_page(
        Snapshot(plain, (PageFrame(safe, safe, text="POST it to /submit"),)), allowed_for(plain)
    )
    assert (page.url, page.submit_url) == (plain, "https://quiz.site/submit")


def test_the_samples_url_is_no_submit_url_and_no_file() -> None:
    sample = '{"url": "https://quiz.site/project2/q", "answer": ..., "secret": "your secret"}'
    page = read_page(
        shot(f"POST to https://quiz.site/submit\n{sample}", samples=(sample,)), ALLOWED
    )
    assert page.resources == ()
    assert "your secret" not in page.question


def test_resources_are_links_media_and_paths_of_allowed_sites_once_each() -> None:
    page = read_page(
        shot(
            "Download /files/a.zip, then https://quiz.site/files/b.csv. Also https://evil.site/x.csv",
            links=(
                Link("https://quiz.site/files/a.zip"),
                Link("https://quiz.site/project2/q#top"),
                Link("mailto:a@b.c"),
            ),
            media=(
                "https://quiz.site/a.png",
                "https://cdn.evil.site/b.png",
                "data:image/png;base64,AA",
            ),
        ),
        ALLOWED,
    )
    assert page.resources == (
        "https://quiz.site/files/a.zip",
        "https://quiz.site/a.png",
        "https://quiz.site/files/b.csv",
    )


def test_what_a_fraction_is_divided_by_is_no_path() -> None:
    assert read_page(shot("Simplify 77/88, (1 + n)/88 and x^(2)/88"), ALLOWED).resources == ()


def test_what_scripts_hide_is_the_question_where_nothing_is_shown() -> None:
    code = base64.b64encode(b"<p>How many apples are there?</p>").decode()
    broken = "\n".join(code[i : i + 10] for i in range(0, len(code), 10))
    script = f"el.innerHTML = atob(`{broken}`)"
    assert read_page(shot(scripts=(script,)), ALLOWED).question == "How many apples are there?"
    assert read_page(shot("Seen", scripts=(script,)), ALLOWED).question == "Seen"
    assert decoded(PageFrame(URL, URL, scripts=("atob('not base64 but long enough!!')",))) == []


def test_the_question_holds_drawings_frames_and_what_was_opened() -> None:
    frames = (
        PageFrame(URL, URL, text="one", drawn=("two",)),
        PageFrame(URL, URL, text="three"),
        PageFrame(URL, URL, after="“Tab”", text="four"),
    )
    assert read_page(Snapshot(URL, frames), ALLOWED).question == (
        "one\n\ntwo\n\nthree\n\n[after pressing “Tab”:]\n\nfour"
    )


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"email": "x", "answer": ...}', {"email": "x", "answer": None}),
        (
            '{"answer": 1, // the answer\n "url": "https://a.b/c"}',
            {"answer": 1, "url": "https://a.b/c"},
        ),
        ('{"answer": 1, /* or\n more */ "a": 2,}', {"answer": 1, "a": 2}),
        ("[1]", None),
        ("curl https://a.b", None),
    ],
)
def test_samples_are_read_though_they_are_no_json(text: str, data: object) -> None:
    assert lenient(text) == data


@pytest.mark.parametrize(
    ("pre", "left"),
    [
        ("Send this:\n{SAMPLE}", "Send this:"),
        ("{SAMPLE}\nThe secret is yours.", "\nThe secret is yours."),
        ("Send\n{SAMPLE}\nand get\n{'correct': true}", "Send\n\nand get\n{'correct': true}"),
        ("POST to https://quiz.site/grade {SAMPLE}", "POST to https://quiz.site/grade"),
        ("Send {SAMPLE} or {SAMPLE}", "Send  or"),
    ],
)
def test_a_sample_with_prose_in_its_block_is_no_part_of_the_question(pre: str, left: str) -> None:
    sample = '{\n  "email": "your email", // yours\n  "quiz": "q7",\n  "answer": {"any": ...}\n}'
    pre = pre.replace("{SAMPLE}", sample).replace("'", '"')
    page = read_page(shot(f"Sum it.\n{pre}", samples=(pre,)), ALLOWED)
    assert page.question == f"Sum it.\n{left}".replace("'", '"')
    assert page.constants == {"quiz": "q7"}


def test_further_fields_of_a_sample_are_constants_unless_placeholders() -> None:
    text = json.dumps(
        {"email": "your email", "answer": 1, "quiz": "q7", "token": "your token", "v": 2}
    )
    assert _sample_of([text]).constants == {"quiz": "q7", "v": 2}


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Is it? Answer with a JSON boolean.", "yesno"),
        ("Submit the command string (not its output)", "textarea"),
        ("Write a 3-bullet system prompt", "textarea"),
        ('return the top 3 as [{"customer_id":..,"total":..}]', "json"),
        ("8 digits, zero-padded. Submit the key.", "text"),
        ("Send it as a PNG data URI of the sum", "text"),
        ("Sum the Value column", "number"),
        ("2^10 + 24 = ?", "number"),
        ("Transcribe the phrase.", "text"),
    ],
)
def test_the_kind_of_answer(question: str, kind: str) -> None:
    assert _asked_kind(question) == kind


@given(st.text(max_size=200), st.lists(st.text(max_size=60), max_size=3))
def test_any_text_gives_a_page_that_submits_to_the_tasks_own_site_or_nowhere(
    text: str, samples: list[str]
) -> None:
    page = read_page(shot(text, samples=tuple(samples), scripts=(text,)), ALLOWED)
    assert page.submit_url.startswith("https://quiz.site/") or page.submit_rule == "none"

"""What a page has on the screen, or one press away, is in its text, in a real browser."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quizlog_tui.webquiz.net.address import allowed_for
from quizlog_tui.webquiz.page.page import WebPage, read_page, unread_of
from quizlog_tui.webquiz.page.rendered import rendered
from tests.webquiz.conftest import shares_browser
from tests.webquiz.small_site import visiting

OPENED_BY_SCRIPT = "<script>b.addEventListener('click', () => { q.hidden = false })</script>"
TABS = """<div role=tablist><button role=tab aria-selected=true>A</button>
<button role=tab id=b>B</button><button role=tab id=c>C</button></div>
<p id=pa>one</p><p id=pb hidden>two</p><p id=pc hidden>three</p><script>
for (const e of document.querySelectorAll("button")) e.addEventListener("click", () => {
  for (const p of [pa, pb, pc]) p.hidden = p.id !== "p" + e.innerText.toLowerCase() })</script>"""
SHOWN = {
    "a closed part": ("<details><summary>Hint</summary>spider</details>", "Hint\nspider"),
    "closed parts of which one may be open": (
        "<details name=a><summary>A</summary>x</details><details name=a><summary>B</summary>y</details>",
        "A\nx\nB\ny",
    ),
    "text of CSS": (
        "<style>p{--x:'legs'} p::before{content:'How many ' var(--x)} p::after{content:' has ' attr(a) '?'}"
        "</style><p a='a bee'></p>",
        "How many legs has a bee?",
    ),
    "a counter": (
        "<style>body{counter-reset:n 41} p{counter-increment:n} p::after{content:counter(n)}</style><p>Q",
        "Q42",
    ),
    "the numbers of a list": ("<ol start=3><li>a<li value=7>b</ol><ul><li>c</ul>", "3. a\n7. b\nc"),
    "a marker of CSS": (
        "<style>li::marker{content:'legs? '}</style><ul><li>four</ul>",
        "legs? four",
    ),
    "letters as they are shown": ("<p style='text-transform:uppercase'>abc</p>", "ABC"),
    "what is raised or lowered": (
        "<p>2<sup>10</sup> x<sup>n+1</sup> H<sub>2</sub>O",
        "2^10 x^(n+1) H_2O",
    ),
    "what is struck out": ("<p><s>5</s> 6", "~~5~~ 6"),
    "what CSS strikes out": ("<p><span style='text-decoration:line-through'>5</span> 6", "~~5~~ 6"),
    "a number before what CSS adds": (
        "<style>li::before{content:'Case '}</style><ol><li>apples</ol>",
        "1. Case apples",
    ),
    "a dialog before what a press opens": (
        "<script>alert('hi')</script><p>a</p><button onclick=\"q.textContent='b'\">Show</button><p id=q>",
        "a\n\nShow\n\n[hi]\n\n[after pressing “Show”:]\n\nb",
    ),
    "a dialog of a press": (
        "<p>a</p><button onclick=\"alert('b')\">Show</button>",
        "a\n\nShow\n\n[after pressing “Show”:]\n\n[b]",
    ),
    "fractions between paragraphs": (
        "<p>The value</p><math><mfrac><mn>77</mn><mn>88</mn></mfrac></math><p>or</p><math>"
        "<mfrac><mrow><mn>1</mn><mo>+</mo><mi>n</mi></mrow><mn>88</mn></mfrac></math>",
        "The value\n\n77/88\n\nor\n\n(1+n)/88",
    ),
    "a fraction": ("<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>", "1/2"),
    "what is scrolled or cut out of sight": (
        "<div style='height:9px;overflow:hidden'><p>a</p><p>b</p></div>"
        "<div style='width:9px;overflow:hidden;white-space:nowrap;text-overflow:ellipsis'>c d</div>",
        "a\n\nb\n\nc d",
    ),
    "what is far below": (
        "<p>0</p><div style='height:9000px'></div><div style='content-visibility:auto'>a</div><p id=q></p><script>"
        "new IntersectionObserver(([e]) => { if (e.isIntersecting) q.textContent = 'b' }).observe(q)</script>",
        "0\n\na\n\nb",
    ),
    "a table with cells over several": (
        "<table><tr><th rowspan=2>R<th colspan=2>AB<th>C<tr><td>1<td><p>2</p><td>3<tr><td><td>4</table>e",
        "R\tAB\t\tC\n\t1\t2\t3\n\t4\ne",
    ),
    "a form": (
        "<input placeholder=a><input value=b><input type=button value=c><input type=submit>"
        "<textarea placeholder=d></textarea><textarea>e</textarea><input type=password value=f>"
        "<label><input type=radio name=r>g</label><label><input type=radio name=r checked>h</label>",
        "[a] [b] [c] [Submit] [d] [e] [ ] g [x] h",
    ),
    "the options of a choice": (
        "<select><option>a<optgroup label=G><option selected>b<option label=c></optgroup></select>"
        "<input list=l><datalist id=l><option value=d><option value=e></datalist>",
        "[a | G: b (selected) | c] [d | e]",
    ),
    "labels that are the only text": (
        "<span hidden id=l>a</span><input aria-labelledby=l><button aria-label=b></button>"
        "<button title=c></button><p title=d>e</p><i title=f></i>",
        "[a] [b] [c]\n\ne\n\n[f]",
    ),
    "a drawing with text": ("<svg><text y=9>a</text><title>b</title></svg>", "a"),
    "shadow roots in their places": (
        "<div><template shadowrootmode=closed>a <slot name=s></slot> <details><summary></summary>b</details> <slot></slot>"
        "</template>d<b slot=s>c</b></div>",
        "a c\n\n[closed part, not read]\nd",
    ),
    "a frame": ('<p>a</p><iframe srcdoc="<details>b</details>"></iframe>', "a\n\nb"),
    "what no reader sees": (
        "<p style='display:none'>a</p><template>b</template><p style='visibility:hidden'>c</p>"
        "<iframe hidden srcdoc=d></iframe><noscript>e</noscript><!-- f --><p>g",
        "g",
    ),
    "what a press opens later": (
        "<button id=b>Part 2</button><p id=q></p><script>b.addEventListener('mousedown', () =>"
        " setTimeout(() => { q.textContent = 'a' }, 200))</script>",
        "Part 2\n\n[after pressing “Part 2”:]\n\na",
    ),
    "a script's dialog": ("<p>a<script>alert('legs?')</script>", "a\n\n[legs?]"),
    "tabs": (
        TABS,
        "A B C\n\none\n\n[after pressing “B”:]\n\ntwo\n\n[after pressing “C”:]\n\nthree",
    ),
    "what a button opens": (
        f"<button id=b>Question 4</button><p hidden id=q>a</p>{OPENED_BY_SCRIPT}",
        "Question 4\n\n[after pressing “Question 4”:]\n\na",
    ),
    "what anything else opens": (
        f"<div id=b>Question 4</div><p hidden id=q>a</p>{OPENED_BY_SCRIPT}",
        "Question 4\n\n[after pressing “Question 4”:]\n\na",
    ),
    "a dialog": (
        "<dialog id=d>a</dialog><button onclick='d.showModal()'>?</button>",
        "?\n\n[after pressing “?”:]\n\na",
    ),
    "a popover": (
        "<div popover id=d>a</div><button popovertarget=d>More</button>",
        "More\n\n[after pressing “More”:]\n\na",
    ),
    "the target of a link": (
        "<style>p{display:none}p:target{display:block}</style><a href=#d>More</a><p id=d>a</p>",
        "More\n\n[after pressing “More”:]\n\na",
    ),
    "a part that a box opens": (
        "<style>input,p{display:none}:checked~p{display:block}</style>"
        "<input type=checkbox id=i><label for=i>More</label><p>a</p>",
        "More\n\n[after pressing “More”:]\n\na",
    ),
    "what a press does not send": (
        "<button onclick=\"fetch('/sent', {method: 'POST'})\">Three</button>"
        "<button onclick=\"location = '/sent'\">Next</button><p>a",
        "Three Next\n\na",
    ),
}
UNREAD = {
    "<canvas></canvas>": ("[canvas, not read]", "canvas"),
    "<img src=/a/q.png width=50 height=50>": ("[image q.png, not read]", "image q.png"),
    "<img src=/q.png width=50 height=50 alt=legs>": ("[image q.png: legs]", "image q.png"),
    "<img src=/q.png width=1 height=1>": ("", ""),
    "<p style='background:url(/q.png);height:50px'>": ("[image q.png, not read]", "image q.png"),
    "<svg width=50 height=50><title>pie</title></svg>": ("[drawing: pie]", "drawing"),
    "<video src=/q.mp4></video>": ("[video q.mp4, not read]", "video q.mp4"),
    "<p>a</p><object data=/q.pdf type=application/pdf width=50 height=50></object>": (
        "a\n\n[object q.pdf, not read]",
        "object q.pdf",
    ),
    "<button onclick=\"location = '/sent'\">Next</button>": ("Next", "what “Next” leads to"),
    "<iframe src=http://other.test/q></iframe>": (
        "[frame http://other.test/q, not read]",
        "frame http://other.test/q",
    ),
}


Read = tuple[WebPage, list[str]]
TABS = 3
"""Pages are read side by side: most of a visit is waiting until its page is quiet."""


async def pages(folder: Path, htmls: list[str]) -> list[Read]:
    served = {f"/{n}/q": ("html", f"<!doctype html>{html}") for n, html in enumerate(htmls)}

    async def read(paths: list[str]) -> dict[str, Read]:
        found = {}
        async with visiting(served, folder) as (site, tab):
            for path in paths:
                snapshot = await tab.visit(f"{site.url}{path}")
                found[path] = read_page(snapshot, allowed_for(site.url)), unread_of(snapshot)
            assert "/sent" not in site.hits
        return found

    paths = list(served)
    shares = await asyncio.gather(*(read(paths[at::TABS]) for at in range(TABS)))
    found = {path: one for share in shares for path, one in share.items()}
    return [found[path] for path in paths]


@shares_browser
async def test_all_that_a_reader_sees_or_can_open_is_in_the_question(tmp_path: Path) -> None:
    read = await pages(tmp_path, [html for html, _ in SHOWN.values()])
    said = dict(zip(SHOWN, (page.question for page, _ in read), strict=True))
    assert said == {name: text for name, (_, text) in SHOWN.items()}


@shares_browser
async def test_what_cannot_be_read_is_named_in_the_text_and_in_a_note(tmp_path: Path) -> None:
    read = await pages(tmp_path, list(UNREAD))
    said = {
        html: (page.question, "".join(notes).removeprefix("not read: "))
        for html, (page, notes) in zip(UNREAD, read, strict=True)
    }
    assert said == UNREAD


@shares_browser
async def test_an_object_that_is_read_as_a_frame_is_not_named_as_unread(tmp_path: Path) -> None:
    served = {
        "/q": ("html", "<p>a</p><object data=/o.txt type=text/plain></object>"),
        "/o.txt": ("plain", "legs"),
    }
    async with visiting(served, tmp_path) as (site, tab):
        snapshot = await tab.visit(f"{site.url}/q")
        assert read_page(snapshot, allowed_for(site.url)).question == "a\n\nlegs"
        assert unread_of(snapshot) == []


@shares_browser
async def test_a_page_that_sends_its_reader_on_is_waited_for(tmp_path: Path) -> None:
    there = "<p>How many? POST it to <code>submit</code>"
    served = {
        "/soon": ("html", "<meta http-equiv=refresh content=\"1;URL='b/there'\">Submit it there"),
        "/later": ("html", "<meta http-equiv=refresh content='60; url=b/there'>Wait"),
        "/b/there": ("html", there),
    }
    async with visiting(served, tmp_path) as (site, tab):
        allowed = allowed_for(site.url)
        soon, later = [
            read_page(await tab.visit(f"{site.url}/{name}"), allowed) for name in ("soon", "later")
        ]
        assert (soon.question, soon.submit_url) == (
            "How many? POST it to submit",
            f"{site.url}/b/submit",
        )
        assert later.resources == (f"{site.url}/b/there",)


@shares_browser
async def test_a_relative_address_is_resolved_as_the_browser_does(tmp_path: Path) -> None:
    asked = {
        "<p>POST your answer to <code>submit</code> (relative to this page)": "/{n}/submit",
        "<p>POST your answer to submit.": "/{n}/submit",
        "<p>POST it to:</p><pre>../submit</pre>": "/submit",
        "<base href=/b/c/><p>POST it to <code>submit</code>": "/b/c/submit",
        "<base href=/b/c/><p>POST it to ../give?a=1": "/b/give?a=1",
        "<p>POST it to ?submit=1": "/{n}/q?submit=1",
        "<p>The answer goes to <tt>submit</tt> by POST": "/{n}/submit",
        "<p>Submit URL: <code>give</code>": "/{n}/give",
        "<p>Send it to <a href=grab>this address</a>": "/{n}/grab",
        "<p>POST it to <b>/sub</b><i>&shy;mit</i><wbr>/a&#8203;b": "/submit/ab",
        "<style>b::after{content:'/css/submit'}</style><p>POST it to <b></b>": "/css/submit",
        "<p>Q</p><button data-url=submit>Send</button>": "/{n}/submit",
        "<p>Q</p><form method=post action=../f><input name=action>Answer</form>": "/f",
        "<p style='text-transform:uppercase'>POST it to <code>give</code>": "/{n}/give",
        "<p>POST <code>submit</code>, with JSON": "/{n}/submit",
        "<p>Your answer goes by POST to</p><pre>submit</pre>": "/{n}/submit",
        "<p>POST it to <code>/a/b c/submit</code>": "/a/b%20c/submit",
        "<p>POST it to <code>#submit</code>": "",
        "<p>POST it to $BASE/submit": "",
        "<p>Q</p><button formaction=give>Send</button>": "/{n}/give",
        "<details><summary>Where?</summary>POST it to <kbd>give</kbd></details>": "/{n}/give",
        "<iframe srcdoc='<base href=/f/><p>POST it to <code>submit</code>'></iframe>": "/f/submit",
        "<p>Send a POST request to submit your answer": "",
        "<p>POST it to /check/{id}": "",
        "<p>Q</p><form method=post><input name=answer></form>": "",
        "<p>Q</p><button data-answer=four data-action=toggle>Submit</button>": "",
    }
    read = await pages(tmp_path, list(asked))
    found = [page.submit_url.partition("//")[2].partition("/") for page, _ in read]
    assert ["".join(parts[1:]) for parts in found] == [
        path.format(n=n) for n, path in enumerate(asked.values())
    ]


HIDDEN = (
    "style='opacity:0'",
    "style='position:absolute;left:-9999px'",
    "style='position:absolute;top:-9999px'",
    "style='font-size:0'",
    "style='font-size:1px'",
    "style='position:absolute;left:9999px'",
    "style='height:0;overflow:hidden'",
    "style='color:white'",
    "style='color:#fefefe'",
    "style='color:rgba(0,0,0,0.02)'",
    "style='color:transparent'",
    "style='clip-path:inset(100%)'",
    "style='text-indent:-9999px'",
    "style='position:absolute;width:1px;height:1px;overflow:hidden'",
    "style='transform:scale(0)'",
)
SENDS_NOWHERE = (
    "<div style='opacity:0'><p>POST your answer to /no/submit</p><a href=/no/submit>Submit</a>"
    "<form method=post action=/no/f><input name=answer></form></div>",
    "<p style='font-size:0'>POST your answer to /no/submit</p>",
    "<form method=post action=/no/s><input name=email><button>Subscribe to newsletter</button></form>",
    "<form method=post action=/no/s><input name=u><input name=p type=password><button>Submit</button>",
    "<form method=post action=/no/search><input name=q><input type=submit></form>",
    "<form method=post action=/no/s>Comment <textarea name=t></textarea><button>Submit</button></form>",
    "<form method=post action=/no/s><input name=email><button>Join</button></form>"
    "<p>Give the answer to your teacher.",
    "<form><button formaction=/no/s formmethod=post>Subscribe</button></form>",
    "<a href=/no/submit>Submit a bug report</a>",
)
SENDS_RIGHT = (
    *(
        f"<p {hidden}>POST your answer to /no/submit</p><a {hidden} href=/no/submit>Answer</a>"
        f"<form {hidden} method=post action=/no/f><input name=answer></form>"
        "<p>POST your answer to /right/submit"
        for hidden in HIDDEN
    ),
    "<p>POST your answer to /right/submit</p><div style='height:9000px'></div><p>end",
    "<iframe srcdoc='<p>POST your answer to /right/submit</p><div style=height:9000px></div>end'></iframe>",
    "<div style='height:9000px'></div><a href=/right/submit>Answer</a><div style='height:9000px'>",
    "<body style='background:black;color:white'><p>POST your answer to /right/submit",
    "<div style='background:black'><p style='color:white'>POST it to /right/submit</p></div>",
    "<div style='background:linear-gradient(red,blue)'><p style='color:white'>POST it to /right/submit",
    "<div style='display:contents'><p>POST it to <code>/right/submit</code></div>",
    "<p>Your answer:</p><form method=post action=/right/submit><input name=x><button>Go</button></form>",
    "<form method=post action=/right/submit><input name=email><input name=secret type=password>"
    "<input name=answer><button>Log my answer</button></form>",
    "<form method=post action=/no/s><input name=email><button>Subscribe</button></form>"
    "<form method=post action=/right/submit><label>Solution <input name=x></label></form>",
    "<a href=/no/submit>Submit a bug report</a> <a href=/right/submit>Submit your answer</a>",
    "<a href=/no/submit>Submit</a> <a href=/right/submit>Answer</a>",
)


@shares_browser
async def test_what_is_not_for_answers_gets_none(tmp_path: Path) -> None:
    asked = [f"<p>What is 1+1?</p>{html}" for html in (*SENDS_NOWHERE, *SENDS_RIGHT)]
    found = [page.submit_url.partition("//")[2] for page, _ in await pages(tmp_path, asked)]
    paths = {html: url.partition("/")[2] for html, url in zip(asked, found, strict=True)}
    count = len(SENDS_NOWHERE)
    assert paths == dict(
        zip(asked, [""] * count + ["right/submit"] * len(SENDS_RIGHT), strict=True)
    )


@shares_browser
async def test_a_page_too_large_for_all_that_is_read_without(tmp_path: Path) -> None:
    ((page, notes),) = await pages(tmp_path, ["<p>a" + "<br>" * 30_000 + "<b>b"])
    assert page.question.split() == ["a", "b"]
    assert notes == ["not read: what CSS, labels and form controls say, as the page is too large"]


DISPLAYS = ["block", "inline", "table", "table-row", "table-cell", "list-item", "contents"]
NAMES = [
    "div",
    "p",
    "sup",
    "select",
    "input",
    "img",
    "svg",
    "canvas",
    "br",
    "td",
    "mfrac",
    "::marker",
]
TREES = st.recursive(
    st.text(max_size=9),
    lambda inner: st.tuples(
        st.sampled_from(DISPLAYS), st.sampled_from(NAMES), st.lists(inner, max_size=4)
    ),
    max_leaves=25,
)
STYLE = "block visible normal none normal none 1 16px red white none visible"


def account(tree: object) -> dict[str, object]:
    """A browser's account of a page that consists of a tree."""
    strings: list[str] = []
    nodes: dict[str, list[object]] = {"parentIndex": [], "nodeType": [], "nodeName": []}
    nodes |= {"nodeValue": [], "attributes": []}
    layout: dict[str, list[object]] = {"nodeIndex": [], "text": [], "styles": [], "bounds": []}
    pseudo: dict[str, list[int]] = {"index": [], "value": []}

    def number(text: str) -> int:
        strings.append(text)
        return len(strings) - 1

    def add(one: object, parent: int) -> None:
        at, is_text = len(nodes["parentIndex"]), isinstance(one, str)
        display, name, inner = ("inline", "#text", ()) if is_text else one  # type: ignore[misc]
        nodes["parentIndex"].append(parent)
        nodes["nodeType"].append(3 if is_text else 1)
        nodes["nodeName"].append(number(name))
        nodes["nodeValue"].append(number(str(one)) if is_text else -1)
        nodes["attributes"].append([])
        if name == "::marker":
            pseudo["index"].append(at)
            pseudo["value"].append(number("marker"))
        layout["nodeIndex"].append(at)
        layout["text"].append(number(str(one)) if is_text else -1)
        layout["styles"].append([*map(number, STYLE.replace("block", display).split())])
        layout["bounds"].append([0, 0, 99, 99])
        for child in inner:
            add(child, at)

    add(("block", "body", [tree]), -1)
    rare = ("inputValue", "textValue", "currentSourceURL", "contentDocumentIndex")
    empty = {"index": [], "value": []}
    all_nodes = nodes | dict.fromkeys(rare, empty) | {"pseudoType": pseudo}
    all_nodes |= {"inputChecked": empty, "optionSelected": empty}
    document = {"documentURL": number("http://a.test/"), "nodes": all_nodes, "layout": layout}
    return {"strings": strings, "documents": [document]}


@given(TREES)
def test_no_letter_of_a_rendered_text_is_lost_or_moved(tree: object) -> None:
    def letters(one: object) -> str:
        if isinstance(one, str):
            return "".join(letter for letter in one if letter.isalnum())
        _, name, inner = one  # type: ignore[misc]
        alone = ("select", "input", "img", "canvas", "br", "::marker")
        return "" if name in alone else "".join(map(letters, inner))

    found = rendered(account(tree))
    said = found[0].text.replace("[image, not read]", "").replace("[drawing, not read]", "")
    said = said.replace("[canvas, not read]", "")
    assert "".join(letter for letter in said if letter.isalnum()) == letters(tree)


def test_a_page_may_be_deeper_than_calls() -> None:
    capture = account("leg")
    nodes = capture["documents"][0]["nodes"]  # type: ignore[index]
    depth = 5_000
    for _ in range(depth):
        nodes["parentIndex"].append(len(nodes["parentIndex"]) - 1)
        nodes["nodeType"].append(1)
        nodes["nodeName"].append(nodes["nodeName"][0])
        nodes["nodeValue"].append(-1)
        nodes["attributes"].append([])
    assert [one.text for one in rendered(capture)] == ["leg"]


@pytest.mark.parametrize("space", ["normal", "nowrap"])
def test_spaces_are_told_as_they_are_shown(space: str) -> None:
    capture = account(("inline", "b", [" a ", " b\n", "c"]))
    assert rendered(capture)[0].text == "a b c", space

"""The entry in a client's configuration: where it goes, what it says, and that all else stays."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from quizlog_tui.agents.client_config import (
    CLIENTS,
    SERVER,
    McpClient,
    Merge,
    Plan,
    entry_for,
    entry_text,
    merge,
    own_command,
    plan,
    write,
)
from quizlog_tui.errors import UsageError

WORDS = ["/opt/quizlog", "mcp", "/records/a b.yaml", "--seat"]
CLAUDE, CODEX, CURSOR, VSCODE = (CLIENTS[w] for w in ("claude-code", "codex", "cursor", "vscode"))
JSON = [CLAUDE, CURSOR, VSCODE]
STDIO = {"type": "stdio", "command": WORDS[0], "args": WORDS[1:]}
PLAIN = {"command": WORDS[0], "args": WORDS[1:]}


def word(client: McpClient) -> str:
    return client.word


def read(client: McpClient, text: str | None) -> dict[str, Any]:
    found: dict[str, Any] = (tomllib.loads if client is CODEX else json.loads)(text or "")
    return found


def merged(client: McpClient, old: str | None, words: list[str] = WORDS) -> Merge:
    return merge(client, old, entry_for(client, words))


def refused(client: McpClient, old: str) -> str:
    with pytest.raises(UsageError) as caught:
        merged(client, old)
    return caught.value.message


@pytest.fixture(autouse=True)
def no_other_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CODEX_HOME", "UV_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "at home").mkdir()
    return tmp_path / "at home"


@pytest.mark.parametrize(
    ("client", "text"),
    [
        (
            CLAUDE,
            """\
{
  "mcpServers": {
    "quizlog": {
      "type": "stdio",
      "command": "/opt/quizlog",
      "args": [
        "mcp",
        "/records/a b.yaml",
        "--seat"
      ]
    }
  }
}
""",
        ),
        (
            CODEX,
            """\
[mcp_servers.quizlog]
command = "/opt/quizlog"
args = ["mcp", "/records/a b.yaml", "--seat"]
""",
        ),
    ],
    ids=["claude-code", "codex"],
)
def test_an_entry_is_the_text_of_a_file_of_its_own(client: McpClient, text: str) -> None:
    assert entry_text(client, entry_for(client, WORDS)) == text
    assert merged(client, None) == merged(client, "") == Merge(text)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=word)
def test_each_client_finds_the_entry_under_its_own_key(client: McpClient) -> None:
    key = {"vscode": "servers", "codex": "mcp_servers"}.get(client.word, "mcpServers")
    entry = PLAIN if client is CODEX else STDIO
    assert read(client, merged(client, None).text) == {key: {SERVER: entry}}


ODD = '/a\\b"c/ü/😀/\x7f\x1f\u2028'


@pytest.mark.parametrize("client", CLIENTS.values(), ids=word)
def test_any_file_name_is_found_as_it_is(client: McpClient) -> None:
    found = read(client, merged(client, None, [ODD, ODD]).text)[client.key][SERVER]
    assert (found["command"], found["args"]) == (ODD, [ODD])


@pytest.mark.parametrize("client", CLIENTS.values(), ids=word)
def test_a_name_that_is_no_text_is_refused(client: McpClient) -> None:
    with pytest.raises(UsageError, match="cannot be written into the configuration"):
        entry_for(client, ["quizlog", "mcp", "/a\udcff.yaml"])


def test_a_name_with_what_is_a_variable_to_the_client_is_refused() -> None:
    words = ["quizlog", "mcp", "/a${HOME}.yaml"]
    for client in JSON:
        with pytest.raises(UsageError, match="cannot be written into the configuration"):
            entry_for(client, words)
    assert entry_for(CODEX, words)["args"] == words[1:]


ENTRY = """\
"quizlog": {
      "type": "stdio",
      "command": "/opt/quizlog",
      "args": [
        "mcp",
        "/records/a b.yaml",
        "--seat"
      ]
    }"""
ONE_LINE = f'"quizlog": {json.dumps(STDIO)}'


def deep(unit: str, line_end: str = "\n") -> str:
    """`ENTRY` where the file is indented by a unit."""
    return ENTRY.replace("  ", unit).replace("\n", line_end)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            '{\n  "z": 1.50,\n  "mcpServers": {\n    "b": {"args": ["-y", "\\u00e9"]}\n  },\n  "a": [1,2]\n}\n',
            '{\n  "z": 1.50,\n  "mcpServers": {\n    "b": {"args": ["-y", "\\u00e9"]},\n    '
            + ENTRY
            + '\n  },\n  "a": [1,2]\n}\n',
        ),
        (
            '{\n\t"mcpServers": {\n\t\t"b": {}\n\t}\n}',
            '{\n\t"mcpServers": {\n\t\t"b": {},\n\t\t' + deep("\t") + "\n\t}\n}",
        ),
        (
            '\ufeff{\r\n    "mcpServers": {\r\n    }\r\n}',
            '\ufeff{\r\n    "mcpServers": {\r\n        ' + deep("    ", "\r\n") + "\r\n    }\r\n}",
        ),
        ('{"mcpServers": {}}', '{"mcpServers": {' + ONE_LINE + "}}"),
        ('{"a":1}\n', '{"a":1, "mcpServers": {' + ONE_LINE + "}}\n"),
        ("{}", '{\n  "mcpServers": {\n    ' + ENTRY + "\n  }\n}"),
        (
            '{\n  "inputs": []\n}\n',
            '{\n  "inputs": [],\n  "mcpServers": {\n    ' + ENTRY + "\n  }\n}\n",
        ),
        (
            '{"mcpServers": {"b": {}}, "mcpServers": {}}',
            '{"mcpServers": {"b": {}}, "mcpServers": {' + ONE_LINE + "}}",
        ),
        ('{"a":1,"b":2,"a":3}', '{"a":1,"b":2,"a":3, "mcpServers": {' + ONE_LINE + "}}"),
    ],
    ids=[
        "two",
        "tabs",
        "BOM and CRLF",
        "one line",
        "dense",
        "empty",
        "no servers",
        "twice",
        "other twice",
    ],
)
def test_only_the_entry_is_put_into_a_file_of_json(old: str, new: str) -> None:
    assert merged(CURSOR, old) == Merge(new)
    assert merged(CURSOR, new) == Merge(None)


def test_another_entry_is_replaced_and_told() -> None:
    other = '{ "command": "other",\n "env": {"A": "1"} }'
    old = f'{{\n  "servers": {{\n    "{SERVER}": {other},\n    "b": {{}}\n  }}\n}}\n'
    made = merged(VSCODE, old)
    assert made.replaces == other
    assert made.text == old.replace(f'"{SERVER}": {other}', ENTRY)


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ('{\n  // mine\n  "mcpServers": {}\n}', "is not JSON without comments: Expecting property"),
        ('{"mcpServers": {},}', "is not JSON without comments"),
        ('{"mcpServers": {}', "is not JSON without comments"),
        ("[" * 100_000, "is not JSON without comments: maximum recursion"),
        ("[]", "is not a JSON object"),
        ("null", "is not a JSON object"),
        ('{"mcpServers": []}', 'its "mcpServers" is not an object'),
        ('{"mcpServers": null}', 'its "mcpServers" is not an object'),
    ],
    ids=[
        "comment",
        "comma",
        "open",
        "deep",
        "array",
        "null",
        "array at the key",
        "null at the key",
    ],
)
def test_json_that_has_no_place_for_it_is_refused(old: str, said: str) -> None:
    assert refused(CLAUDE, old).startswith(said)


TABLE = entry_text(CODEX, PLAIN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('# mine\nmodel = "x"  # yes\n', f'# mine\nmodel = "x"  # yes\n\n{TABLE}'),
        ('[mcp_servers.b]\nurl="u"', f'[mcp_servers.b]\nurl="u"\n\n{TABLE[:-1]}'),
        ("\ufeffa = 1\r\n", "\ufeffa = 1\r\n\r\n" + TABLE.replace("\n", "\r\n")),
        ("# only this", f"# only this\n\n{TABLE[:-1]}"),
        ("mcp_servers.b.command = 'c'\n", f"mcp_servers.b.command = 'c'\n\n{TABLE}"),
    ],
    ids=["comments", "no final line end", "BOM and CRLF", "comment alone", "dotted"],
)
def test_a_table_is_added_at_the_end_of_toml(old: str, new: str) -> None:
    assert merged(CODEX, old) == Merge(new)
    assert merged(CODEX, new) == Merge(None)


def test_an_entry_of_the_same_content_is_enough() -> None:
    old = f'mcp_servers = {{quizlog = {{args = {json.dumps(WORDS[1:])}, command = "{WORDS[0]}"}}}}'
    assert merged(CODEX, old) == Merge(None)
    reordered = json.dumps({"mcpServers": {SERVER: dict(reversed(STDIO.items()))}})
    assert merged(CURSOR, reordered) == Merge(None)


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("[mcp_servers.quizlog]\ncommand = 'other'\n", "has another [mcp_servers.quizlog] already"),
        (TABLE + "enabled = false\n", "has another [mcp_servers.quizlog] already"),
        ("mcp_servers = {b = {}}\n", "its mcp_servers takes no further table"),
        ("[[mcp_servers]]\n", "its mcp_servers is not a table"),
        ("a = \n", "is not TOML"),
        ("a = " + "[" * 100_000, "is not TOML"),
    ],
    ids=["other", "switched off", "on one line", "array", "broken", "deep"],
)
def test_toml_is_never_rewritten(old: str, said: str) -> None:
    assert refused(CODEX, old).startswith(said)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
INDENTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])
NAMES = TEXTS.map(lambda text: text.replace("${", ""))
COMMANDS = st.lists(NAMES, min_size=1, max_size=4)


@given(
    st.dictionaries(TEXTS, VALUES, max_size=3),
    st.none() | st.dictionaries(TEXTS | st.just(SERVER), VALUES, max_size=3),
    INDENTS,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(JSON),
    COMMANDS,
)
def test_what_is_in_json_is_there_afterwards(
    others: dict[str, Any],
    servers: dict[str, Any] | None,
    indent: Any,
    line_end: str,
    mark: str,
    client: McpClient,
    words: list[str],
) -> None:
    data = {"a": 1, **others} | ({} if servers is None else {client.key: servers})
    old = mark + json.dumps(data, indent=indent).replace("\n", line_end)
    made = merged(client, old, words)
    assume(made.text is not None)
    entry = entry_for(client, words)
    found = read(client, (made.text or "").removeprefix("\ufeff"))
    assert found == {**data, client.key: {**(servers or {}), SERVER: entry}}
    assert list(found) == list(data | {client.key: ()})
    assert json.loads(made.replaces or "null") == (servers or {}).get(SERVER)
    assert (made.text or "").count("\n") == (made.text or "").count(line_end)
    assert merged(client, made.text, words) == Merge(None)
    assert merged(client, old, [*words, "more"]).text != made.text


@given(
    st.dictionaries(st.from_regex(r"[a-z]{1,5}", fullmatch=True), st.integers(0, 9), max_size=3),
    st.lists(st.from_regex(r"[a-p]{1,5}", fullmatch=True), unique=True, max_size=3),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.booleans(),
    COMMANDS,
)
def test_what_is_in_toml_is_there_afterwards(
    others: dict[str, int],
    servers: list[str],
    line_end: str,
    mark: str,
    final: bool,
    words: list[str],
) -> None:
    lines = ["# mine", "# more", *(f"{key} = {value}  # why" for key, value in others.items())]
    lines += [f"[mcp_servers.{name}]" for name in servers]
    old = mark + line_end.join(lines) + final * line_end
    made = merged(CODEX, old, words)
    text = made.text or ""
    assert text.startswith(old)
    assert text.endswith(line_end) == final
    assert text.count("\n") == text.count(line_end)
    found = read(CODEX, text.removeprefix("\ufeff"))
    assert found.pop("mcp_servers") == {
        **{name: {} for name in servers},
        SERVER: entry_for(CODEX, words),
    }
    assert found == others
    assert merged(CODEX, text, words) == Merge(None)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=word)
def test_a_plan_is_written_and_then_there_is_nothing_to_do(
    client: McpClient, here: Path, home: Path
) -> None:
    made = plan(client, WORDS, here, home)
    assert made.path == (home if client is CODEX else here) / client.file
    assert not made.path.exists()
    assert made.new_text == made.entry_text
    write(made)
    assert made.path.read_text() == made.entry_text
    again = plan(client, WORDS, here, home)
    assert (again.new_text, again.replaces, again.entry_text) == (None, None, made.entry_text)
    write(again)
    assert made.path.read_text() == made.entry_text


def test_codex_may_have_another_folder(
    here: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(home / "other"))
    assert plan(CODEX, WORDS, here, home).path == home / "other" / "config.toml"


def test_bytes_and_mode_of_a_file_stay(here: Path, home: Path) -> None:
    path = home / CODEX.file
    path.parent.mkdir()
    path.write_bytes(b"\xef\xbb\xbf# \xc3\xa9\r\na = 1")
    path.chmod(0o600)
    write(plan(CODEX, WORDS, here, home))
    assert path.read_bytes().startswith(
        b"\xef\xbb\xbf# \xc3\xa9\r\na = 1\r\n\r\n[mcp_servers.quizlog]"
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["config.toml"]


def test_a_replaced_entry_is_in_the_plan(here: Path, home: Path) -> None:
    (here / CLAUDE.file).write_text('{"mcpServers": {"quizlog": {"command": "other"}}}')
    assert plan(CLAUDE, WORDS, here, home).replaces == '{"command": "other"}'


BY_HAND = {
    CLAUDE: f'by hand: in "mcpServers", {ONE_LINE}',
    CODEX: "by hand: in [mcp_servers.quizlog], " + " and ".join(TABLE.splitlines()[1:]),
}


def lead_out(path: Path) -> None:
    outside = path.parent.parent / "outside"
    outside.mkdir()
    path.symlink_to(outside)


def link(path: Path) -> None:
    (path.parent / "real").write_text("{}")
    path.symlink_to("real")


@pytest.mark.parametrize(
    ("client", "plant", "said"),
    [
        (CLAUDE, lambda path: path.write_text("{} // mine"), "is not JSON without comments"),
        (CLAUDE, lambda path: path.write_bytes("{}".encode("utf-16")), "is not UTF-8 text"),
        (CLAUDE, lambda path: path.write_bytes(b" " * 2**21), "cannot read: it is bigger"),
        (CLAUDE, Path.mkdir, "cannot read: Is a directory"),
        (CLAUDE, os.mkfifo, "exists and is no regular file"),
        (CLAUDE, link, "is a link: it is not followed"),
        (CLAUDE, lambda path: path.symlink_to("missing"), "is a link: it is not followed"),
        (CODEX, lambda path: path.write_text("a ="), "is not TOML"),
        (CODEX, lambda path: path.symlink_to(path.name), "is a link: it is not followed"),
    ],
    ids=["comment", "UTF-16", "big", "folder", "pipe", "link", "dangling", "TOML", "loop"],
)
def test_a_refusal_names_the_file_and_what_to_add(
    client: McpClient, plant: Callable[[Path], object], said: str, here: Path, home: Path
) -> None:
    (home / ".codex").mkdir()
    path = (home if client is CODEX else here) / client.file
    plant(path)
    before = path.lstat()
    with pytest.raises(UsageError) as caught:
        plan(client, WORDS, here, home)
    assert caught.value.message.startswith(said)
    assert (caught.value.where, caught.value.hint) == (str(path), BY_HAND[client])
    assert path.lstat() == before


@pytest.mark.parametrize("client", [CURSOR, VSCODE], ids=word)
def test_a_folder_that_leads_out_is_refused(client: McpClient, here: Path, home: Path) -> None:
    lead_out((here / client.file).parent)
    with pytest.raises(UsageError, match=r"leads to .*outside"):
        plan(client, WORDS, here, home)


def test_a_link_may_lead_elsewhere_in_the_folder_and_the_folder_may_be_one(
    here: Path, home: Path, tmp_path: Path
) -> None:
    (here / "settings").mkdir()
    (here / ".cursor").symlink_to("settings")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "linked").symlink_to(here)
    write(plan(CURSOR, WORDS, tmp_path / "elsewhere" / "linked", home))
    assert read(CURSOR, (here / "settings" / "mcp.json").read_text())["mcpServers"]
    assert (here / ".cursor").is_symlink()


def test_links_at_home_are_followed_to_the_real_file(here: Path, home: Path) -> None:
    real = home / "dotfiles" / "codex.toml"
    real.parent.mkdir()
    real.write_text("# mine\n")
    (home / ".codex").mkdir()
    (home / CODEX.file).symlink_to(real)
    write(plan(CODEX, WORDS, here, home))
    assert (home / CODEX.file).readlink() == real
    assert real.read_text() == f"# mine\n\n{TABLE}"


@pytest.mark.parametrize("later", ["{ }", None], ids=["changed", "gone"])
def test_a_file_that_changed_meanwhile_stays(later: str | None, here: Path, home: Path) -> None:
    path = here / CLAUDE.file
    path.write_text("{}")
    made = plan(CLAUDE, WORDS, here, home)
    path.unlink()
    if later is not None:
        path.write_text(later)
    with pytest.raises(UsageError, match="has changed since it was read"):
        write(made)
    assert (path.read_text() if path.exists() else None) == later


def test_a_link_that_came_meanwhile_is_not_followed(here: Path, home: Path) -> None:
    made = plan(CLAUDE, WORDS, here, home)
    made.path.symlink_to("missing")
    with pytest.raises(UsageError, match="is a link"):
        write(made)
    assert not (here / "missing").exists()


def test_a_folder_that_cannot_be_made_is_told(here: Path, home: Path) -> None:
    made = plan(CURSOR, WORDS, here, home)
    (here / ".cursor").symlink_to("missing")
    with pytest.raises(UsageError, match=r"cannot write: .*\(add the entry by hand\)"):
        write(made)


def environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Pretend to run in an environment; return where its script would be."""
    (folder / "bin").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(sys, "executable", str(folder / "bin" / "python"))
    return folder / "bin" / "quizlog"


def test_the_command_is_the_script_of_this_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = environment(tmp_path / "environment", monkeypatch)
    program = [sys.executable, "-P", "-m", "quizlog_tui"]
    assert own_command() == program
    script.write_text("#!/bin/sh\n")
    assert own_command() == program
    script.chmod(0o755)
    assert own_command() == [str(script)]


def test_the_command_without_a_script_runs_from_a_folder_of_a_stranger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "is_file", lambda path: False)
    words = own_command()
    (tmp_path / "quizlog_tui").mkdir()
    (tmp_path / "quizlog_tui" / "__main__.py").write_text("print('a stranger')")
    done = subprocess.run([*words, "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("quizlog")


@pytest.mark.parametrize("variable", ["UV_CACHE_DIR", "XDG_CACHE_HOME", ""])
def test_an_environment_of_uvx_is_made_anew_each_time(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    cache = tmp_path / {"UV_CACHE_DIR": "mine", "XDG_CACHE_HOME": "x/uv"}.get(variable, ".cache/uv")
    if variable:
        value = cache if variable == "UV_CACHE_DIR" else cache.parent
        monkeypatch.setenv(variable, str(value))
    script = environment(cache / "archive-v0" / "a1", monkeypatch)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert own_command() == ["uvx", "--from", "quizlog-tui[agents]", "quizlog"]
    monkeypatch.setattr(sys, "prefix", str(cache.with_name("other")))
    assert own_command() == [str(script)]


def test_a_plan_with_nothing_to_do_writes_nothing(here: Path) -> None:
    write(Plan(here / "none", "", None, None, None))
    assert not (here / "none").exists()


def test_a_number_of_too_many_digits_is_refused(tmp_path: Path) -> None:
    text = f"x = {'9' * 5000}\n"
    with pytest.raises(UsageError, match="is not TOML"):
        merge(CODEX, text, entry_for(CODEX, WORDS))

"""`quizlog completions`: completion scripts for shells."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from ..grammar import Parser, command
from ..json_output import emit_json


def completions(arguments: Namespace) -> int:
    """`quizlog completions SHELL`."""
    from ..command_data import commands

    script = _SHELLS[arguments.shell]([each for each in commands() if each["name"]])
    if arguments.json:
        emit_json({"shell": arguments.shell, "script": script})
    else:
        print(script, end="")
    return 0


def _bash(found: list[dict[str, Any]]) -> str:
    cases = "\n".join(f'        {each["name"]}) words="{_words(each)}" ;;' for each in found)
    names = " ".join(each["name"] for each in found)
    return f"""\
_quizlog() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" words=""
    if [ "$COMP_CWORD" = 1 ]; then
        words="{names}"
    else
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
}}
complete -o filenames -F _quizlog quizlog
"""


def _zsh(found: list[dict[str, Any]]) -> str:
    names = "\n".join(f"        {_quoted(each['name'] + ':' + each['about'])}" for each in found)
    cases = "\n".join(f"        {each['name']}) compadd -- {_words(each)} ;;" for each in found)
    return f"""\
#compdef quizlog
_quizlog() {{
    if (( CURRENT == 2 )); then
        local -a commands=(
{names}
        )
        _describe command commands
    else
        case $words[2] in
{cases}
        esac
    fi
    _files
}}
compdef _quizlog quizlog
"""


def _fish(found: list[dict[str, Any]]) -> str:
    lines = []
    for each in found:
        name, about = each["name"], _quoted(each["about"])
        lines.append(f"complete -c quizlog -n __fish_use_subcommand -a {name} -d {about}")
        after = f"complete -c quizlog -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{after} -a {verb['name']}" for verb in each["verbs"]]
        options = [*each["options"], *(one for verb in each["verbs"] for one in verb["options"])]
        for flag, option in {option["flags"][-1]: option for option in options}.items():
            value = " -r" if option["metavar"] else ""
            lines.append(f"{after} -l {flag[2:]}{value} -d {_quoted(option['help'])}")
    return "\n".join(lines) + "\n"


def _words(each: dict[str, Any]) -> str:
    """The verbs, choices and options that may follow a command."""
    parts = [each, *each["verbs"]]
    flags = [flag for part in parts for one in part["options"] for flag in one["flags"]]
    choices = [choice for part in parts for one in part["arguments"] for choice in one["choices"]]
    return " ".join(dict.fromkeys([*(verb["name"] for verb in each["verbs"]), *choices, *flags]))


def _quoted(text: str) -> str:
    """Quote a text for a shell."""
    return "'" + text.replace("'", "’") + "'"


_SHELLS: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}


def _completions() -> Parser:
    about = (
        "Print print a shell's completion script commands and options. For bash, in ~/.bashrc:\n"
        '  eval "$(quizlog completions bash)"\n'
        "For zsh the same after compinit; for fish: quizlog completions fish | source"
    )
    parser = command("quizlog completions", completions, about)
    parser.add_argument("shell", metavar="|".join(_SHELLS), choices=list(_SHELLS))
    return parser


PARSERS = {"completions": _completions}
"""The parser function of each command."""

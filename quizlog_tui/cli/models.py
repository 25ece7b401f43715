"""`quizlog models`: lists the configured models, asks each a small question, allows programs."""

from __future__ import annotations

import asyncio
import shlex
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..text import one_line
from .grammar import Parser, add_models, command
from .streams import emit_json, needs

if TYPE_CHECKING:
    from ..solver.contract import Solution
    from ..solver.decision import ModelQuestion
    from ..solver.models.choice import Choice
    from ..solver.models.models import ModelSettings
    from ..solver.models.transport import ModelClient, ModelResult

_FAILED = 4
"""Exit code if a model does not answer, or answers wrongly."""

_RIGHT = 4
"""The right answer to the test question."""

_EXAMPLE = """\
a models file (models.yaml in your settings folder, or --models FILE):
  models:
  - name: fast
    base_url: https://openrouter.ai/api/v1   # any OpenAI-compatible endpoint
    model: vendor/name                       # the model's name there
    api_key_env: OPENROUTER_API_KEY          # where the key is: the environment, or .env here
    family: vendor
    weight: 1
    primary: true                            # decides when no other rule does
    json_mode: object                        # schema, object or prompt
    timeout: 45
  - name: local
    command: [./solve.sh, --fast]            # beside this file; or a name in PATH, or a full path.
                                             # It runs at home; prompt on stdin, JSON on stdout
  - name: me
    human: true                              # you, at the terminal
  family_cap: 2                              # the maximum weight of one family"""


def _run_models(arguments: Namespace) -> int:
    """`quizlog models [check]`."""
    needs("solver", "httpx", "pydantic", "dotenv")
    from ..solver.models.models import default_models

    path = Path(arguments.models) if arguments.models else default_models()
    return _check_models(path, arguments) if arguments.action else _list_models(path, arguments)


def _models() -> Parser:
    parser = command(
        "models",
        _run_models,
        group="ask models",
        arguments="[check]",
        about="list the configured models, or try each",
        details="List the configured models. check: ask each one a small question.",
        example="check",
        epilog=_EXAMPLE,
    )
    parser.add_argument("action", metavar="check", choices=["check"], nargs="?")
    add_models(parser)
    return parser


def _list_models(path: Path, arguments: Namespace) -> int:
    """List the configured models without asking any."""
    from ..solver.models.choice import missing_keys
    from ..solver.models.env_file import PRIMARY, read_env
    from ..solver.models.models import read_models

    environment = read_env()
    found = read_models(path).with_primary(environment.setting(PRIMARY))
    missing = missing_keys(found, environment)
    rows = [_setting(model, model.api_key_env in missing) for model in found.models]
    if arguments.json:
        emit_json({"file": str(path), "models": rows})
        return 0
    width = max(len(row["name"]) for row in rows)
    for row in rows:
        print(one_line(f"{row['name']:{width}}  {row['is']}{_remarks(row)}"))
    print("   `quizlog models check` asks each one a small question", file=sys.stderr)
    return 0


def _setting(model: ModelSettings, lacks_key: bool) -> dict[str, Any]:
    """A model's settings as data."""
    return {
        "name": model.name,
        "is": _what(model),
        "family": model.family,
        "weight": model.weight,
        "primary": model.primary,
        "seconds": model.voter.seconds,
        "key": model.api_key_env,
        "key_is_set": model.api_key_env is not None and not lacks_key,
    }


def _what(model: ModelSettings) -> str:
    """A voter in a few words."""
    if model.base_url:
        return f"{model.model} at {model.base_url}"
    return f"the program {shlex.join(model.command)}" if model.command else "a person"


def _remarks(row: dict[str, Any]) -> str:
    said = ["primary"] if row["primary"] else []
    said += [f"weight {row['weight']:g}"] if row["weight"] != 1 else []
    said += [f"{row['key']} is not set"] if row["key"] and not row["key_is_set"] else []
    return f" ({', '.join(said)})" if said else ""


def _check_models(path: Path, arguments: Namespace) -> int:
    """Ask each model a small question."""
    from ..solver.models.choice import Choice

    choice = Choice(path)
    ask_for_programs(choice, arguments)
    rows = asyncio.run(_ask_all(choice))
    if arguments.json:
        emit_json({"file": str(path), "models": rows})
    else:
        for row in rows:
            said = f"{row['name']}: {one_line(row['says'])}"
            print(f"{row['status']:<9}  {said}  {row['seconds']:.1f} s")
    return 0 if all(row["ok"] for row in rows) else _FAILED


async def _ask_all(choice: Choice) -> list[dict[str, Any]]:
    from ..sandbox.result import ExecResult
    from ..solver.decision import ModelQuestion
    from ..solver.models.choice import chosen_panel
    from ..solver.models.transport import Prompt
    from ..solver.prompts import solve_prompt

    async def never(code: str, folder: Path | None) -> ExecResult:
        raise AssertionError("checking runs no code")

    async def there(prompt: Prompt[Any]) -> str:
        return str(_RIGHT)  # a person is there to ask, and that is all that is tried

    async def one(client: ModelClient) -> dict[str, Any]:
        row = _judged(client, await client.request(prompt), question)
        if row["status"] != "not asked":
            print(f"   {client.voter.name}: {row['status']}", file=sys.stderr)
        return row

    question = ModelQuestion("2 + 2 = ", input_type="integer")
    prompt = solve_prompt(question, (), ())
    async with chosen_panel(choice, never, ask=there) as panel:
        return list(await asyncio.gather(*map(one, panel.clients)))


def _judged(
    client: ModelClient, heard: ModelResult[Solution], question: ModelQuestion
) -> dict[str, Any]:
    """Judge a model's reply to the test question."""
    from ..solver.voting.vote import is_equal

    if heard.source == "human":
        return _row(client, True, "not asked", "a person", 0.0)
    if heard.parsed is None:
        return _row(client, False, heard.status, heard.error or "", heard.seconds)
    given = heard.parsed.answer
    is_right = given is None or is_equal(given, _RIGHT, question)
    said = "answers with code, which is not run here" if given is None else f"answers {given!r}"
    said += "" if is_right else f", not {_RIGHT}"
    if heard.repaired:
        said += " at the second try: its JSON may need another json_mode"
    return _row(client, is_right, heard.status if is_right else "wrong", said, heard.seconds)


def _row(client: ModelClient, ok: bool, status: str, says: str, seconds: float) -> dict[str, Any]:
    """The result of asking a model, as data."""
    name = client.voter.name
    return {"name": name, "ok": ok, "status": status, "says": says, "seconds": seconds}


def ask_for_programs(choice: Choice, arguments: Namespace) -> None:
    """Ask about each program that the user has not allowed yet, and remember a yes.

    Raises:
        ConfigError: The user said no, or nobody can be asked.
    """
    from ..solver.models.models import allow_program, programs_to_allow, refused

    if choice.models is None or choice.replay is not None:
        return
    can_ask = sys.stdin.isatty() and sys.stderr.isatty() and not arguments.json
    for program in programs_to_allow(choice.models):
        said = one_line(f"{choice.models.absolute()} names the program {program}.")
        if not (can_ask and _says_yes(f"{said}\nMay it run, as you and not confined? [y/N]")):
            raise refused(choice.models, program)
        allow_program(choice.models, program)


def _says_yes(question: str) -> bool:
    print(question, end=" ", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


PARSERS = {"models": _models}
"""The parser function of each command."""

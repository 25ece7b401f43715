"""Try the configured models: one small question each."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..text import one_line
from . import emit_json
from .extras import needs
from .grammar import Parser, command

if TYPE_CHECKING:
    from ..solver.client import ModelClient

FAILED = 4
"""The exit code where a model does not answer."""
_EXAMPLE = """\
a file of models (models.yaml in your settings folder, or --models FILE):
  models:
  - name: fast
    base_url: https://openrouter.ai/api/v1   # any OpenAI-compatible endpoint
    model: vendor/name                       # the model's name there
    api_key_env: OPENROUTER_API_KEY          # where the key is: the environment, or .env here
    family: vendor
    weight: 1
    primary: true                            # decides where no other rule does
    json_mode: object                        # schema, object or prompt
    timeout: 45
  - name: local
    command: [./solve.sh, --fast]            # prompt on stdin, JSON on stdout
  - name: me
    human: true                              # you, at the terminal
  family_cap: 2                              # the most weight of one family"""


def models(arguments: Namespace) -> int:
    """`quizlog models check`."""
    needs("solver", "httpx", "pydantic", "dotenv")
    from ..solver.models import default_models

    path = Path(arguments.models) if arguments.models else default_models()
    rows = asyncio.run(_check(path))
    if arguments.json:
        emit_json({"file": str(path), "models": rows})
    else:
        for row in rows:
            said = f"{row['name']}: {one_line(row['says'])}"
            print(f"{row['status']:<9}  {said}  {row['seconds']:.1f} s")
    return 0 if all(row["ok"] for row in rows) else FAILED


def _row(client: ModelClient, ok: bool, status: str, says: str, seconds: float) -> dict[str, Any]:
    """What came of asking a model."""
    name = client.voter.name
    return {"name": name, "ok": ok, "status": status, "says": says, "seconds": seconds}


async def _check(path: Path) -> list[dict[str, Any]]:
    from ..sandbox.result import ExecResult
    from ..solver.choice import Choice, chosen_panel
    from ..solver.decision import Question
    from ..solver.prompts import solve_prompt
    from ..solver.transport import Prompt

    async def never(code: str, folder: Path | None) -> ExecResult:
        raise AssertionError("checking runs no code")

    async def there(prompt: Prompt[Any]) -> str:
        return "4"  # a person is there to ask, and that is all that is tried

    async def one(client: ModelClient) -> dict[str, Any]:
        heard = await client.request(prompt)
        if heard.source == "human":
            return _row(client, True, "not asked", "a person", 0.0)
        print(f"   {client.voter.name}: {heard.status}", file=sys.stderr)
        parsed = heard.parsed
        said = "" if parsed is None else f"answers {parsed.answer!r}"
        if heard.repaired:
            said += " at the second try: its JSON may need another json_mode"
        return _row(client, heard.status == "ok", heard.status, heard.error or said, heard.seconds)

    prompt = solve_prompt(Question("2 + 2 = ", input_type="integer"), (), ())
    async with chosen_panel(Choice(path), never, ask=there) as panel:
        return list(await asyncio.gather(*map(one, panel.clients)))


def _models() -> Parser:
    about = "Ask each configured model a small question, and tell what comes of it."
    parser = command("quizlog models", models, about, epilog=_EXAMPLE)
    parser.add_argument("action", choices=["check"])
    parser.add_argument("--models", metavar="FILE", help="default: models.yaml in your settings")
    return parser


PARSERS = {"models": _models}
"""What makes each command's parser."""

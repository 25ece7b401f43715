"""Run with verifiers 0.1 installed: the package loads as an environment and scores replies."""

import asyncio
import json

import verifiers as vf

env = vf.load_environment("quiz_v0")
rows = list(env.get_dataset())
assert rows and {"prompt", "answer", "info", "example_id", "task"} <= set(rows[0])


async def scored(row, reply):
    """The reward that the environment's own rubric gives to a reply."""
    info = row["info"] if isinstance(row["info"], dict) else json.loads(row["info"])
    state = dict(row) | {"info": info, "timing": {"total_ms": 0}, "trajectory": [], "error": None}
    state["completion"] = [{"role": "assistant", "content": reply}]
    await env.rubric.score_rollout(state, score_sem=asyncio.Semaphore(1))
    return state["reward"]


for row in rows:
    expected = json.loads(row["expected_answer_json"])
    right = expected if isinstance(expected, str) else json.dumps(expected)
    assert asyncio.run(scored(row, right)) == 1.0, row
    assert asyncio.run(scored(row, "something else")) == 0.0
    assert asyncio.run(scored(row, "")) == 0.0
print("scored", len(rows))

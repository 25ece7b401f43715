"""An agent of inspect_ai, whose model is a list of calls, under test at the seat of a record."""

import sys
from pathlib import Path
from typing import Any

import inspect_ai
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.tool import mcp_server_stdio

RECORD = sys.argv[1]
NAME = Path(RECORD).stem


def call(tool: str, **given: Any) -> ModelOutput:
    """A call with a usage, which would be counted by a table from the network."""
    output = ModelOutput.for_tool_call("mockllm/model", tool, given)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


calls = [
    call("show", record=NAME),
    call("answer", record=NAME, text="41"),
    call("answer", record=NAME, text="42"),
    call("submit", answer="done"),
]
tools = mcp_server_stdio(name="quiz", command="quizlog", args=["mcp", RECORD, "--seat"])
task = inspect_ai.Task(dataset=[Sample(input="Answer the quiz.")], solver=react(tools=[tools]))
model = get_model("mockllm/model", custom_outputs=calls)
[log] = inspect_ai.eval(task, model=model, display="none")
assert log.status == "success", log.error
for message in log.samples[0].messages:
    if message.role == "tool":
        print(f"{message.function}: {message.text.strip().splitlines()[-1]}")

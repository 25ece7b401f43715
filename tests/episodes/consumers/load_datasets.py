"""Run with `datasets` installed: every exported row must come back as it was written."""

import json
import sys
from pathlib import Path

from datasets import load_dataset

from quizlog_tui.episodes.format.hashing import value_hash

for path in sorted(Path(sys.argv[1]).glob("*.jsonl")):
    written = [json.loads(line) for line in path.read_text().splitlines()]
    loaded = load_dataset("json", data_files=str(path), split="train", cache_dir=sys.argv[2])
    assert [dict(row) for row in loaded] == written, path.name
    if "expected_answer_json" in loaded.column_names:
        for row in loaded:
            assert value_hash(json.loads(row["expected_answer_json"])) == row["answer"]
            for hook in json.loads(row["hooks_json"]):
                assert len(hook["value_hash"]) == 16
    print("loaded", path.name, len(written))

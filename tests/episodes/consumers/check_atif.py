"""Holds trajectories to a published model of the format: `check_atif.py FOLDER`."""

import json
import sys
from pathlib import Path

from atif import Trajectory

for path in Path(sys.argv[1]).glob("*.json"):
    data = json.loads(path.read_text(encoding="utf-8"))
    trajectory = Trajectory.model_validate(data)
    assert trajectory.schema_version == data["schema_version"]
    assert len(trajectory.steps) == len(data["steps"])
    broken = data | {"steps": [data["steps"][0] | {"step_id": 2}, *data["steps"][1:]]}
    try:
        Trajectory.model_validate(broken)
    except ValueError:
        print("valid")
    else:
        raise AssertionError("the model takes anything")

"""Stands for ``ptxlint.device.worker`` where there is no GPU: ``fake_worker.py PLAN JOB`` tells what PLAN says.

PLAN is a JSON file: ``wrong`` maps a variant to its wrong words a run, ``hang`` and ``fault`` name variants,
``error`` is told at once, ``silent`` sleeps before anything is told, ``status`` ends without a word,
``jobs`` is a file to which each job is added.
"""

import json
import sys
import time
from pathlib import Path

WORDS = 64


def tell(line: object) -> None:
    print(line if isinstance(line, str) else json.dumps(line), flush=True)


def main(plan_path: str, job_path: str) -> int:
    plan = json.loads(Path(plan_path).read_text("utf-8"))
    job = json.loads(Path(job_path).read_text("utf-8"))
    texts = {v["name"]: Path(v["path"]).read_text("utf-8") for v in job["variants"]}
    if "jobs" in plan:
        with open(plan["jobs"], "a", encoding="utf-8") as file:
            line = {**job, "texts": texts, "right": Path(job["reference"]["path"]).read_text("utf-8")}
            file.write(json.dumps(line) + "\n")
    if "silent" in plan:
        time.sleep(plan["silent"])
    if "status" in plan:
        print("the last line of standard error", file=sys.stderr)
        return int(plan["status"])
    if "error" in plan:
        tell({"error": plan["error"]})
        return 1
    tell({"about": {"card": "a card", "driver": 13000, "cupy": "13.6.0"}})
    tell("what a library prints")
    tell(["neither", "this"])
    for run in range(job["runs"]):
        for name in texts:
            tell({"start": name, "run": run})
            if name == plan.get("hang"):
                time.sleep(60)
            if name == plan.get("fault"):
                tell({"fault": "an illegal memory access was encountered"})
                return 1
            tell({"variant": name, "run": run, "wrong": plan.get("wrong", {}).get(name, 0), "words": WORDS})
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
"""The picture of docs/choosing.md shows what the program advises.

    choosing.py TAMIS
"""
import csv
import importlib.machinery
import importlib.util
import os
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "bench" / "results"


def script(name):
    path = str(ROOT / "bench" / "advice" / name)
    spec = importlib.util.spec_from_loader(name, importlib.machinery.SourceFileLoader(name, path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_advised(found, kind):
    """The first, or one that costs the same: other processors round otherwise."""
    costs = {option["kind"]: option["cost"] for option in found["options"]}
    return costs[kind] <= 1.001 * found["options"][0]["cost"]


def main():
    choices, draw = script("choices"), script("draw")
    table = RESULTS / "amd-epyc-choices.csv"
    rows = list(csv.DictReader(table.open(encoding="utf-8", newline="")))
    step = 1 if "TAMIS_LONG" in os.environ else 331 if "TAMIS_SANITIZED" in os.environ else 61
    failed = 0
    with choices.measured(sys.argv[1], RESULTS / "amd-epyc-speeds.txt") as environment:
        for row in rows[::step]:
            found = choices.advice(sys.argv[1], environment, row["can"], float(row["store"]),
                                   float(row["gib"]))
            if not is_advised(found, row["kind"]):
                print(f"FAILED: {row}: {found['take']}", file=sys.stderr)
                failed += 1
    if draw.draw(*draw.read(table)) != (ROOT / "docs" / "choosing.svg").read_text(encoding="utf-8"):
        print("FAILED: docs/choosing.svg is not what bench/advice/draw draws", file=sys.stderr)
        failed += 1
    print(f"{len(rows[::step])} choices of {len(rows)}, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())

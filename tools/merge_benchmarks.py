#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""merge_benchmarks.py OUT PART...: joins the rows of several benchmark programs into one JSON file."""
import json
import sys


def main(out, parts):
    merged = {"machine": None, "rows": []}
    for path in parts:
        with open(path, encoding="utf-8") as file:
            part = json.load(file)
        merged["machine"] = merged["machine"] or part["machine"]
        merged["rows"] += part["rows"]
    with open(out, "w", encoding="utf-8") as file:
        json.dump(merged, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])

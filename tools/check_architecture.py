#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the tree is what docs/architecture.md says.

- every #include inside thrum/ follows an edge declared with thrum_module(... DEPENDS ...)
- the table in docs/architecture.md shows exactly the declared edges
- every source file in a module's folder is listed in its CMakeLists.txt, and every folder has a README.md
- no source file is longer than the limit

usage: check_architecture.py --graph BUILD/module_graph.json [--root TREE] [--write]
       --write renews the table in the docs
"""
import argparse
import json
import pathlib
import re
import sys

MAX_LINES = 800
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
BEGIN, END = "<!-- module graph: begin -->", "<!-- module graph: end -->"
TOP_FOLDERS = ("thrum", "apps", "tests", "benchmarks", "examples", "adapters", "python", "tools", "web")


def sources(folder):
    return sorted(f for f in folder.glob("*") if f.suffix in (".h", ".cpp"))


def include_problems(root, graph):
    for module, allowed in graph.items():
        for file in sources(root / "thrum" / module):
            for target in INCLUDE.findall(file.read_text()):
                where = file.relative_to(root)
                parts = target.split("/")
                if parts[0] != "thrum" or len(parts) != 3:
                    yield f'{where}: includes "{target}"; expected a header of the library as "thrum/<folder>/<file>.h"'
                elif parts[1] != module and parts[1] not in allowed:
                    yield f'{where}: includes "{target}", but {module} may use only: {", ".join(allowed) or "nothing"}'


def folder_problems(root, graph):
    on_disk = {p.name for p in (root / "thrum").iterdir() if p.is_dir()}
    for name in sorted(on_disk - set(graph)):
        yield f"thrum/{name}: is a folder but not a module (add thrum_module() and list it in thrum/CMakeLists.txt)"
    for module in graph:
        folder = root / "thrum" / module
        if not (folder / "README.md").exists():
            yield f"thrum/{module}: has no README.md"
        names = [word.rstrip(")") for word in (folder / "CMakeLists.txt").read_text().split()]
        for file in sources(folder):
            if file.name not in names:
                yield f"thrum/{module}/{file.name}: is not listed in the folder's CMakeLists.txt"
        for name in sorted({n for n in names if n.endswith((".h", ".cpp")) and names.count(n) > 1}):
            yield f"thrum/{module}/CMakeLists.txt: lists {name} more than once"


def length_problems(root):
    for top in TOP_FOLDERS:
        for file in sorted((root / top).rglob("*")):
            if "node_modules" in file.parts or file.suffix not in (".h", ".cpp", ".py", ".ts", ".js", ".mjs"):
                continue
            count = len(file.read_text(errors="replace").splitlines())
            if count > MAX_LINES:
                yield f"{file.relative_to(root)}: has {count} lines; the limit is {MAX_LINES}"


def table(graph):
    lines = ["| folder | may use |", "| --- | --- |"]
    lines += [f"| `{module}` | {' '.join(allowed) or '-'} |" for module, allowed in graph.items()]
    return "\n".join(lines)


def doc_problems(root, graph, write):
    doc = root / "docs" / "architecture.md"
    text = doc.read_text()
    if BEGIN not in text or END not in text:
        yield f"{doc.relative_to(root)}: the markers of the module graph are missing"
        return
    head, rest = text.split(BEGIN, 1)
    shown, tail = rest.split(END, 1)
    wanted = f"\n{table(graph)}\n"
    if shown == wanted:
        return
    if write:
        doc.write_text(head + BEGIN + wanted + END + tail)
    else:
        yield (f"{doc.relative_to(root)}: the module table differs from the declared modules; "
               "run tools/check_architecture.py with --write")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", required=True, type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    root = arguments.root
    graph = json.loads(arguments.graph.read_text())
    problems = [*include_problems(root, graph), *folder_problems(root, graph), *length_problems(root),
                *doc_problems(root, graph, arguments.write)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"architecture: {len(graph)} modules, layers and limits respected")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

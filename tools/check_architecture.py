#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the repository against docs/architecture.md.

- every #include inside thrum/ follows an edge declared with thrum_module(... DEPENDS ...)
- a private header (thrum_module(... PRIVATE_HEADERS ...)) is included only by its own folder, that folder's tests and
  the benchmarks, and never by a public header
- a shared header (SHARED_HEADERS) is included only by sources of the library, the command line, tests and benchmarks, and
  never by a public header
- the table in docs/architecture.md shows exactly the declared edges
- every source file in a module's folder is listed in its CMakeLists.txt
- every folder has a README.md that lists exactly its public and its shared headers, and the folders that it may use
- the only file of the library outside these folders is thrum/thrum.h, and it includes public headers of these folders
- no object of the library changes unseen: no mutable members, and thread_local only where threads are counted
- no source file is longer than the limit
- with --max-columns, no line of C++ is longer than that, unless it cannot be broken

usage: check_architecture.py --graph BUILD/module_graph.json [--root TREE] [--max-columns N] [--write]
       --write renews the table in the docs and the lines "May use:" of the READMEs
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
USER_FOLDERS = ("examples", "adapters", "python")  # what a user of the installed library could have written
NO_PRIVATE_HEADERS = ("apps",) + USER_FOLDERS
CPP_FOLDERS = ("thrum", "apps", "tests", "benchmarks", "examples", "adapters", "python")
README_HEADER = re.compile(r"^- `([a-z0-9_]+\.h)`: \S", re.MULTILINE)
SHARED_HEADING = "\n## Shared headers\n"
README_USES = re.compile(r"^May use: .*$", re.MULTILINE)
HIDDEN_STATE = re.compile(r"^\s*(?:static\s+|inline\s+)*(thread_local|mutable)\b")
THREAD_STATE = ("thrum/base/parallel.cpp",)  # the limit of the calling thread, and whether it runs a loop
RAW_STRING = re.compile(r'R"([^\s()\\]{0,16})\(')


def sources(folder):
    return sorted(f for f in folder.glob("*") if f.suffix in (".h", ".cpp"))


def all_sources(folder):
    return sorted(f for f in folder.rglob("*") if f.suffix in (".h", ".cpp") and "node_modules" not in f.parts)


def is_kind(kind, target, graph):
    """Whether "thrum/<folder>/<file>.h" names a header of the kind "public", "shared" or "private"."""
    parts = target.split("/")
    return len(parts) == 3 and parts[0] == "thrum" and parts[2] in graph.get(parts[1], {}).get(kind, ())


def include_problems(root, graph):
    for module, declared in graph.items():
        allowed = declared["uses"]
        for file in sources(root / "thrum" / module):
            where = file.relative_to(root)
            for target in INCLUDE.findall(file.read_text()):
                parts = target.split("/")
                if parts[0] != "thrum" or len(parts) != 3:
                    yield f'{where}: includes "{target}"; expected a header of the library as "thrum/<folder>/<file>.h"'
                elif parts[1] != module and parts[1] not in allowed:
                    yield f'{where}: includes "{target}", but {module} may use only: {", ".join(allowed) or "nothing"}'
                elif is_kind("private", target, graph) and parts[1] != module:
                    yield f'{where}: includes "{target}", which is private to thrum/{parts[1]}; use one of its public headers'
                elif is_kind("private", target, graph) and file.name in declared["public"]:
                    yield f'{where}: is public but includes "{target}", which is private and not installed'
                elif is_kind("shared", target, graph) and file.name in declared["public"]:
                    yield f'{where}: is public but includes "{target}", which is shared and not installed'


def outside_include_problems(root, graph):
    """Headers that are not installed, in folders outside the library. Tests see those of the folder they test; tests that belong to no
    folder (fuzzing, agreement with other programs) and benchmarks see all."""
    for top in NO_PRIVATE_HEADERS + ("tests",):
        for file in all_sources(root / top):
            where = file.relative_to(root)
            tested = where.parts[1] if top == "tests" else None
            for target in INCLUDE.findall(file.read_text()):
                folder = target.split("/")[1]
                if top in USER_FOLDERS and is_kind("shared", target, graph):
                    yield f'{where}: includes "{target}", which is not installed; use a public header of thrum/{folder}'
                if not is_kind("private", target, graph):
                    continue
                if top != "tests" or (tested in graph and tested != folder):
                    yield f'{where}: includes "{target}", which is private to thrum/{folder}; use one of its public headers'


def folder_problems(root, graph):
    on_disk = {p.name for p in (root / "thrum").iterdir() if p.is_dir()}
    for name in sorted(on_disk - set(graph)):
        yield f"thrum/{name}: is a folder but not a module (add thrum_module() and list it in thrum/CMakeLists.txt)"
    for module in graph:
        folder = root / "thrum" / module
        names = [word.rstrip(")") for word in (folder / "CMakeLists.txt").read_text().split()]
        for file in sources(folder):
            if file.name not in names:
                yield f"thrum/{module}/{file.name}: is not listed in the folder's CMakeLists.txt"
        for name in sorted({n for n in names if n.endswith((".h", ".cpp")) and names.count(n) > 1}):
            yield f"thrum/{module}/CMakeLists.txt: lists {name} more than once"


def header_list_problems(where, text, declared):
    """The headers that a README lists: the public ones, then under "## Shared headers" the shared ones."""
    for kind, part in zip(("public", "shared"), (text + SHARED_HEADING).split(SHARED_HEADING)):
        listed = README_HEADER.findall(part)
        for name in sorted(set(declared[kind]) - set(listed)):
            yield f"{where}: does not list the {kind} header {name}; add a line '- `{name}`: what it offers'"
        for name in sorted(set(listed) - set(declared[kind])):
            found = next((f"a {k} header" for k in ("public", "shared", "private") if name in declared[k]), None)
            yield f"{where}: lists {name}, which is {found or 'no header of the folder'}, among the {kind} ones"
        for name in sorted({n for n in listed if listed.count(n) > 1}):
            yield f"{where}: lists {name} more than once"


def readme_problems(root, graph, write):
    for module, declared in graph.items():
        readme = root / "thrum" / module / "README.md"
        where = f"thrum/{module}/README.md"
        if not readme.exists():
            yield f"thrum/{module}: has no README.md"
            continue
        text = readme.read_text()
        yield from header_list_problems(where, text, declared)
        expected = f"May use: {', '.join(declared['uses']) or 'no other folder'}."
        shown = README_USES.findall(text)
        if shown == [expected]:
            continue
        if write and len(shown) == 1:
            readme.write_text(README_USES.sub(expected, text))
        else:
            yield f"{where}: needs one line '{expected}'; --write renews it where there is one"


def top_header_problems(root, graph):
    """thrum/thrum.h: what a program that embeds the library includes; the library itself never does."""
    for file in sources(root / "thrum"):
        where = file.relative_to(root)
        if file.name != "thrum.h":
            yield f"{where}: is in no folder; only thrum/thrum.h is outside of them"
            continue
        for target in INCLUDE.findall(file.read_text()):
            parts = target.split("/")
            if len(parts) != 3 or parts[0] != "thrum" or parts[1] not in graph:
                yield f'{where}: includes "{target}"; expected a header of the library as "thrum/<folder>/<file>.h"'
            elif not (root / target).exists():
                yield f'{where}: includes "{target}", which does not exist'
            elif not is_kind("public", target, graph):
                yield f'{where}: includes "{target}", which is not installed; use a public header of thrum/{parts[1]}'


def hidden_state_problems(root):
    """What a const function or another thread could change without its caller knowing."""
    for file in all_sources(root / "thrum"):
        where = file.relative_to(root)
        if str(where) in THREAD_STATE:
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if match := HIDDEN_STATE.match(line):
                yield (f"{where}:{number}: is {match[1]}; keep what is computed in an object that its user owns, and compute it in a "
                       "constructor or a function that is not const")


def length_problems(root):
    for top in TOP_FOLDERS:
        for file in sorted((root / top).rglob("*")):
            if "node_modules" in file.parts or file.suffix not in (".h", ".cpp", ".py", ".ts", ".js", ".mjs"):
                continue
            count = len(file.read_text(errors="replace").splitlines())
            if count > MAX_LINES:
                yield f"{file.relative_to(root)}: has {count} lines; the limit is {MAX_LINES}"


def raw_string_lines(text):
    """The numbers (from 0) of the lines that a raw string covers."""
    covered = set()
    position = 0
    while match := RAW_STRING.search(text, position):
        end = text.find(f'){match[1]}"', match.end())
        end = len(text) if end < 0 else end
        covered.update(range(text.count("\n", 0, match.start()), text.count("\n", 0, end) + 1))
        position = end
    return covered


def can_be_broken(line, max_columns):
    """Whether some blank inside the limit could end the line: one word (an address, a path) may be longer than it."""
    code = line.strip()
    if code.startswith(("#include", "// NOLINT")):
        return False
    indent = len(line) - len(line.lstrip())
    words = code.removeprefix("///<").removeprefix("///").removeprefix("//").removeprefix("*").split()
    return max(map(len, words), default=0) + indent + len("///< ") <= max_columns


def column_problems(root, max_columns):
    for top in CPP_FOLDERS:
        for file in all_sources(root / top):
            text = file.read_text(errors="replace")
            if all(len(line) <= max_columns for line in text.splitlines()):
                continue
            raw = raw_string_lines(text)
            for number, line in enumerate(text.split("\n")):
                if len(line) > max_columns and number not in raw and can_be_broken(line, max_columns):
                    yield f"{file.relative_to(root)}:{number + 1}: has {len(line)} columns; the limit is {max_columns}"


def table(graph):
    lines = ["| folder | may use |", "| --- | --- |"]
    lines += [f"| `{module}` | {' '.join(declared['uses']) or '-'} |" for module, declared in graph.items()]
    return "\n".join(lines)


def doc_problems(root, graph, write):
    doc = root / "docs" / "architecture.md"
    text = doc.read_text()
    if BEGIN not in text or END not in text:
        yield f"{doc.relative_to(root)}: the markers of the module graph are missing"
        return
    head, rest = text.split(BEGIN, 1)
    shown, tail = rest.split(END, 1)
    expected = f"\n{table(graph)}\n"
    if shown == expected:
        return
    if write:
        doc.write_text(head + BEGIN + expected + END + tail)
    else:
        yield (f"{doc.relative_to(root)}: the module table differs from the declared modules; "
               "run tools/check_architecture.py with --write")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", required=True, type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--max-columns", type=int, help="check the length of lines of C++ too")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    root = arguments.root
    graph = json.loads(arguments.graph.read_text())
    problems = [*include_problems(root, graph), *outside_include_problems(root, graph), *folder_problems(root, graph),
                *top_header_problems(root, graph), *readme_problems(root, graph, arguments.write), *hidden_state_problems(root),
                *length_problems(root), *doc_problems(root, graph, arguments.write)]
    if arguments.max_columns:
        problems += column_problems(root, arguments.max_columns)
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        headers = sum(len(declared["public"]) for declared in graph.values())
        print(f"architecture: {len(graph)} modules with {headers} public headers, layers and limits respected")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""The architecture check must find each kind of mistake in a made-up tree, and nothing in a right one."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_architecture.py"


class CheckArchitecture(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.write("docs/architecture.md", "<!-- module graph: begin -->\n<!-- module graph: end -->\n")
        for module in ("low", "high"):
            self.write(f"thrum/{module}/README.md", f"# {module}\n\nMay use: ?\n\n- `{module}.h`: all of it\n"
                       f"\n## Shared headers\n\n- `{module}_shared.h`: the rest\n")
            self.write(f"thrum/{module}/CMakeLists.txt",
                       f"thrum_module({module} HEADERS {module}.h SHARED_HEADERS {module}_shared.h "
                       f"PRIVATE_HEADERS {module}_inside.h)")
            self.write(f"thrum/{module}/{module}_shared.h", "#pragma once\n")
            self.write(f"thrum/{module}/{module}_inside.h", "#pragma once\n")
        self.write("thrum/low/low.h", "#pragma once\n")
        self.write("thrum/high/high.h", '#include "thrum/low/low.h"\n')
        self.write_graph(high_uses=["low"])
        self.check("--write")

    def write_graph(self, high_uses):
        self.write("graph.json", json.dumps({
            "low": {"uses": [], "public": ["low.h"], "shared": ["low_shared.h"], "private": ["low_inside.h"]},
            "high": {"uses": high_uses, "public": ["high.h"], "shared": ["high_shared.h"], "private": ["high_inside.h"]}}))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, *options):
        run = subprocess.run([sys.executable, TOOL, "--root", self.root, "--graph", self.root / "graph.json", *options],
                             capture_output=True, text=True, check=False)
        return run.returncode, run.stderr

    def assert_found(self, words, *options):
        status, text = self.check(*options)
        self.assertEqual(status, 1)
        self.assertIn(words, text)

    def test_right_tree_passes(self):
        self.assertEqual(self.check(), (0, ""))

    def test_include_against_the_layers(self):
        self.write("thrum/low/low.h", '#include "thrum/high/high.h"\n')
        self.assert_found('includes "thrum/high/high.h", but low may use only: nothing')

    def test_include_from_outside_the_library(self):
        self.write("thrum/low/low.h", '#include "apps/thrum/main.h"\n')
        self.assert_found("expected a header of the library")

    def test_file_that_is_not_listed(self):
        self.write("thrum/low/stray.cpp", "")
        self.assert_found("thrum/low/stray.cpp: is not listed")

    def test_folder_that_is_no_module(self):
        self.write("thrum/stray/x.h", "")
        self.assert_found("thrum/stray: is a folder but not a module")

    def test_file_that_is_too_long(self):
        self.write("thrum/low/low.h", "\n" * 801)
        self.assert_found("801 lines; the limit is 800")

    def test_documented_graph_that_differs(self):
        self.write_graph(high_uses=[])
        self.assert_found("the module table differs")
        self.assert_found("thrum/high/README.md: needs one line 'May use: no other folder.'")

    def test_private_header_of_another_folder(self):
        for place in ("thrum/high/high.h", "apps/thrum/main.cpp", "examples/01.cpp", "adapters/x/x.h", "tests/high/x_test.cpp"):
            with self.subTest(place):
                self.write(place, '#include "thrum/low/low_inside.h"\n')
                self.assert_found(f'{place}: includes "thrum/low/low_inside.h", which is private to thrum/low')

    def test_private_header_where_it_belongs(self):
        self.write("thrum/low/low_inside.h", '#include "thrum/low/low.h"\n')
        for place in ("tests/low/x_test.cpp", "tests/fuzz/x.cpp", "benchmarks/x.cpp"):
            self.write(place, '#include "thrum/low/low_inside.h"\n')
        self.assertEqual(self.check(), (0, ""))

    def test_private_header_in_a_public_one(self):
        self.write("thrum/low/low.h", '#include "thrum/low/low_inside.h"\n')
        self.assert_found('thrum/low/low.h: is public but includes "thrum/low/low_inside.h"')

    def test_shared_header_outside_the_library(self):
        for place in ("examples/01.cpp", "adapters/x/x.h", "python/x.cpp"):
            with self.subTest(place):
                self.write(place, '#include "thrum/low/low_shared.h"\n')
                self.assert_found(f'{place}: includes "thrum/low/low_shared.h", which is not installed')

    def test_shared_header_in_a_public_one(self):
        self.write("thrum/high/high.h", '#include "thrum/low/low_shared.h"\n')
        self.assert_found('thrum/high/high.h: is public but includes "thrum/low/low_shared.h"')

    def test_header_that_is_not_installed_in_the_top_header(self):
        for name in ("low_shared.h", "low_inside.h"):
            with self.subTest(name):
                self.write("thrum/thrum.h", f'#include "thrum/low/{name}"\n')
                self.assert_found(f'thrum/thrum.h: includes "thrum/low/{name}", which is not installed')
        self.write("thrum/thrum.h", '#include "thrum/low/low.h"\n')
        self.assertEqual(self.check(), (0, ""))

    def test_shared_header_where_it_belongs(self):
        for place in ("thrum/high/high_inside.h", "apps/thrum/main.cpp", "tests/high/x_test.cpp", "benchmarks/x.cpp"):
            self.write(place, '#include "thrum/low/low_shared.h"\n')
        self.assertEqual(self.check(), (0, ""))

    def test_readme_that_lists_a_shared_header_as_public(self):
        text = "May use: no other folder.\n\n- `low.h`: x\n- `low_shared.h`: x\n"
        self.write("thrum/low/README.md", text)
        self.assert_found("lists low_shared.h, which is a shared header, among the public ones")
        self.assert_found("does not list the shared header low_shared.h")

    def test_readme_that_leaves_a_header_out(self):
        self.write("thrum/low/README.md", "May use: no other folder.\n\n- `low.h`:\n")
        self.assert_found("thrum/low/README.md: does not list the public header low.h")

    def test_readme_that_lists_what_is_not_public(self):
        text = "May use: no other folder.\n\n- `low.h`: x\n- `low_inside.h`: x\n- `gone.h`: x\n"
        self.write("thrum/low/README.md", text)
        self.assert_found("lists low_inside.h, which is a private header")
        self.assert_found("lists gone.h, which is no header of the folder")

    def test_state_that_changes_unseen(self):
        for line in ("  mutable int x = 0;", "    static thread_local int x;", "thread_local int x;"):
            with self.subTest(line):
                self.write("thrum/low/low.h", f"#pragma once\n{line}\n")
                self.assert_found("thrum/low/low.h:2: is " + ("mutable" if "mutable" in line else "thread_local"))
        self.write("thrum/low/low.h", "// A lambda may be mutable.\nauto f = [x]() mutable { ++x; };\n")
        self.assertEqual(self.check(), (0, ""))

    def test_long_lines(self):
        address = "https://example.org/" + "x" * 120
        self.write("thrum/low/low.h", f'// see {address}\nconst char* text = R"({"a b " * 40})";\n#pragma once\n')
        self.assertEqual(self.check("--max-columns", "110"), (0, ""))
        self.write("tests/low/x_test.cpp", f'#pragma once\n// {"word " * 22}x\n')
        self.assertEqual(self.check(), (0, ""))
        self.assert_found("tests/low/x_test.cpp:2: has 114 columns; the limit is 110", "--max-columns", "110")


if __name__ == "__main__":
    unittest.main()

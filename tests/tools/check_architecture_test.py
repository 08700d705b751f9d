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
            self.write(f"thrum/{module}/README.md", "x")
            self.write(f"thrum/{module}/CMakeLists.txt", f"thrum_module({module} HEADERS {module}.h)")
        self.write("thrum/low/low.h", "#pragma once\n")
        self.write("thrum/high/high.h", '#include "thrum/low/low.h"\n')
        self.write("graph.json", json.dumps({"low": [], "high": ["low"]}))
        self.check("--write")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, *options):
        run = subprocess.run([sys.executable, TOOL, "--root", self.root, "--graph", self.root / "graph.json", *options],
                             capture_output=True, text=True, check=False)
        return run.returncode, run.stderr

    def assert_found(self, words):
        status, text = self.check()
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
        self.write("graph.json", json.dumps({"low": [], "high": []}))
        self.assert_found("the module table differs")


if __name__ == "__main__":
    unittest.main()

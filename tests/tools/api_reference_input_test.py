# SPDX-License-Identifier: MIT
"""Headers prepared for doxygen say the same in the same lines."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("api_reference_input", ROOT / "tools" / "api_reference_input.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


class ApiReferenceInput(unittest.TestCase):
    def test_opening_comment_describes_the_file(self):
        text = "// SPDX-License-Identifier: MIT\n// Waves.\n//\n//     s = a < b\n//\n// With \\ and @.\n#pragma once\n"
        self.assertEqual(tool.converted(text, "wave.h", "`wave()`: x"),
                         "/** \\file\n Waves.\n \\verbatim\n     s = a < b\n \\endverbatim\n With \\\\ and \\@. */\n#pragma once\n")

    def test_comments_of_members(self):
        text = "// SPDX-License-Identifier: MIT\n#pragma once\n/// `a<b>` but a \\<b.\nint a;  ///< x < y\n"
        text = text.replace("\\<", "<")
        self.assertEqual(tool.converted(text, "a.h", "`a`: x").split("\n")[2:4],
                         ["/** `a<b>` but a \\<b. */", "int a;  ///< x \\< y"])

    def test_lists_are_not_verbatim(self):
        lines = [" Kinds:", " - one", "   goes on", "", "   x = y"]
        self.assertEqual(tool.verbatim_lines(lines), [False, False, False, False, True])

    def test_the_main_type_takes_the_line_of_the_readme(self):
        text = "// SPDX-License-Identifier: MIT\n#pragma once\nclass DeepSea {\nclass Other {\n"
        lines = tool.converted(text, "deep_sea.h", "`DeepSea`: water").split("\n")
        self.assertIn("/** Water. The description of the file says more. */ class DeepSea {", lines)
        self.assertIn("class Other {", lines)

    def test_every_public_header_keeps_its_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, ROOT / "tools" / "api_reference_input.py", folder], check=True)
            prepared = sorted(pathlib.Path(folder).rglob("*.h"))
            self.assertGreater(len(prepared), 50)
            for file in prepared:
                original = ROOT / file.relative_to(folder)
                self.assertEqual(file.read_text().count("\n"), original.read_text().count("\n"), original)


if __name__ == "__main__":
    unittest.main()

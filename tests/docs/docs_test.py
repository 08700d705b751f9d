# SPDX-License-Identifier: MIT
"""Runs what the documentation shows.

In every page, a block after <!-- run --> is run by sh, line by line; a block after <!-- file: NAME --> is written to that file
first. Each page has a folder of its own, in which `scenes` is that of the repository and `thrum` is on the path. A block after
<!-- example: NAME --> is that file of examples/ without the comment at its top. Scenes in scenes/ are all checked and taken a
few steps.

usage: docs_test.py PATH_OF_THRUM REPOSITORY
"""
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

THRUM = None
REPOSITORY = None
BLOCK = re.compile(r"<!-- (run|file: ([\w./-]+)) -->\n+```\w*\n(.*?)```", re.DOTALL)
EXAMPLE = re.compile(r"<!-- example: ([\w.]+) -->\n+```cpp\n(.*?)```", re.DOTALL)


def pages():
    return sorted([REPOSITORY / "README.md", *REPOSITORY.glob("docs/**/*.md")])


class Docs(unittest.TestCase):
    def run_page(self, page):
        blocks = BLOCK.findall(page.read_text())
        if not blocks:
            return 0
        with tempfile.TemporaryDirectory() as scratch:
            at = pathlib.Path(scratch)
            (at / "bin").mkdir()
            os.symlink(THRUM, at / "bin" / "thrum")
            for name in ("scenes", "schemas"):
                os.symlink(REPOSITORY / name, at / name)
            env = {"PATH": f"{at / 'bin'}:/usr/bin:/bin", "THRUM_CACHE_DIR": str(at / "cache"), "HOME": scratch}
            for kind, name, text in blocks:
                if kind != "run":
                    (at / name).write_text(text)
                    continue
                for line in text.replace("\\\n", " ").splitlines():
                    line = line.split("  #")[0].strip()
                    if not line or line.startswith("#"):
                        continue
                    done = subprocess.run(["sh", "-e", "-c", line], cwd=at, env=env, capture_output=True, text=True,
                                          timeout=300, check=False)
                    self.assertEqual(done.returncode, 0, f"{page.name}: {line}\n{done.stdout}\n{done.stderr}")
        return len(blocks)

    def test_every_block_runs(self):
        counts = {page.name: self.run_page(page) for page in pages()}
        self.assertGreater(counts["first_steps.md"], 4)
        self.assertGreater(counts["README.md"], 0)
        self.assertGreater(counts["running.md"], 0)

    def test_examples_are_those_of_the_repository(self):
        shown = 0
        for page in pages():
            for name, text in EXAMPLE.findall(page.read_text()):
                lines = (REPOSITORY / "examples" / name).read_text().splitlines(keepends=True)
                program = "".join(itertools.dropwhile(lambda line: line.startswith("//"), lines))
                self.assertEqual(text, program, f"{page.name}: {name}")
                shown += 1
        self.assertGreater(shown, 1)

    def test_every_scene_can_be_run(self):
        for scene in sorted((REPOSITORY / "scenes").glob("*.json")):
            done = subprocess.run([THRUM, "check", str(scene)], capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, f"{scene.name}\n{done.stdout}\n{done.stderr}")
            self.assertIn("can be run", done.stdout)

    def test_every_command_is_documented(self):
        text = subprocess.run([THRUM, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
        commands = re.findall(r"^  (\w+) ", text[text.index("Subcommands"):], re.MULTILINE)
        self.assertIn("view", commands)
        page = (REPOSITORY / "docs" / "command_line.md").read_text()
        for command in commands:
            self.assertIn(f"`thrum {command}", page, command)

    def test_commands_in_the_text_have_their_options(self):
        """What is not run: `thrum mesh tets FILE --spacing S` in a sentence or a table."""
        helps = {}

        def help_of(words):
            if words not in helps:
                done = subprocess.run([THRUM, *words, "--help"], capture_output=True, text=True, check=False, timeout=60)
                helps[words] = done.stdout if done.returncode == 0 else None
            return helps[words]

        looked_at = 0
        for page in pages():
            for command in re.findall(r"`thrum ([a-z][^`]*)`", page.read_text()):
                words = tuple(itertools.takewhile(lambda word: re.fullmatch(r"[a-z_]+", word), command.split()))
                while words and help_of(words) is None:
                    words = words[:-1]  # a word that is an argument
                self.assertTrue(words, f"{page.name}: thrum {command}")
                for option in re.findall(r"(?<!\S)\[?(-{1,2}[a-z][a-z0-9-]*)", command):
                    self.assertRegex(help_of(words), rf"(?<![\w-]){option}(?![\w-])", f"{page.name}: thrum {command}")
                    looked_at += 1
        self.assertGreater(looked_at, 40)

    def test_links_lead_somewhere(self):
        for page in pages():
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
                if not re.match(r"[a-z]+:", target):
                    self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")


if __name__ == "__main__":
    THRUM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    REPOSITORY = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

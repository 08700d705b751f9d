# SPDX-License-Identifier: MIT
"""Runs thrum in a scratch folder; shared by the tests of the command line."""
import pathlib
import subprocess
import tempfile
import unittest


class CommandLine(unittest.TestCase):
    thrum = None  # the program, set before the tests run

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def run_thrum(cls, *words):
        return subprocess.run([CommandLine.thrum, *map(str, words)], cwd=cls.at, capture_output=True, text=True, timeout=300,
                              check=False, env={"THRUM_CACHE_DIR": str(cls.at / "cache"), "PATH": "/usr/bin:/bin"})

    @classmethod
    def run_ok(cls, *words):
        run = cls.run_thrum(*words)
        assert run.returncode == 0, f"{words}: {run.returncode}\n{run.stdout}\n{run.stderr}"
        return run.stdout

    def assert_rejected(self, code, *words):
        """The error message when it exits with `code`."""
        run = self.run_thrum(*words)
        self.assertEqual(run.returncode, code, f"{words}\n{run.stdout}\n{run.stderr}")
        self.assertTrue(run.stderr.startswith("thrum: "), run.stderr)
        return run.stderr

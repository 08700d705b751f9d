# SPDX-License-Identifier: MIT
"""Input of a new user: typos are named with a suggestion, contradictions are rejected, nothing is silently ignored.

usage: usage_test.py PATH_OF_THRUM SCENES_FOLDER
"""
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import unittest

from command_line import CommandLine

SCENES = None
SMALL = ["--set", "outputs.poster=false", "--set", "outputs.page=false", "--quiet"]


class Usage(CommandLine):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_ok("mesh", "shape", "box", "--size", "0.3,0.2,0.1", "--edge", "0.05", "-o", "block.obj")
        for name, velocity in (("still", "[0, 0, 0]"), ("fast", "[3, 0, 0]")):
            cls.run_ok("run", SCENES / "hello.json", "-o", name, "--duration", "0.2", *SMALL,
                       "--set", f"bodies.box.velocity={velocity}")

    def assert_rejected(self, code, *words):
        return super().assert_rejected(code, *words).splitlines()[0]

    def test_commands_that_messages_name_exist(self):
        named = set()
        for file in [*(SCENES.parent / "thrum").rglob("*.cpp"), *(SCENES.parent / "apps").rglob("*.cpp")]:
            named.update(re.findall(r"'thrum ([a-z]+(?: [a-z]+)?)", file.read_text()))
        self.assertIn("mesh repair", named)
        for command in sorted(named):
            with self.subTest(command):
                self.assertNotIn("has no command", self.run_thrum(*command.split()).stderr)

    def test_settings_that_nothing_reads_are_reported(self):
        run = self.run_thrum("check", SCENES / "hello.json", "--set", "stepper.impulse.slop=0")
        self.assertEqual(run.returncode, 0)
        self.assertIn("--set stepper.impulse.slop is not used: stepper.kind is constraint.", run.stdout + run.stderr)

    def test_a_mistyped_command_is_named(self):
        self.assertEqual(self.assert_rejected(2, "mseh", "info", "x"), "thrum: 'thrum' has no command 'mseh'; did you mean 'mesh'?")
        self.assertEqual(self.assert_rejected(2, "mesh", "inf", "x"),
                         "thrum: 'thrum mesh' has no command 'inf'; did you mean 'info'?")
        self.assertIn("'thrum mesh shape' has no command 'tabel'; did you mean 'table'?",
                      self.assert_rejected(2, "mesh", "shape", "tabel", "-o", "x.obj"))
        self.assertIn("did you mean 'show'?", self.assert_rejected(2, "modes", "shwo", "block.npz"))
        self.assertIn("needs a command: info, repair", self.assert_rejected(2, "mesh"))
        self.assertIn("has no command 'zzzzzz'.", self.assert_rejected(2, "zzzzzz"))

    def test_a_command_that_does_not_exist_has_no_help(self):
        for words in (["bake", "--help"], ["--help", "bake"], ["bake", "--quiet", "-h"], ["bake", "--version"]):
            self.assertIn("'thrum' has no command 'bake'", self.assert_rejected(2, *words))
        self.assertIn("'thrum mesh' has no command 'inf'; did you mean 'info'?",
                      self.assert_rejected(2, "mesh", "inf", "--help"))
        self.assertIn("'thrum mesh shape' has no command 'tabel'", self.assert_rejected(2, "mesh", "shape", "tabel", "-h"))

    def test_every_command_has_help(self):
        def commands(*words):
            lines = self.run_ok(*words, "--help").splitlines()
            start = lines.index("Subcommands:") + 1 if "Subcommands:" in lines else len(lines)
            yield words
            for line in lines[start:]:
                if not line.strip():
                    break
                if re.match(r"  \w", line):
                    yield from commands(*words, line.split()[0].rstrip(","))  # aliases follow
        found = list(commands())
        self.assertIn(("mesh", "shape", "table"), found)
        self.assertGreater(len(found), 20)

    def test_a_mistyped_option_is_named(self):
        for words in (["--raduis", "0.1"], ["--raduis=0.1"]):
            self.assertEqual(self.assert_rejected(2, "mesh", "shape", "sphere", *words),
                             "thrum: 'thrum mesh shape sphere' has no option --raduis; did you mean '--radius'?")
        self.assertIn("does not expect 'b.obj'", self.assert_rejected(2, "mesh", "info", "block.obj", "b.obj"))

    def test_compare_of_different_runs_exits_with_1(self):
        run = self.run_thrum("compare", "still", "fast")
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        self.assertEqual(len(run.stdout.splitlines()), 1)
        self.assertIn("diverge at 0 s (frame 0): all bodies are then at the same places but move at other velocities", run.stdout)
        self.assertRegex(run.stdout, r"at 0\.2\d* s: the farthest body is then '\S+', [\d.e-]+ m apart\.\n$")
        self.assertIn("the same", self.run_ok("compare", "fast", "fast"))

    def decays(self, *words):
        self.run_ok("modes", "block.obj", "--modes", "2", "--spacing", "0.05", "-o", "d.npz", *words)
        self.run_ok("modes", "export", "d.npz", "-o", "d.csv")
        rows = [line.split(",") for line in (self.at / "d.csv").read_text().splitlines()]
        return [float(row[rows[0].index(next(n for n in rows[0] if n.startswith("decay")))]) for row in rows[1:]]

    def test_each_damping_value_is_set_separately(self):
        # Rayleigh: the decay is alpha / 2 + beta omega^2 / 2.
        steel = self.decays("--material", "steel")  # alpha 5
        more = self.decays("--material", "steel", "--alpha", "50")
        none = self.decays("--material", "steel", "--alpha", "0")
        for a, b, c in zip(steel, more, none):
            self.assertAlmostEqual(b - a, 22.5, delta=1e-4 * b)
            self.assertAlmostEqual(a - c, 2.5, delta=1e-4 * a)
        for a in self.decays("--material", "steel", "--beta", "0"):
            self.assertAlmostEqual(a, 2.5, delta=1e-6)

    def test_contradicting_or_negative_damping_is_rejected(self):
        arguments = ("modes", "block.obj", "--material", "wood", "--spacing", "0.05")
        self.assertIn("expected a number of 0 or more", self.assert_rejected(2, *arguments, "--alpha", "-5"))
        self.assert_rejected(2, *arguments, "--beta", "-1")
        self.assert_rejected(2, *arguments, "--loss-factor", "-1")
        self.assertIn("use one of them", self.assert_rejected(2, *arguments, "--alpha", "3", "--loss-factor", "0.01"))

    def test_young_keeps_the_ratio_of_the_material(self):
        table = lambda *words: re.findall(r"^ +\d+ +([\d.]+) +", self.run_ok(
            "modes", "block.obj", "--spacing", "0.05", "--modes", "3", *words), re.MULTILINE)
        steel = table("--material", "steel")  # 2e11 Pa, 0.29
        self.assertEqual(table("--material", "steel", "--young", "2e11"), steel)
        self.assertEqual(table("--density", "7850", "--young", "2e11", "--poisson", "0.29"), steel)
        self.assertNotEqual(table("--material", "steel", "--poisson", "0.1"), steel)

    def test_decimal_points_of_frequencies_are_aligned(self):
        out = self.run_ok("modes", "block.obj", "--spacing", "0.05", "--modes", "6", "--material", "steel")
        rows = [line for line in out.splitlines() if re.match(r" +\d+ +[\d.]+ ", line)]
        ends = {re.match(r" +\d+ +([\d.]+)", row).end() for row in rows}
        points = {re.match(r" +\d+ +\d+", row).end() for row in rows}
        self.assertEqual((len(rows), len(ends), len(points)), (6, 1, 1), out)

    def test_open_and_empty_meshes_are_rejected(self):
        (self.at / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.assertIn("not closed (3 open edges)", self.assert_rejected(1, "mesh", "tets", "open.obj", "-o", "x.msh"))
        (self.at / "empty.obj").write_text("v 0 0 0\n")
        self.assertIn("no triangles, only 1 vertex", self.assert_rejected(1, "mesh", "info", "empty.obj"))

    def test_too_short_edges_are_rejected_with_a_suggestion(self):
        message = self.assert_rejected(1, "mesh", "shape", "box", "--edge", "1e-5", "-o", "x.obj")
        self.assertIn("about 1.4e+11 triangles", message)
        self.assertIn("Use 0.026 m for about 20000 triangles", message)

    def test_shapes_have_the_names_of_scene_files_and_short_ones(self):
        (self.at / "heights.txt").write_text("1 1\n1 2\n")
        for name in ("height_field", "heightfield"):
            self.run_ok("mesh", "shape", name, "--heights", "heights.txt", "-o", "ground.obj")
        for name in ("convex_hull", "hull"):
            self.run_ok("mesh", "shape", name, "--points", "block.obj", "-o", "hull.obj")

    def test_warnings_come_before_the_run(self):
        (self.at / "deep.json").write_text("""{"duration": 0.1, "bodies": [
            {"name": "a", "shape": {"kind": "box"}}, {"name": "b", "shape": {"kind": "box"}, "position": [0.5, 0, 0]}]}""")
        checked = self.run_ok("check", "deep.json")
        self.assertIn("'b' starts 0.5 m deep inside 'a'", checked)
        self.assertIn("check the warnings above", checked)
        run = self.run_thrum("run", "deep.json", "-o", "deep")
        self.assertEqual(run.returncode, 0)
        self.assertIn("warning: deep.json:2:54: bodies[1] 'b' starts 0.5 m deep inside 'a'", run.stderr)
        self.assertEqual(self.run_thrum("run", "deep.json", "-o", "deep", "--quiet").stderr, "")

    def test_extensions_and_folders_are_checked_first(self):
        # The inputs do not exist, which is not reported: the output file is checked first.
        for words in (["export", "nothere", "--png", "x.gif"], ["export", "nothere", "--glb", "x.txt"],
                      ["export", "nothere", "--mp4", "x.avi"], ["mesh", "sdf", "nothere.obj", "--picture", "p.jpg"],
                      ["mesh", "distance", "nothere.obj", "--from", "0,0,0", "-o", "x.csv"],
                      ["mesh", "tets", "nothere.obj", "-o", "x.obj"], ["mesh", "repair", "nothere.obj", "-o", "x"],
                      ["modes", "nothere.obj", "--material", "wood", "-o", "b.txt"],
                      ["modes", "show", "nothere.npz", "-o", "b.gif"], ["mesh", "shape", "sphere", "-o", "x.xyz"],
                      ["fit", "block.obj", "-o", "x.gif"]):
            self.assertRegex(self.assert_rejected(1, *words), r"cannot be written: (its extension is|it has no extension).*; use \.")
        self.assertIn("the folder no/such does not exist",
                      self.assert_rejected(1, "modes", "nothere.obj", "--material", "wood", "-o", "no/such/b.npz"))
        (self.at / "folder.npz").mkdir()
        self.assertIn("it is a folder", self.assert_rejected(1, "modes", "nothere.obj", "--material", "wood", "-o", "folder.npz"))
        if os.geteuid() != 0:
            (self.at / "locked").mkdir(mode=0o500)
            self.assertIn("Permission denied", self.assert_rejected(1, "export", "nothere", "--csv", "locked/x.csv"))

    def test_contradicting_run_options_are_rejected(self):
        scene = SCENES / "hello.json"
        self.assertIn("excludes", self.assert_rejected(2, "run", scene, "--compare", "--no-response"))
        self.assertIn("no other settings", self.assert_rejected(2, "run", "--resume", "still", "--duration", "3"))

    def test_a_comparison_without_ringing_bodies_is_noted(self):
        run = self.run_thrum("run", SCENES / "hello.json", "--compare", "-o", "both", "--duration", "0.1", *SMALL)
        if "built without pages" in run.stderr:
            self.skipTest("no pages in this build")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("note: no body rings in this scene", run.stderr)
        for words in (["export", "both", "--csv", "e.csv"], ["compare", "both", "still"]):
            self.assertIn("both contains two runs: give both/with or both/without", self.assert_rejected(1, *words))

    def test_export_reports_written_files(self):
        out = self.run_ok("export", "still", "--glb", "m.glb", "--npz", "m.npz", "--csv", "m.csv", "--strip", "s.png",
                          "--count", "2", "--size", "64,48")
        for line in (r"m\.glb: \d+ frames of 4 bodies", r"m\.npz: \d+ frames", r"m\.csv: \d+ events?",
                     r"s\.png: 2 frames"):
            self.assertRegex(out, line)

    def test_times_past_the_end_are_reported(self):
        run = self.run_thrum("export", "still", "--png", "m.png", "--time", "99", "--size", "64,48")
        self.assertEqual(run.returncode, 0)
        self.assertIn("note: --time: 99 s is beyond the end; the last frame, at 0.2", run.stderr)
        self.assertEqual(self.run_thrum("export", "still", "--png", "m.png", "--time", "0.1", "--size", "64,48").stderr, "")
        self.assertIn("such as 640,360", self.assert_rejected(2, "export", "still", "--png", "m.png", "--size", "640"))

    def test_a_finished_run_is_not_changed(self):
        files = lambda: {f.name: f.stat().st_mtime_ns for f in (self.at / "still").iterdir()}
        before = files()
        self.assertIn("already finished", self.run_ok("run", "--resume", "still"))
        self.assertTrue(json.loads(self.run_ok("run", "--resume", "still", "--json"))["finished"])
        self.assertEqual(files(), before)
        # Killed after its last step, before its files were written.
        shutil.copytree(self.at / "still", self.at / "killed")
        (self.at / "killed" / "run.json").unlink()
        self.assertNotIn("already", self.run_ok("run", "--resume", "killed"))
        self.assertTrue((self.at / "killed" / "run.json").exists())

    def test_view_without_a_run_is_rejected(self):
        (self.at / "nothing").mkdir()
        self.assertIn("There is no run in nothing", self.assert_rejected(1, "view", "nothing"))
        self.assertIn("65535", self.assert_rejected(2, "view", "still", "--port", "99999"))

    def test_the_summary_is_on_its_own_line(self):
        # On a terminal, where progress is redrawn.
        try:
            leader, follower = pty.openpty()
        except OSError:
            self.skipTest("no terminal available (check that /dev/pts is mounted)")
        run = subprocess.Popen([self.thrum, "run", str(SCENES / "hundred.json"), "-o", "t", "--duration", "3", *SMALL[:-1]],
                               cwd=self.at, stdout=follower, stderr=follower,
                               env={"THRUM_CACHE_DIR": str(self.at / "cache"), "PATH": "/usr/bin:/bin", "TERM": "dumb"})
        os.close(follower)
        out = b""
        try:
            while part := os.read(leader, 65536):
                out += part
        except OSError:
            pass  # the end of a terminal
        self.assertEqual(run.wait(timeout=300), 0)
        os.close(leader)
        lines = [line.split("\r")[-1] for line in out.decode().replace("\r\n", "\n").split("\n")]
        self.assertTrue(any(line.startswith("t: 3 s in") for line in lines), lines)

    def test_other_messages(self):
        self.assertRegex(self.run_ok("mesh", "shape", "mug", "-o", "mug.obj"), r", [\d.]+ x [\d.]+ x [\d.]+ mm, volume")
        self.assertIn("its only region is '0'",
                      self.assert_rejected(1, "modes", "block.obj", "--material", "wood", "--region", "top=steel"))
        self.assertTrue(self.assert_rejected(1, "check", SCENES / "hello.json", "--set", "bodies.grund.mass=2").endswith("?"))
        (self.at / "one.json").write_text('{"bodies": [{"name": "a", "shape": {"kind": "sphere", "radius": 0.1}, "mass": 48}]}')
        self.assertIn("  masses    48 kg each\n", self.run_ok("check", "one.json"))
        self.run_ok("modes", "block.obj", "--material", "wood", "--modes", "2", "--spacing", "0.05", "-o", "s.npz")
        run = self.run_thrum("modes", "export", "s.npz", "-o", "s.csv", "--strike", "9,9,9")
        self.assertEqual(run.returncode, 0)
        self.assertIn("note: --strike is 15", run.stderr)
        # A result without modes is no result.
        self.assertIn("--max-frequency", self.assert_rejected(1, "modes", "block.obj", "--material", "wood", "--spacing", "0.05",
                                                              "--max-frequency", "1e-9", "--quiet"))
        self.assertIn("nothing to play", self.assert_rejected(1, "modes", "export", "s.npz", "-o", "s.pd", "--scale", "1e-3"))
        self.assertFalse((self.at / "s.pd").exists())
        # An open sheet rings with a thickness, as for thrum modes.
        (self.at / "sheet.obj").write_text("v 0 0 0\nv 0.2 0 0\nv 0.2 0.2 0\nv 0 0.2 0\nf 1 2 3\nf 1 3 4\n")
        self.assert_rejected(1, "strike", "sheet.obj", "-o", "sheet.wav", "--quiet")
        self.run_ok("strike", "sheet.obj", "--thickness", "0.002", "--modes", "5", "--duration", "0.2", "-o", "sheet.wav", "--quiet")
        self.assertTrue((self.at / "sheet.wav").exists())
        # What cannot be meant is rejected, what is unusual is told.
        for wrong in (["--speed", "1000"], ["--speed", "0"], ["--speed", "nan"], ["--distance", "1e9"], ["--distance", "1e-9"],
                      ["--mass", "1e9"], ["--radius", "1e9"], ["--interval", "1e9"]):
            self.assert_rejected(2, "strike", "s.npz", "-o", "s.wav", *wrong)
        for option in ("--at", "--to"):
            far = self.assert_rejected(1, "strike", "s.npz", "-o", "far.wav", option, "9,9,9")
            self.assertIn(f"{option} 9,9,9 is ", far)
            self.assertIn("between", far)  # where the body is
        # Before the modes are computed, which this open sheet without a thickness has not.
        self.assertIn("--at 9,9,9 is ", self.assert_rejected(1, "strike", "sheet.obj", "-o", "far.wav", "--at", "9,9,9"))
        self.assertFalse((self.at / "far.wav").exists())
        short = ["strike", "s.npz", "--duration", "0.1", "-o", "s.wav"]
        self.assertIn("away from the surface", self.run_thrum(*short, "--at", "0,0,0").stderr)
        self.assertIn("elastic", self.run_thrum(*short, "--speed", "50").stderr)
        self.assertIn("inside the body", self.run_thrum(*short, "--distance", "0.05").stderr)
        self.assertEqual(self.run_thrum(*short).stderr, "")
        # The error bar of directional radiation is printed.
        struck = ["strike", "s.npz", "--modes", "1", "--duration", "0.1", "-o", "s.wav"]
        plain = self.run_ok(*struck)
        self.assertNotIn("residual", plain)
        self.assertIn("1 strike of wood", plain)  # as in the modal file
        self.assertRegex(self.run_ok(*struck, "--radiation", "equivalent_sources"),
                         r"radiation by equivalent_sources: residual \d[\d.]* on average, at most \d[\d.]*; \d of 1 modes")

    def test_sound_is_checked_before_any_work(self):
        self.run_ok("run", SCENES / "bar_taps.json", "-o", "taps", "--duration", "0.2", "--set", "sound.modes=3", "--quiet")
        heard = self.at / "taps" / "sound.wav"
        heard.unlink()
        (self.at / "s.obj").write_text((self.at / "block.obj").read_text())
        for option in ("--spectrogram", "--waveform"):
            for file, reason in (("a.jpg", "its extension is '.jpg'"), ("nowhere/a.png", "the folder nowhere does not exist")):
                self.assertIn(reason, self.assert_rejected(1, "sound", "taps", option, file))
                self.assertFalse(heard.exists())
                self.assertIn(reason, self.assert_rejected(1, "strike", "s.obj", "-o", "unheard.wav", option, file))
                self.assertFalse((self.at / "unheard.wav").exists())
        # One picture would replace the other.
        both = ("--spectrogram", "both.png", "--waveform", "./both.png")
        for command in (("sound", "taps"), ("strike", "s.obj", "-o", "unheard.wav")):
            self.assertIn("--waveform", self.assert_rejected(1, *command, *both))
        self.assertFalse(heard.exists() or (self.at / "unheard.wav").exists() or (self.at / "both.png").exists())
        (self.at / "empty.obj").write_text("")
        for command in ("strike", "modes"):
            message = self.assert_rejected(1, command, "empty.obj", "--material", "steel", "-o", "unheard.wav" if command == "strike" else "s.npz")
            self.assertIn("has no triangles", message)
            self.assertNotIn("inf", message)
        # Years of strikes are no matter of resolution.
        message = self.assert_rejected(1, "strike", "s.obj", "-o", "unheard.wav", "--count", "10000", "--interval", "600")
        self.assertIn("10000 strikes every 600 s make 1666 h 30 min of sound", message)
        self.assertIn("--interval", message)
        self.assertNotIn("resolution", message)
        self.assertIn("peak", self.run_ok("sound", "taps", "--spectrogram", "a.png"))
        self.assertTrue(heard.exists() and (self.at / "a.png").exists())


if __name__ == "__main__":
    CommandLine.thrum = str(pathlib.Path(sys.argv.pop(1)).resolve())
    SCENES = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

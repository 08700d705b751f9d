# SPDX-License-Identifier: MIT
"""Sound on the command line: no file of anyone else is touched, nothing goes on for ever, each message says what to do.

usage: sound_test.py PATH_OF_THRUM SCENES
"""
import json
import pathlib
import shutil
import sys
import unittest

from command_line import CommandLine

TABLE = "time,a,b,speed,impulse,duration,level\n"


class Sound(CommandLine):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_ok("run", SCENES / "bar_taps.json", "-o", "taps", "--duration", "0.2", "--set", "sound.modes=3", "--quiet")

    def setUp(self):
        self.taps = self.at / self.id().rsplit(".", 1)[-1]
        shutil.copytree(self.at / "taps", self.taps)

    def test_stems_leave_all_other_files(self):
        for number, output in enumerate([[], ["-o", self.taps / "take.wav"]]):
            folder = self.taps / ("stems" if number == 0 else "take_stems")
            (folder / "own").mkdir(parents=True)
            for name in ("mix.als", "own/a.wav", "someone.wav"):
                (folder / name).write_text("mine")
            self.run_ok("sound", self.taps, *output, "--quiet")
            made = json.loads(self.run_ok("sound", self.taps, *output, "--stems", "--json"))["files"]
            stems = [pathlib.Path(file) for file in made if pathlib.Path(file).parent == folder]
            self.assertTrue(stems)
            for name in ("mix.als", "own/a.wav", "someone.wav"):
                self.assertEqual((folder / name).read_text(), "mine")
            # Those of a body that is muted now are of the sound before.
            muted = [word for stem in stems for word in ("--mute", stem.stem)]
            self.run_ok("sound", self.taps, *output, "--stems", *muted, "--quiet")
            self.assertFalse(any(stem.exists() for stem in stems))
            self.assertEqual((folder / "mix.als").read_text(), "mine")
        (self.taps / "file_stems").write_text("mine")
        self.assertIn("file_stems", self.assert_rejected(1, "sound", self.taps, "-o", self.taps / "file.wav", "--stems"))
        self.assertEqual((self.taps / "file_stems").read_text(), "mine")

    def test_a_body_that_outruns_sound_is_heard_in_bounded_time(self):
        scene = {"duration": 3, "step": 0.0037, "gravity": [0, 0, 0], "length_scale": 0.1,
                 "sound": {"modes": 3, "tail": 0.2, "air_absorption": False, "ground_reflection": 0},
                 "listener": {"kind": "mono", "position": [0, -2, 0]},
                 "bodies": [{"name": "bar", "shape": {"kind": "box", "size": [0.3, 0.03, 0.005]}, "material": "glass"}],
                 "impulses": [{"body": "bar", "time": 0.1, "impulse": [0, 0, 20000], "position": [-0.148, 0.01, -0.0025]}]}
        (self.at / "fast.json").write_text(json.dumps(scene))
        run = self.run_thrum("run", "fast.json", "-o", "fast")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn('Body "bar" moves at up to', run.stderr)
        self.assertIn("m/s its sound is not right", run.stderr)
        again = self.run_thrum("sound", "fast", "--json")
        self.assertLess(json.loads(again.stdout)["seconds"], 3.3)
        # One that overflows is told so.
        scene["impulses"][0]["impulse"] = [0, 0, 1e300]
        (self.at / "faster.json").write_text(json.dumps(scene))
        message = self.assert_rejected(1, "run", "faster.json", "-o", "faster", "--quiet")
        self.assertIn("impulse", message)
        self.assertIn("gain", message)

    def test_a_table_replaces_none_but_a_table_of_impacts(self):
        before = {file.name: file.read_bytes() for file in self.taps.iterdir() if file.is_file()}
        for name in ("energy", "events"):
            self.run_ok("sound", self.taps, "-o", self.taps / f"{name}.wav", "--quiet")
        made = json.loads(self.run_ok("sound", self.taps, "-o", self.taps / "sound.flac", "--set", "sound.tail=0.5", "--json"))
        self.assertEqual([pathlib.Path(file).name for file in made["files"]], ["sound.flac", "sound_impacts.csv"])
        for name, data in before.items():
            self.assertEqual((self.taps / name).read_bytes(), data, name)
        self.assertTrue((self.taps / "sound_impacts.csv").read_text().startswith(TABLE))
        # Again over its own table; not over one of someone else.
        self.run_ok("sound", self.taps, "-o", self.taps / "sound.flac", "--quiet")
        (self.taps / "kit_impacts.csv").write_text("drum,price\n")
        message = self.assert_rejected(1, "sound", self.taps, "-o", self.taps / "kit.wav")
        self.assertIn("kit_impacts.csv exists and is no table of impacts", message)
        self.assertFalse((self.taps / "kit.wav").exists())
        self.assertEqual((self.taps / "kit_impacts.csv").read_text(), "drum,price\n")
        self.assertIn("NAME_impacts.csv", self.run_ok("sound", "--help"))

    def test_directions_of_a_strike(self):
        self.run_ok("mesh", "shape", "box", "--size", "0.2,0.1,0.02", "--edge", "0.02", "-o", "block.obj")
        self.run_ok("modes", "block.obj", "--material", "glass", "--modes", "4", "-o", "block.npz", "--quiet")
        hit = ["strike", "block.npz", "--duration", "0.05", "-o", "hit.wav"]
        usual = self.run_ok(*hit, "--at", "0.06,0.02,0.01", "--direction", "1,0,-1")
        for same in ("1e300,0,-1e300", "1e-200,0,-1e-200", "5e-324,0,-5e-324"):
            self.assertEqual(self.run_ok(*hit, "--at", "0.06,0.02,0.01", "--direction", same), usual)
        for at, wrong in (("0.06,0.02,0.01", "0,0,1"), ("0.06,0.02,0.01", "1,0,0"), ("0.06,0.02,0.01", "1,0,0.01"),
                          ("0.1,0.02,0.01", "1,0,1"), ("0.1,0.02,0.01", "1,0,0"), ("0.1,0.05,0.01", "1,1,1")):
            (self.at / "hit.wav").unlink(missing_ok=True)
            message = self.assert_rejected(1, *hit, "--at", at, "--direction", wrong)
            self.assertIn("comes out of the body or goes along its surface", message)
            self.assertFalse((self.at / "hit.wav").exists())
        # At an edge and at a corner it may slide along one of the faces and strike another.
        for at, right in (("0.1,0.02,0.01", "-1,0,0"), ("0.1,0.02,0.01", "1,0,-1"), ("0.1,0.05,0.01", "1,1,-1"),
                          ("0.06,0.02,0.01", "1,0,-0.01")):
            self.run_ok(*hit, "--at", at, "--direction", right)
        # A sheet has two sides.
        (self.at / "sheet.obj").write_text("v 0 0 0\nv 0.2 0 0\nv 0.2 0.2 0\nv 0 0.2 0\nf 1 2 3\nf 1 3 4\n")
        for right in ("0,0,1", "0,0,-1"):
            self.run_ok("strike", "sheet.obj", "--thickness", "0.004", "--modes", "3", "--duration", "0.05", "-o", "hit.wav",
                        "--at", f"0.06,0.08,{-0.002 if right == '0,0,1' else 0.002}", "--direction", right)

    def test_options_of_a_strike(self):
        self.run_ok("mesh", "shape", "box", "--size", "0.2,0.1,0.02", "--edge", "0.02", "-o", "plate.obj")
        self.run_ok("modes", "plate.obj", "--material", "glass", "--modes", "4", "-o", "plate.npz", "--quiet")
        hit = ["strike", "plate.npz", "--duration", "0.05", "-o", "hit.wav"]
        self.assertIn("--full-scale", self.assert_rejected(2, *hit, "--full-scale", "2", "--normalise"))
        self.assertIn("--spacing", self.assert_rejected(1, *hit, "--spacing", "0.01"))
        self.assertIn("--output", self.assert_rejected(2, "strike", "plate.npz", "-o", ""))
        message = self.assert_rejected(1, "strike", "plate.obj", "--material", "unobtainium", "-o", "hit.wav")
        self.assertIn("'unobtainium'", message)
        self.assertNotIn("Young", message)
        self.assertIn("thrum modes", message)
        for words in (["--at", "0,0,0"], ["--speed", "50"], ["--distance", "0.05"]):
            self.assertIn("warning: ", self.run_thrum(*hit, *words).stderr)
        clipped = self.run_thrum(*hit, "--full-scale", "1e-6")
        self.assertIn("warning: ", clipped.stdout + clipped.stderr)

    def test_settings_of_sound_have_bounds(self):
        for setting in ("sound.full_scale=1e300", "sound.roughness=1e9", "sound.rolling=1e300",
                        "sound.contact_damping_scale=1e300", "bodies.bar.gain=1e300", "materials.steel.gain=1e30"):
            message = self.assert_rejected(1, "sound", self.taps, "--set", setting)
            self.assertIn(f"--set {setting}: ", message)
            self.assertIn(" 0 ", message)
        for key in ("forward", "microphones[0].axis", "path[0].forward"):
            for number in ("1e200", "1e-200"):
                value = {"forward": f"listener.forward=[{number},0,0]",
                         "microphones[0].axis": 'listener.microphones=[{"axis": [%s,0,0]}]' % number,
                         "path[0].forward": 'listener.path=[{"time": 0, "position": [0,0,1], "forward": [%s,0,0]}]' % number}[key]
                message = self.assert_rejected(1, "sound", self.taps, "--set", value)
                self.assertIn(f"listener.{key} is too {'long' if number == '1e200' else 'short'} for a direction", message)
                self.assertIn("[1, 0, 0]", message)

    def test_contradictions_and_folders(self):
        self.assertIn("full_scale", self.assert_rejected(2, "sound", self.taps, "--normalise", "--set", "sound.full_scale=2"))
        self.assertIn("--output", self.assert_rejected(2, "sound", self.taps, "-o", ""))
        (self.at / "empty").mkdir()
        for folder, reason in (("nofolder", "does not exist"), ("empty", "has no recording"), (SCENES / "bar_taps.json", "is a file")):
            self.assertIn(f"{folder} is no run folder: it {reason}", self.assert_rejected(1, "sound", folder))
        (self.taps / "contacts").write_bytes(b"")
        message = self.assert_rejected(1, "sound", self.taps)
        self.assertIn("is empty. Run the scene again.", message)
        (self.taps / "contacts").unlink()
        message = self.assert_rejected(1, "sound", self.taps)
        self.assertIn("is missing. Run the scene again.", message)
        self.assertNotIn("--sound", message)

    def test_normalise_turns_sound_on(self):
        scene = {"duration": 0.1, "sound": False, "length_scale": 0.1, "bodies": [
            {"name": "ball", "shape": {"kind": "sphere", "radius": 0.05}, "material": "steel"}]}
        (self.at / "silent.json").write_text(json.dumps(scene))
        self.run_ok("run", "silent.json", "-o", "silent", "--duration", "0.1", "--normalise", "--quiet")
        self.assertTrue((self.at / "silent" / "sound.wav").exists())

    def test_damaged_parts_name_what_makes_them_again(self):
        remedy = f"'thrum sound {self.taps}' makes it again"
        for part in ("sources.npz", "sound.wav"):
            whole = (self.taps / part).read_bytes()
            (self.taps / part).write_bytes(whole[:20])
            message = self.assert_rejected(1, "export", self.taps, "--page", "page.html")
            self.assertIn(str(self.taps / part), message)
            self.assertIn(remedy, message)
            if part == "sound.wav" and shutil.which("ffmpeg", path="/usr/bin:/bin"):
                self.assertIn(remedy, self.assert_rejected(1, "export", self.taps, "--mp4", "film.mp4"))
            (self.taps / part).write_bytes(whole)
        (self.taps / "sound.wav").unlink()
        if shutil.which("ffmpeg", path="/usr/bin:/bin"):
            film = self.run_thrum("export", self.taps, "--mp4", "film.mp4")
            self.assertIn("note: the film has no sound", film.stderr)
            self.assertIn(remedy, film.stderr)

    def test_what_is_too_far_away_names_the_tail(self):
        far = self.run_thrum("sound", self.taps, "--set", "listener.position=[0,9000,0]", "--set", "sound.tail=1")
        self.assertIn("Raise sound.tail", far.stderr)


if __name__ == "__main__":
    CommandLine.thrum = str(pathlib.Path(sys.argv.pop(1)).resolve())
    SCENES = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

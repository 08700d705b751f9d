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

    def bodies(self):
        return [body["name"] for body in json.loads((SCENES / "bar_taps.json").read_text())["bodies"]]

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


if __name__ == "__main__":
    CommandLine.thrum = str(pathlib.Path(sys.argv.pop(1)).resolve())
    SCENES = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

# SPDX-License-Identifier: MIT
"""Runs that are killed, full disks, folders that cannot be written, meshes that are missing: no existing data are lost.

usage: safety_test.py PATH_OF_THRUM SCENES_FOLDER [--kills N]
"""
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

THRUM = None
SCENES = None
KILLS = 6
SMALL = ["--set", "outputs.poster_width=64", "--set", "outputs.poster_height=48", "--duration", "2.5"]


def thrum(*words, **options):
    return subprocess.run([THRUM, *map(str, words)], capture_output=True, text=True, timeout=300, check=False, **options)


def check_files_are_complete(test, folder):
    """Every file with its final name is complete; unfinished files have other names."""
    for file in folder.iterdir():
        data = file.read_bytes()
        if file.name.startswith(".") or file.name.endswith(".old"):
            continue
        if file.suffix == ".json":
            json.loads(data)
        elif file.suffix == ".png":
            test.assertTrue(data.startswith(b"\x89PNG") and data.endswith(b"IEND\xaeB`\x82"), file)
        elif file.suffix == ".glb":
            test.assertEqual(struct.unpack("<I", data[8:12])[0], len(data), file)
        elif file.suffix == ".html":
            test.assertTrue(data.rstrip().endswith(b"</html>"), file)
        elif file.suffix == ".csv":
            test.assertTrue(data.endswith(b"\n"), file)


class Safety(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def assert_rejected(self, *words, **options):
        run = thrum(*words, **options)
        self.assertEqual(run.returncode, 1, f"{words}\n{run.stdout}\n{run.stderr}")
        self.assertTrue(run.stderr.startswith("thrum: "), run.stderr)
        self.assertLess(len(run.stderr.splitlines()), 6)
        return run.stderr

    # A recording cut at every length, also before its first frame, is heard as far as it goes or rejected; a listener
    # far away, a scale that is hardly a number and settings that sound does not have are rejected.
    def test_sound_of_damaged_runs_and_wrong_settings(self):
        scene = self.at / "scene.json"
        scene.write_text('{"duration": 0.3, "bodies": [{"shape": {"kind": "plane"}, "motion": "fixed"}, {"name": "box",'
                         ' "shape": {"kind": "box", "size": [0.1, 0.1, 0.1]}, "material": "steel",'
                         ' "position": [0, 0, 0.07]}], "length_scale": 0.1}')
        run = self.at / "run"
        made = thrum("run", scene, "--sound", "-o", run)
        self.assertEqual(made.returncode, 0, made.stderr)
        wav = self.at / "again.wav"
        table = (run / "sound.csv").read_bytes()
        again = thrum("sound", run, "-o", wav)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(wav.read_bytes(), (run / "sound.wav").read_bytes())
        self.assertEqual(thrum("sound", run, "-o", wav, "--set", "sound.min_impact_speed=100").returncode, 0)
        self.assertEqual((run / "sound.csv").read_bytes(), table)
        for setting in ["listener.position=[1e30,0,0]", "listener.spacing=1e9", "sound.full_scale=1e-300", "duration=3",
                        "sound=false"]:
            self.assertIn(f"--set {setting}: ", self.assert_rejected("sound", run, "-o", wav, "--set", setting))
        for setting, word in [("sound.sample_rate=1", "8000"), ("sound.mods=3", "modes"), ("listener.kind=mno", "mono")]:
            text = self.assert_rejected("sound", run, "-o", wav, "--set", setting)
            self.assertIn(f"--set {setting}: ", text)
            self.assertIn(word, text)
        self.assertIn("boxx", self.assert_rejected("sound", run, "-o", wav, "--mute", "boxx"))
        muted = thrum("sound", run, "-o", wav, "--mute", "box", "--json")
        self.assertEqual(json.loads(muted.stdout)["peak"], 0, muted.stderr)
        loud = thrum("sound", run, "-o", wav, "--normalise", "--json")
        self.assertNotEqual(json.loads(loud.stdout)["full_scale"], json.loads(thrum("sound", run, "-o", wav, "--json").stdout)["full_scale"])
        # Found before the simulation, and by check.
        for wrong in ["listener.kind=microphones", "listener.position=[1e9,0,0]", "listener.forward=[0,0,0]",
                      "listener.hrtf=nowhere.sofa", "sound.full_scale=1e-9"]:
            for command in ["check", "run"]:
                sounding = [] if command == "check" else ["--sound", "-o", self.at / "never"]
                text = self.assert_rejected(command, scene, "--set", wrong, *sounding)
                self.assertIn(wrong.split("=")[0] if "microphones" not in wrong else "listener.microphones", text)
        self.assertFalse((self.at / "never").exists())
        bad = self.at / "bad.sofa"
        bad.write_bytes(b"no set at all")
        self.assertIn("bad.sofa", self.assert_rejected("check", scene, "--set", "sound=true", "--set", "listener.kind=binaural",
                                                       "--set", f"listener.hrtf={bad}"))
        # Settings of the scene stay with --sound.
        named = self.at / "named.json"
        named.write_text(scene.read_text().replace('"duration"', '"sound": {"modes": 3}, "duration"'))
        few = thrum("run", named, "--sound", "--set", "sound.tail=0.1", "-o", self.at / "few")
        self.assertEqual(few.returncode, 0, few.stderr)
        self.assertLess(json.loads(thrum("sound", self.at / "few", "--json").stdout)["modes"], 4)
        whole = (run / "recording").read_bytes()
        for share in [0.02, 0.1, 0.2, 0.3, 0.5, 0.8, 0.95]:
            (run / "recording").write_bytes(whole[: int(share * len(whole))])
            cut = thrum("sound", run, "-o", wav)
            self.assertIn(cut.returncode, [0, 1], f"{share}: {cut.stderr}")
            if cut.returncode == 0:
                self.assertIn("incomplete", cut.stderr)

    def test_killed_at_any_time(self):
        scene = SCENES / "hundred.json"
        start = time.monotonic()
        whole = thrum("run", scene, "-o", self.at / "whole", "--json", *SMALL)
        length = time.monotonic() - start
        self.assertEqual(whole.returncode, 0, whole.stderr)
        expected = json.loads(whole.stdout)["final_hash"]
        moments = random.Random(5)
        resumed = 0
        for i in range(KILLS):
            folder = self.at / "killed"
            shutil.rmtree(folder, ignore_errors=True)
            run = subprocess.Popen([THRUM, "run", str(scene), "-o", str(folder), "--quiet", *SMALL],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moments.uniform(0, length))
            run.send_signal(signal.SIGKILL)
            run.wait()
            if not (folder / "checkpoint").exists():
                continue  # it had not begun
            check_files_are_complete(self, folder)
            table = thrum("export", folder, "--csv", self.at / "events.csv", "--npz", self.at / "motion.npz")
            self.assertEqual(table.returncode, 0, table.stderr)
            again = thrum("run", "--resume", folder, "--json")
            self.assertEqual(again.returncode, 0, f"kill {i}: {again.stderr}")
            self.assertEqual(json.loads(again.stdout)["final_hash"], expected, f"kill {i}")
            same = thrum("compare", folder, self.at / "whole")
            self.assertEqual(same.returncode, 0, f"kill {i}: {same.stdout}")
            check_files_are_complete(self, folder)
            resumed += 1
        print(f"{resumed} of {KILLS} kills hit the run, all resumed to {expected}", file=sys.stderr)
        self.assertGreater(resumed, 0)

    def test_two_processes_in_one_folder(self):
        folder = self.at / "run"
        words = [THRUM, "run", str(SCENES / "hundred.json"), "-o", str(folder), "--quiet", *SMALL]
        first = subprocess.Popen([*words, "--set", "duration=1000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not (folder / "checkpoint").exists():
                self.assertIsNone(first.poll())
                time.sleep(0.01)
            for second in (["run", SCENES / "hello.json", "-o", folder], ["run", "--resume", folder]):
                message = self.assert_rejected(*second)
                self.assertIn(f"process {first.pid} is writing into it", message)
                self.assertIn("another folder", message)
            self.assertIsNone(first.poll())  # it was not disturbed
            self.assertTrue((folder / "recording").exists())
            self.assertFalse((folder / "recording.old").exists())
        finally:
            first.send_signal(signal.SIGKILL)
            first.wait()
        # The lock has died with its process.
        self.assertEqual(thrum("run", SCENES / "hello.json", "-o", folder, "--quiet", *SMALL).returncode, 0)
        self.assertFalse((folder / ".lock").exists())

    def test_wrong_checkpoints_with_right_checksums_are_rejected(self):
        folder = self.at / "run"
        first = subprocess.Popen([THRUM, "run", str(SCENES / "hello.json"), "-o", str(folder), "--quiet", *SMALL,
                                  "--set", "duration=1000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (folder / "checkpoint").exists():
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
        first.wait()
        checkpoint = folder / "checkpoint"
        data = checkpoint.read_bytes()
        start = 16  # after eight letters, the version and the checksum
        self.assertEqual(struct.unpack("<I", data[12:start])[0], zlib.crc32(data[start:]))
        places = random.Random(7)
        for bad in (b"\xff" * 8, struct.pack("<d", 1e300), struct.pack("<d", float("nan")), b"\x01" * 8):
            for _ in range(8):
                at = places.randrange(start, len(data) - 8)
                payload = data[start:at] + bad + data[at + 8:]
                checkpoint.write_bytes(data[:12] + struct.pack("<I", zlib.crc32(payload)) + payload)
                self.assert_rejected("run", "--resume", folder)

    def test_full_disk_keeps_previous_run(self):
        scene = SCENES / "hello.json"
        folder = self.at / "run"
        self.assertEqual(thrum("run", scene, "-o", folder, "--quiet", *SMALL).returncode, 0)
        before = {file.name: file.read_bytes() for file in folder.iterdir()}

        # No file may grow beyond this: writing fails as it does when the disk is full.
        def limit(size):
            def apply():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            return apply
        for size in (100, 3000, 9000, 40000, 300000):
            message = self.assert_rejected("run", scene, "-o", folder, "--quiet", "--seed", "4", *SMALL, preexec_fn=limit(size))
            self.assertIn("File too large", message)
            check_files_are_complete(self, folder)
            kept = folder / "recording.old" if (folder / "recording.old").exists() else folder / "recording"
            self.assertEqual(kept.read_bytes(), before["recording"], size)
            for name in ("events.csv", "poster.png", "index.html", "run.json"):
                if name in before and len(before[name]) > size:
                    self.assertEqual((folder / name).read_bytes(), before[name], name)
        # With free space again, the next run succeeds and leaves no temporary files.
        self.assertEqual(thrum("run", scene, "-o", folder, "--quiet", *SMALL).returncode, 0)
        self.assertEqual(sorted(before), sorted(file.name for file in folder.iterdir()))

    def test_a_full_device(self):
        if os.geteuid() != 0:
            self.skipTest("mounting needs root")
        place = self.at / "small"
        place.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=120k", "none", str(place)], capture_output=True, check=False).returncode:
            self.skipTest("mounting is not possible here")
        try:
            self.assertIn("No space left", self.assert_rejected("run", SCENES / "hello.json", "-o", place / "run", "--quiet"))
            self.assertTrue((place / "run" / "recording").exists())
            subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
            self.assertIn("Read-only", self.assert_rejected("run", SCENES / "hello.json", "-o", place / "other", "--quiet"))
            self.assertIn("Read-only", self.assert_rejected("run", SCENES / "hello.json", "-o", place / "run", "--quiet"))
            self.assertTrue((place / "run" / "recording").exists())
        finally:
            subprocess.run(["umount", str(place)], check=True)

    def test_unwritable_folders(self):
        self.assert_rejected("run", SCENES / "hello.json", "-o", "/proc/nothing", "--quiet")
        (self.at / "file").write_text("mine")
        self.assert_rejected("run", SCENES / "hello.json", "-o", self.at / "file", "--quiet")
        self.assertEqual((self.at / "file").read_text(), "mine")

    def mesh_scene(self):
        self.assertEqual(thrum("mesh", "shape", "box", "--size", "0.3,0.3,0.3", "-o", self.at / "b.obj").returncode, 0)
        scene = self.at / "s.json"
        scene.write_text('{"duration": 0.5, "outputs": {"poster": false, "page": false}, "bodies": ['
                         '{"name": "ground", "shape": {"kind": "plane"}, "motion": "fixed"},'
                         '{"name": "b", "shape": {"kind": "file", "file": "b.obj", "convex": true}, "position": [0, 0, 1]}]}')
        return scene

    def test_missing_mesh_is_named_and_previous_run_is_kept(self):
        scene = self.mesh_scene()
        self.assertEqual(thrum("run", scene, "-o", self.at / "run", "--quiet").returncode, 0)
        before = {file.name: file.read_bytes() for file in (self.at / "run").iterdir()}
        os.rename(self.at / "b.obj", self.at / "c.obj")
        self.assertIn("b.obj", self.assert_rejected("run", scene, "-o", self.at / "run", "--quiet"))
        self.assertIn("b.obj", self.assert_rejected("run", "--resume", self.at / "run"))
        self.assertEqual(before, {file.name: file.read_bytes() for file in (self.at / "run").iterdir()})

    def test_resume_rejects_changed_mesh_or_scene(self):
        scene = self.mesh_scene()
        self.assertEqual(thrum("run", scene, "-o", self.at / "run", "--quiet").returncode, 0)
        self.assertEqual(thrum("run", "--resume", self.at / "run", "--quiet").returncode, 0)
        thrum("mesh", "shape", "box", "--size", "0.3,0.3,0.4", "-o", self.at / "b.obj")
        self.assertIn("changed", self.assert_rejected("run", "--resume", self.at / "run"))
        thrum("mesh", "shape", "box", "--size", "0.3,0.3,0.3", "-o", self.at / "b.obj")
        self.assertEqual(thrum("run", "--resume", self.at / "run", "--quiet").returncode, 0)
        scene.write_text(scene.read_text().replace("0.5", "0.6"))
        self.assertIn("changed", self.assert_rejected("run", "--resume", self.at / "run"))

    def test_resume_rejects_changed_modes(self):
        for name, size in (("a", "0.5,0.2,0.1"), ("b", "0.5,0.2,0.12")):
            thrum("mesh", "shape", "box", "--size", size, "-o", self.at / f"{name}.obj")
            thrum("modes", self.at / f"{name}.obj", "--material", "steel", "--modes", "4", "--spacing", "0.05", "--no-cache",
                  "-o", self.at / f"{name}.npz")
        scene = self.at / "ring.json"
        scene.write_text("""{"duration": 0.1, "outputs": {"poster": false, "page": false}, "bodies": [
            {"shape": {"kind": "box", "size": [0.5, 0.2, 0.1]}, "material": "steel", "rings": {"file": "a.npz"}}]}""")
        self.assertEqual(thrum("run", scene, "-o", self.at / "run", "--quiet").returncode, 0)
        self.assertEqual(thrum("run", "--resume", self.at / "run", "--quiet").returncode, 0)
        os.rename(self.at / "b.npz", self.at / "a.npz")
        self.assertIn("changed", self.assert_rejected("run", "--resume", self.at / "run"))

    def test_damaged_files_are_reported(self):
        self.assertEqual(thrum("run", SCENES / "hello.json", "-o", self.at / "run", "--quiet", *SMALL).returncode, 0)
        recording = self.at / "run" / "recording"
        data = recording.read_bytes()
        recording.write_bytes(b"")
        self.assert_rejected("export", self.at / "run", "--csv", self.at / "e.csv")
        self.assert_rejected("run", "--resume", self.at / "run")
        recording.write_bytes(data[:-7])
        self.assertIn("incomplete", thrum("export", self.at / "run", "--csv", self.at / "e.csv").stderr)
        (self.at / "run" / "checkpoint").write_bytes(b"no")
        self.assert_rejected("run", "--resume", self.at / "run")
        self.assert_rejected("run", "--resume", self.at / "nothere")
        self.assert_rejected("export", self.at / "nothere", "--csv", self.at / "e.csv")

    def test_missing_ffmpeg_is_reported(self):
        self.assertEqual(thrum("run", SCENES / "hello.json", "-o", self.at / "run", "--quiet", *SMALL[:-1], "0.3").returncode, 0)
        film = ["export", self.at / "run", "--mp4", self.at / "film.mp4", "--size", "64,48"]
        sentence = self.assert_rejected(*film, env={**os.environ, "PATH": str(self.at)})
        self.assertIn("ffmpeg, which is not installed", sentence)
        self.assertFalse((self.at / "film.mp4").exists())

        # An encoder that exits early leaves no film behind either.
        encoder = self.at / "ffmpeg"
        encoder.write_text("#!/bin/sh\nexit 3\n")
        encoder.chmod(0o755)
        self.assertIn("could not write", self.assert_rejected(*film, env={**os.environ, "PATH": f"{self.at}:/bin"}))
        self.assertFalse((self.at / "film.mp4").exists())
        if shutil.which("ffmpeg"):
            made = thrum(*film)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertEqual((self.at / "film.mp4").read_bytes()[4:8], b"ftyp")

    def test_films_carry_the_sound_at_the_original_speed(self):
        run = self.at / "run"
        made = thrum("run", SCENES / "bar_taps.json", "-o", run, "--quiet", "--duration", "0.3")
        self.assertEqual(made.returncode, 0, made.stderr)
        # Stands for ffmpeg: notes what it was given, and how many bytes of pictures.
        encoder = self.at / "ffmpeg"
        encoder.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$0.words"\nwc -c > "$0.bytes"\nfor last; do :; done\n: > "$last"\n')
        encoder.chmod(0o755)
        environment = {**os.environ, "PATH": f"{self.at}:/usr/bin:/bin"}
        film = ["export", run, "--mp4", self.at / "film.mp4", "--size", "64,48", "--frame-rate", "20"]
        for speed, has_sound in (("1", True), ("0.5", False)):
            made = thrum(*film, "--speed", speed, env=environment)
            self.assertEqual(made.returncode, 0, made.stderr)
            words = (self.at / "ffmpeg.words").read_text().split("\n")
            inputs = [words[i + 1] for i, word in enumerate(words) if word == "-i"]
            self.assertEqual(inputs, ["-"] + ([str(run / "sound.wav")] if has_sound else []))
            self.assertEqual("-c:a" in words, has_sound)
            pictures = int((self.at / "ffmpeg.bytes").read_text()) / (64 * 48 * 3)
            self.assertEqual(pictures, round(0.3 * 20 / float(speed)))


if __name__ == "__main__":
    if "--kills" in sys.argv:
        at = sys.argv.index("--kills")
        KILLS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    THRUM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    SCENES = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

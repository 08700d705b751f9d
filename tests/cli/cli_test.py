# SPDX-License-Identifier: MIT
"""The command line as a person uses it: every command works, every error is reported in one clear sentence.

usage: cli_test.py PATH_OF_THRUM
"""
import itertools
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from command_line import CommandLine


def frequencies(table):
    """Of the table of modes."""
    return [float(f) for f in re.findall(r"^ +\d+ +([\d.]+) +", table, re.MULTILINE)]


class Commands(CommandLine):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_ok("mesh", "shape", "box", "--size", "1,1,0.02", "-o", "plate.obj")
        cls.run_ok("mesh", "shape", "box", "--size", "0.3,0.2,0.1", "--edge", "0.05", "-o", "block.obj")

    def test_version_and_help(self):
        self.assertRegex(self.run_ok("--version"), r"^thrum \d+\.\d+\.\d+\n$")
        self.assertIn("mesh", self.run_ok("--help"))
        for command in (["mesh"], ["mesh", "info"], ["mesh", "shape", "torus"], ["modes"], ["modes", "export"]):
            self.assertIn("Usage: thrum", self.run_ok(*command, "--help"))

    def test_no_colour_outside_a_terminal(self):
        self.assertNotIn("\x1b", self.run_ok("mesh", "info", "plate.obj"))

    def test_wrong_usage_exits_with_2(self):
        self.assert_rejected(2)
        self.assert_rejected(2, "mehs")
        self.assertIn("expected 3 numbers", self.assert_rejected(2, "mesh", "shape", "box", "--size", "1,1", "-o", "x.obj"))
        self.assertIn("expected a number above 0",
                      self.assert_rejected(2, "mesh", "shape", "sphere", "--radius", "-1", "-o", "x.obj"))
        self.assert_rejected(2, "mesh", "info")
        self.assert_rejected(2, "modes")

    def test_failure_exits_with_1_and_names_the_file(self):
        self.assertIn("nothere.obj", self.assert_rejected(1, "mesh", "info", "nothere.obj"))
        (self.at / "bad.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n")
        self.assertIn("bad.obj:4", self.assert_rejected(1, "mesh", "info", "bad.obj"))
        self.assert_rejected(1, "mesh", "shape", "sphere", "-o", "no/such/folder/x.obj")
        self.assert_rejected(1, "mesh", "shape", "sphere", "-o", "x.unknown")
        self.assertIn("spacing", self.assert_rejected(1, "mesh", "tets", "plate.obj", "--spacing", "0.2", "-o", "x.msh"))

    def test_info_reports_mass(self):
        text = self.run_ok("mesh", "info", "plate.obj", "--density", "750")
        self.assertIn("watertight", text)
        self.assertAlmostEqual(float(re.search(r"mass +([\d.e+-]+) kg", text)[1]), 15.0, places=9)
        self.assertIn("750 kg/m^3", text)
        # Symmetric in x and y: exact zeros, no rounding errors.
        self.run_ok("mesh", "shape", "table", "-o", "table.obj")
        self.assertNotIn("e-1", self.run_ok("mesh", "info", "table.obj"))

    def test_every_shape_is_watertight(self):
        for shape in ("sphere", "cylinder", "capsule", "torus", "cone", "plate", "bowl", "cup", "mug", "pot", "bottle",
                      "candlestick", "fridge"):
            self.run_ok("mesh", "shape", shape, "-o", f"{shape}.ply")
            self.assertIn("watertight", self.run_ok("mesh", "info", f"{shape}.ply"), shape)

    def test_repair_reports_changes(self):
        lines = (self.at / "plate.obj").read_text().splitlines()
        faces = [line for line in lines if line.startswith("f ")]
        (self.at / "twice.obj").write_text("\n".join([*lines, faces[0]]) + "\n")
        text = self.run_ok("mesh", "repair", "twice.obj", "-o", "repaired.obj")
        self.assertIn("1", text.splitlines()[0])
        self.assertIn("watertight", self.run_ok("mesh", "info", "repaired.obj"))

    def test_refused_parts_ring_after_the_command_that_is_named(self):
        # Two boxes that reach into each other; then the same without one of their triangles.
        lines = (self.at / "plate.obj").read_text().splitlines()
        corners = [[float(x) for x in line.split()[1:4]] for line in lines if line.startswith("v ")]
        faces = [[int(x.split("/")[0]) for x in line.split()[1:]] for line in lines if line.startswith("f ")]
        shift = [0.4 * (max(c[k] for c in corners) - min(c[k] for c in corners)) for k in range(3)]
        every = corners + [[x + d for x, d in zip(c, shift)] for c in corners]
        both = faces + [[v + len(corners) for v in face] for face in faces]
        for name, used in (("crossing", both), ("holed", both[:-1])):
            (self.at / f"{name}.obj").write_text("".join("v %.17g %.17g %.17g\n" % tuple(v) for v in every) +
                                                 "".join("f %d %d %d\n" % tuple(f) for f in used))
            refused = self.assert_rejected(1, "modes", f"{name}.obj", "--material", "steel", "--quality", "draft")
            commands = re.findall(r"thrum (mesh repair .*?\.obj), then thrum (modes [\w.]+\.obj)", refused)
            repair, ring = commands[-1]
            self.run_ok(*repair.split())
            self.assertIn("free", self.run_ok(*ring.split(), "--material", "steel", "--quality", "draft"), name)

    def test_repair_separates_parts_that_touch_along_an_edge(self):
        # Two tetrahedra on the edge from vertex 1 to vertex 2, of volume 1/6 each.
        vertices = [(0, 0, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)]
        faces = [(1, 4, 3), (1, 3, 2), (3, 4, 2), (1, 2, 4), (1, 6, 5), (1, 5, 2), (5, 6, 2), (1, 2, 6)]
        (self.at / "touching.obj").write_text("".join("v %g %g %g\n" % v for v in vertices) +
                                              "".join("f %d %d %d\n" % f for f in faces))
        text = self.run_ok("mesh", "info", "touching.obj")
        self.assertIn("closed, but parts of it touch along edges", text)
        self.assertIn("mesh repair separates the parts", text)
        self.assertIn("1 edges where parts touch were split",
                      self.run_ok("mesh", "repair", "touching.obj", "-o", "apart.ply"))
        text = self.run_ok("mesh", "info", "apart.ply")
        self.assertIn("2 components", text)
        self.assertIn("\nwatertight", text)
        self.assertIn("volume 0.333333 m^3", text)

    def test_repair_scales_a_mesh_in_millimetres(self):
        self.run_ok("mesh", "shape", "box", "--size", "300,200,100", "-o", "mm.obj")
        self.assertIn("scale it by 0.001", self.run_ok("mesh", "info", "mm.obj"))
        self.run_ok("mesh", "repair", "mm.obj", "--scale", "0.001", "-o", "m.obj")
        text = self.run_ok("mesh", "info", "m.obj", "--density", "1000")
        self.assertAlmostEqual(float(re.search(r"mass +([\d.e+-]+) kg", text)[1]), 6.0, places=9)

    def test_tets_fill_the_volume(self):
        self.run_ok("mesh", "tets", "block.obj", "--spacing", "0.02", "-o", "block.msh")
        text = self.run_ok("mesh", "info", "block.msh", "--density", "1000")
        self.assertAlmostEqual(float(re.search(r"mass +([\d.e+-]+) kg", text)[1]), 6.0, delta=0.15)
        self.run_ok("mesh", "tets", "block.obj", "--spacing", "0.02", "-o", "block.vtk")
        # What the lattice cuts off is stated; tetrahedra that keep the surface cut nothing off.
        said = self.run_ok("mesh", "tets", "block.obj", "--spacing", "0.0271", "-o", "cut.msh")
        text = self.run_ok("mesh", "info", "cut.msh", "--density", "1000")
        lost = 100 * (1 - float(re.search(r"mass +([\d.e+-]+) kg", text)[1]) / 6)
        self.assertGreater(lost, 0.1)
        self.assertAlmostEqual(float(re.search(r"have ([\d.]+) % less volume", said)[1]), lost, delta=0.06 * lost)
        said = self.run_ok("mesh", "tets", "block.obj", "--spacing", "0.0271", "--keep-surface", "-o", "kept.msh")
        self.assertNotIn("less volume", said)
        # Without a spacing thin walls decide; with one that is too coarse the error names a better one.
        self.assertIn("because of its thin walls", self.run_ok("mesh", "tets", "plate.obj", "-o", "plate.msh"))
        text = self.run_ok("mesh", "info", "plate.msh", "--density", "1000")
        self.assertAlmostEqual(float(re.search(r"mass +([\d.e+-]+) kg", text)[1]), 20.0, delta=0.2)
        text = self.assert_rejected(1, "mesh", "tets", "plate.obj", "--spacing", "0.2", "-o", "x.msh")
        better = re.search(r"A spacing of ([\d.]+) m resolves", text)[1]
        self.assertNotIn("missing in the tetrahedra", self.run_ok("mesh", "tets", "plate.obj", "--spacing", better, "-o", "x.msh"))

    def test_distances(self):
        text = self.run_ok("mesh", "distance", "block.obj", "--from", "0,0,0.05", "--to", "0.1,0.05,0.05", "-o", "d.npz",
                           "--picture", "d.png")
        self.assertAlmostEqual(float(re.search(r": ([\d.]+) m\n", text)[1]), math.hypot(0.1, 0.05), delta=0.002)
        self.assertNotIn("away from the surface", text)
        self.assertEqual((self.at / "d.png").read_bytes()[:4], b"\x89PNG")
        # Between two faces the nearer is used, with a warning.
        text = self.run_ok("mesh", "distance", "block.obj", "--from", "0,0,-0.047")
        self.assertIn("--from is 3 mm away from the surface; its closest point 0,0,-0.05 is used.", text)
        text = self.run_ok("mesh", "sdf", "block.obj", "--at", "0,0,0.02;0,0,0.08", "--picture", "s.png", "-o", "s.npz")
        self.assertIn("-0.03 m (inside)", text)
        self.assertIn("0.03 m (outside)", text)

    def test_modes_from_mesh_to_page(self):
        arguments = ("modes", "block.obj", "--density", "7850", "--young", "2e11", "--poisson", "0.3", "--alpha", "5",
                     "--modes", "6", "--spacing", "0.05", "-o", "block.npz")
        first = self.run_ok(*arguments)
        self.assertEqual(len(re.findall(r"^ +\d+ +[\d.]+ +", first, re.MULTILINE)), 6)
        self.assertIn("from the cache", self.run_ok(*arguments))
        self.run_ok("modes", "show", "block.npz", "-o", "block.png")
        for name in ("block.modes", "block.dsp", "block.scd", "block.txt", "block.csv"):
            self.run_ok("modes", "export", "block.npz", "-o", name)
        csv = (self.at / "block.csv").read_text().splitlines()
        self.assertEqual(len(csv), 7)
        half = self.run_ok("modes", "export", "block.npz", "--scale", "2", "-o", "twice.csv")
        self.assertIn("6 modes", half)
        frequency = [float(line.split(",")[1]) for line in (csv[1], (self.at / "twice.csv").read_text().splitlines()[1])]
        self.assertAlmostEqual(frequency[0] / frequency[1], 2, places=6)

    def two_region_bar(self, oriented=True):
        """A bar of 4 x 1 x 1 cubes of 0.1 m with halves named left and right; half its tetrahedra are inverted if not oriented."""
        nodes = [(x, y, z) for x in range(5) for y in range(2) for z in range(2)]
        number = {node: k + 1 for k, node in enumerate(nodes)}
        tets = []
        for x in range(4):
            for order in itertools.permutations(range(3)):
                corner, corners = [x, 0, 0], [(x, 0, 0)]
                for axis in order:
                    corner[axis] += 1
                    corners.append(tuple(corner))
                if oriented and order in [(0, 2, 1), (1, 0, 2), (2, 1, 0)]:
                    corners[2], corners[3] = corners[3], corners[2]
                tets.append((1 + x // 2, [number[c] for c in corners]))
        lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "2", '3 1 "left"', '3 2 "right"',
                 "$EndPhysicalNames", "$Nodes", str(len(nodes))]
        lines += [f"{number[n]} {n[0] / 10} {n[1] / 10} {n[2] / 10}" for n in nodes]
        lines += ["$EndNodes", "$Elements", str(len(tets))]
        lines += [f"{k + 1} 4 2 {tag} {tag} {' '.join(map(str, c))}" for k, (tag, c) in enumerate(tets)]
        (self.at / "bar.msh").write_text("\n".join(lines + ["$EndElements", ""]))

    def test_fit_of_modes_and_of_a_scene(self):
        self.run_ok("modes", "block.obj", "--material", "wood", "--modes", "12", "--spacing", "0.05", "-o", "fit.npz")
        out = self.run_ok("fit", "fit.npz", "-o", "fit.png", "--csv", "fit.csv")
        self.assertIn("12 modes", out)
        self.assertIn("eq. 14", out)
        rows = (self.at / "fit.csv").read_text().splitlines()
        self.assertEqual(rows[0].split(",")[:2], ["distance", "ratio"])
        self.assertGreater((self.at / "fit.png").stat().st_size, 1000)
        values = json.loads(self.run_ok("fit", "fit.npz", "--json", "--facing", "0,0,1"))
        self.assertGreaterEqual(values["simple"]["beta"], 0)
        # The printed values are valid in a scene, and the body of a scene can be fitted directly.
        scene = {"response": {"method": "attenuated"}, "bodies": [
            {"name": "slab", "motion": "fixed", "material": "wood", "shape": {"kind": "box", "size": [1, 1, 0.1]},
             "rings": {"modes": 8, "spacing": 0.1, "attenuation": values["full"]}}]}
        (self.at / "slab.json").write_text(json.dumps(scene))
        self.assertIn("slab: 8 modes", self.run_ok("fit", "slab.json"))
        self.assertIn("slab", self.assert_rejected(1, "fit", "slab.json", "--body", "table"))
        self.assert_rejected(1, "fit", "slab.json", "--set", "response.method=none")
        self.assert_rejected(2, "fit", "nothing.npz")

    def test_check_counts_modes_and_their_memory(self):
        slab = {"shape": {"kind": "box", "size": [1, 0.6, 0.1]}, "material": "wood", "rings": {"modes": 7, "spacing": 0.1}}
        (self.at / "slabs.json").write_text(json.dumps({
            "bodies": [{"name": "one", "position": [0, 0, 0], **slab}, {"name": "two", "position": [0, 0, 2], **slab}],
            "response": {"method": "modal"}}))
        line = next(l for l in self.run_ok("check", "slabs.json").splitlines() if l.split()[:1] == ["ringing"])
        found = re.match(r" *ringing +2 bodies, (\d+) modes from ([\d.]+) to ([\d.]+) Hz, ([\d.e-]+) MB", line)
        self.assertIsNotNone(found, line)
        self.assertIn(int(found[1]), (7, 14))
        self.assertLess(float(found[2]), float(found[3]))
        self.assertLess(0.001, float(found[4]))
        self.assertNotIn("ringing", self.run_ok("check", "slabs.json", "--set", "response.method=none"))

    def test_modes_report_flipped_elements(self):
        self.two_region_bar(oriented=False)
        run = self.run_thrum("modes", "bar.msh", "--material", "steel", "--modes", "1")
        self.assertEqual(run.returncode, 0)
        self.assertIn("bar.msh: 12 tetrahedra of negative volume were flipped.", run.stderr)

    def test_modes_with_a_material_for_each_region(self):
        self.two_region_bar()
        mass = lambda text: float(re.search(r"([\d.]+) kg", text).group(1))
        steel = self.run_ok("modes", "bar.msh", "--material", "steel", "--modes", "3")
        glass = self.run_ok("modes", "bar.msh", "--material", "glass", "--modes", "3")
        mixed = self.run_ok("modes", "bar.msh", "--material", "steel", "--region", "left=glass", "--modes", "3")
        self.assertAlmostEqual(mass(mixed), (mass(steel) + mass(glass)) / 2, delta=1e-3 * mass(steel))
        named = self.run_ok("modes", "bar.msh", "--material", "glass", "--region", "left=steel", "--region", "right=steel",
                            "--modes", "3")
        table = lambda text: re.findall(r"^ +\d+ +([\d.]+) +", text, re.MULTILINE)
        self.assertEqual(table(named), table(steel))
        self.assertIn("left, right", self.assert_rejected(1, "modes", "bar.msh", "--material", "steel", "--region", "top=glass"))
        self.assertIn("NAME=MATERIAL", self.assert_rejected(1, "modes", "bar.msh", "--material", "steel", "--region", "top"))

    def test_a_ring_rings_as_a_ring(self):
        """Love's frequencies of a thin ring, within 0.5 % by default; with what opens the patch where it is installed."""
        self.run_ok("mesh", "shape", "torus", "--major", "0.1", "--minor", "0.004", "-o", "ring.obj")
        out = self.run_ok("modes", "ring.obj", "--young", "2e11", "--density", "8000", "--poisson", "0.3", "--modes", "4",
                          "-o", "ring.npz")
        base = 0.5 * 0.004 / 0.1 ** 2 * math.sqrt(2e11 / 8000) / (2 * math.pi)
        expected = [6 / math.sqrt(5 + 0.3) * base] * 2 + [6 / math.sqrt(5) * base] * 2
        for found, theory in zip(frequencies(out), expected):
            self.assertAlmostEqual(found, theory, delta=0.005 * theory)
        self.run_ok("modes", "export", "ring.npz", "-o", "ring.pd")
        if not shutil.which("pd"):
            return
        patch = subprocess.run(["pd", "-nogui", "-noaudio", "-batch", "-stderr", "-send", "pd quit", "ring.pd"], cwd=self.at,
                               capture_output=True, text=True, timeout=60, check=False)
        for trouble in ("couldn't create", "connection failed", "error"):
            self.assertNotIn(trouble, patch.stderr)

    def test_modes_below_a_frequency(self):
        arguments = ("modes", "block.obj", "--material", "steel", "--spacing", "0.05")
        many = frequencies(self.run_ok(*arguments, "--modes", "40"))
        below = 0.5 * (many[29] + many[30])
        self.assertEqual(frequencies(self.run_ok(*arguments, "--max-frequency", str(below))), many[:30])

    def test_modes_reject_invalid_input(self):
        self.assertIn("wood", self.assert_rejected(1, "modes", "block.obj", "--material", "wodo"))
        self.assertIn("--material", self.assert_rejected(1, "modes", "block.obj"))
        self.assert_rejected(1, "modes", "block.obj", "--material", "wood", "--clamp", "z<-5", "--spacing", "0.05")
        for poisson in ["0.5", "-2", "nan"]:
            self.assertIn("--poisson", self.assert_rejected(2, "modes", "block.obj", "--density", "700", "--young", "1e9",
                                                            "--poisson", poisson, "--spacing", "0.05"))
        self.assert_rejected(2, "modes", "block.obj", "--density", "0", "--young", "1e9")
        (self.at / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.assertIn("not closed", self.assert_rejected(1, "modes", "open.obj", "--material", "wood"))


if __name__ == "__main__":
    CommandLine.thrum = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()

# SPDX-License-Identifier: MIT
"""thrum view: shows a run, also while it is running; on this machine only, that folder only, read-only.

usage: view_test.py PATH_OF_THRUM SCENE
"""
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest

THRUM = None
SCENE = None


class View(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.at = pathlib.Path(cls.scratch.name).resolve()
        cls.folder = cls.at / "run"
        subprocess.run([THRUM, "run", SCENE, "-o", str(cls.folder), "--quiet"], check=True, timeout=120)
        (cls.at / "secret.txt").write_text("secret")
        (cls.at / "runaway").mkdir()
        (cls.at / "runaway" / "x.txt").write_text("secret")
        (cls.folder / ".hidden").write_text("secret")
        (cls.folder / "sub").mkdir()
        (cls.folder / "sub" / "a b.txt").write_text("inside")
        os.symlink(cls.at / "secret.txt", cls.folder / "link.txt")
        os.symlink(cls.at, cls.folder / "linked")
        os.symlink(cls.folder / "run.json", cls.folder / "own.json")
        cls.server = subprocess.Popen([THRUM, "view", str(cls.folder)], stdout=subprocess.PIPE, text=True)
        cls.port = int(re.search(r"127\.0\.0\.1:(\d+)/", cls.server.stdout.readline())[1])

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        assert cls.server.wait(timeout=20) == 0
        cls.server.stdout.close()
        cls.scratch.cleanup()

    def request(self, address, method="GET", host=None):
        """The address is sent unchanged: a library might normalise it."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as s:
            s.sendall(f"{method} {address} HTTP/1.1\r\nHost: {host or f'127.0.0.1:{self.port}'}\r\n\r\n".encode("latin-1"))
            answer = b""
            while part := s.recv(65536):
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]), head.decode("latin-1"), body

    def test_serves_the_page_and_the_files(self):
        status, head, body = self.request("/")
        self.assertEqual(status, 200)
        self.assertIn("text/html", head)
        self.assertIn(b"thrum-live", body)
        for name in ("/run.json", "/poster.png", "/motion.glb", "/sub/a%20b.txt", "/own.json", "/run.json?x=1"):
            self.assertEqual(self.request(name)[0], 200, name)
        self.assertEqual(self.request("/run.json")[2], (self.folder / "run.json").read_bytes())
        self.assertTrue(json.loads(self.request("/live/status")[2])["complete"])
        self.assertEqual(len(json.loads(self.request("/live/data")[2])["runs"]), 1)

    def test_head_has_no_body(self):
        status, head, body = self.request("/run.json", "HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertIn(f"Content-Length: {(self.folder / 'run.json').stat().st_size}", head)

    def test_is_read_only(self):
        before = sorted(p.name for p in self.folder.iterdir())
        for method in ("PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get"):
            self.assertEqual(self.request("/run.json", method)[0], 405, method)
        self.assertEqual(before, sorted(p.name for p in self.folder.iterdir()))

    def test_nothing_leads_out_of_the_folder(self):
        absolute = str(self.at / "secret.txt")
        for address in ("/../secret.txt", "/%2e%2e/secret.txt", "/%2E%2E/secret.txt", "/.%2e/secret.txt", "/..%2fsecret.txt",
                        "/%2e%2e%2fsecret.txt", "/sub/../../secret.txt", "/sub/%2e%2e/%2e%2e/secret.txt", "/..\\secret.txt",
                        "/%2e%2e%5csecret.txt", "/%252e%252e/secret.txt", "/link.txt", "/linked/secret.txt",
                        "/linked/run/../secret.txt", "/../runaway/x.txt", "//" + absolute, "/" + absolute, absolute,
                        "file://" + absolute, "http://127.0.0.1" + absolute, "secret.txt", "../secret.txt", "/./run.json",
                        "//run.json", "/.hidden", "/%2ehidden", "/run.json%00.txt", "/run.json%", "/run.json%4", "/%zz", "/sub",
                        "/sub/", "/nothere", "/recording/../run.json", "/~root", "/....//secret.txt"):
            status, _, body = self.request(address)
            self.assertIn(status, (400, 403, 404), address)
            self.assertNotIn(b"secret", body.replace(b"secret.txt", b""), address)

    def test_rejects_other_host_names(self):
        self.assertEqual(self.request("/run.json", host="evil.example")[0], 403)
        self.assertEqual(self.request("/run.json", host=f"evil.example:{self.port}")[0], 403)
        self.assertEqual(self.request("/run.json", host=f"localhost:{self.port}")[0], 200)

    def test_listens_on_loopback_only(self):
        def listening(file):
            if not os.path.exists(file):
                return []
            lines = pathlib.Path(file).read_text(encoding="ascii").splitlines()[1:]
            return [line.split()[1] for line in lines if line.split()[3] == "0A" and line.split()[1].endswith(f":{self.port:04X}")]
        self.assertEqual(listening("/proc/net/tcp"), [f"0100007F:{self.port:04X}"])
        self.assertEqual(listening("/proc/net/tcp6"), [])

    def test_survives_misbehaving_clients(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as quiet:
            with socket.create_connection(("127.0.0.1", self.port), timeout=30) as rude:
                rude.sendall(b"x" * 40000)
            with socket.create_connection(("127.0.0.1", self.port), timeout=30) as rude:
                rude.sendall(b"\x00\xff\r\n\r\n")
                self.assertIn(b"400", rude.recv(100))
            # A silent client does not block others.
            start = time.monotonic()
            self.assertEqual(self.request("/run.json")[0], 200)
            self.assertLess(time.monotonic() - start, 5)
            quiet.close()

    def test_follows_a_running_run(self):
        folder = self.at / "growing"
        folder.mkdir()
        server = subprocess.Popen([THRUM, "view", str(folder), "--wait"], stdout=subprocess.PIPE, text=True)
        try:
            port = int(re.search(r"127\.0\.0\.1:(\d+)/", server.stdout.readline())[1])

            def get(address):
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                connection.request("GET", address)
                body = connection.getresponse().read()
                connection.close()
                return body
            self.assertIn(b"no recording", get("/"))
            first = json.loads(get("/live/status"))
            self.assertFalse(first["complete"])
            subprocess.run([THRUM, "run", SCENE, "-o", str(folder), "--quiet"], check=True, timeout=120)
            last = json.loads(get("/live/status"))
            self.assertTrue(last["complete"])
            self.assertNotEqual(first["revision"], last["revision"])
            self.assertIn(b"thrum-live", get("/"))
            # Truncated, like the recording of a run in progress.
            data = (folder / "recording").read_bytes()
            (folder / "recording").write_bytes(data[: len(data) * 2 // 3])
            self.assertFalse(json.loads(get("/live/status"))["complete"])
            self.assertEqual(len(json.loads(get("/live/data"))["runs"]), 1)
        finally:
            server.terminate()
            server.wait(timeout=20)
            server.stdout.close()

    def test_errors_are_reported(self):
        run = subprocess.run([THRUM, "view", str(self.at / "nothere")], capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("not a folder", run.stderr)
        run = subprocess.run([THRUM, "view", str(self.folder), "--port", str(self.port)], capture_output=True, text=True,
                             timeout=30, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot be used", run.stderr)


if __name__ == "__main__":
    THRUM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    SCENE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()

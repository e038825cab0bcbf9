#!/usr/bin/env python3
"""What no training with a stand-in shows of python/evolve/ultralytics.py: tests/python/ultralytics_test.py"""

import errno
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

from evolve import ultralytics  # noqa: E402


class Xpu(unittest.TestCase):
    def test_that_this_ultralytics_does_not_know_ends_the_process_with_one_line(self):
        def old(device, verbose):
            raise ValueError(f"Invalid CUDA 'device={device}' requested")

        with self.assertRaisesRegex(SystemExit, "^xpu:3: ultralytics 8.3.40 knows no XPU; install a newer one: "):
            ultralytics.refuse_unknown_device(old, "xpu:3", "8.3.40")
        ultralytics.refuse_unknown_device(old, "cpu:3", "8.3.40")

    def test_that_it_knows_is_asked_for_as_the_processs_only_one(self):
        asked = []
        ultralytics.refuse_unknown_device(lambda device, verbose: asked.append(device), "xpu:3", "8.4.190")
        self.assertEqual(asked, ["xpu:0"])


class Labels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "train.cache"

    def save(self, prefix, path, labels, version):
        """As Ultralytics does it: another slot has removed the file between the two looks."""
        if path.exists():
            self.file.unlink()
            path.unlink()
        part = path.with_name(path.name + ".npy")  # NumPy adds that
        part.write_text(f"{labels} {version}")
        path.with_suffix(".cache.npy").rename(path)

    def test_are_saved_though_another_slot_saves_them_too(self):
        self.file.write_text("old")
        with self.assertRaises(FileNotFoundError):
            self.save("", self.file, "new", "1.0")
        self.file.write_text("old")
        ultralytics.saved_at_once(self.save)("", self.file, "new", "1.0")
        self.assertEqual(self.file.read_text(), "new 1.0")
        self.assertEqual(list(self.file.parent.iterdir()), [self.file])

    def test_need_not_be_saved(self):
        ultralytics.saved_at_once(lambda *_: None)("", self.file, "new", "1.0")
        self.assertFalse(self.file.exists())

    def test_need_not_be_saved_on_a_file_system_that_is_read_only(self):
        with unittest.mock.patch("os.replace", side_effect=OSError(errno.EROFS, "Read-only file system")):
            ultralytics.saved_at_once(lambda *_: None)("", self.file, "new", "1.0")


if __name__ == "__main__":
    unittest.main()

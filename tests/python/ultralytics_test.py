#!/usr/bin/env python3
"""What no training with a stand-in shows of python/evolve/ultralytics.py: tests/python/ultralytics_test.py"""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

from evolve import ultralytics  # noqa: E402


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
        path.write_text(f"{labels} {version}")

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


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""What no training with a stand-in shows of python/evolve/yolov5.py: tests/python/yolov5_test.py"""

import contextlib
import json
import pathlib
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

from evolve import data_set, yolov5  # noqa: E402


class Saved:
    """What NumPy's load gives of a file with an object in it."""

    def __init__(self, path, allow_pickle):
        assert allow_pickle
        self.text = path.read_text()

    def item(self):
        return json.loads(self.text)


class LabelsThatSeveralSlotsLookOver(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "train.cache"
        modules = {"numpy": types.SimpleNamespace(load=Saved),
                   "tqdm": types.SimpleNamespace(tqdm=lambda steps, disable: steps)}
        patch = unittest.mock.patch.dict(sys.modules, modules)
        patch.start()
        self.addCleanup(patch.stop)
        self.looks = []

        class Dataset:
            label_files, im_files, cache_version = ["a.txt"], ["a.jpg"], 0.6

            def cache_labels(dataset, path, prefix=""):  # noqa: N805  the test's own self is needed
                self.looks.append((path, prefix))
                return {"by": "this slot"}

        self.dataset = Dataset()
        yolov5.one_looks_over(types.SimpleNamespace(LoadImagesAndLabels=Dataset, get_hash="+".join))

    def found_after(self, saved):
        """What this slot has of its labels where another one looks over them first, and saves that."""
        other = contextlib.ExitStack()
        other.enter_context(data_set.alone_in(self.path.parent, self.fail))

        def ends(seconds):
            self.path.write_text(json.dumps(saved))
            other.close()

        with unittest.mock.patch("time.sleep", ends):
            return self.dataset.cache_labels(self.path, "train: ")

    def test_are_looked_over_where_nobody_else_does(self):
        self.assertEqual(self.dataset.cache_labels(self.path, "train: "), {"by": "this slot"})
        self.assertEqual(self.looks, [(self.path, "train: ")])

    def test_are_looked_over_by_one_and_taken_by_those_that_waited(self):
        saved = {"by": "another", "version": 0.6, "hash": "a.txt+a.jpg"}
        self.assertEqual(self.found_after(saved), saved)
        self.assertEqual(self.looks, [])

    def test_are_looked_over_again_where_the_other_slot_saved_others_or_nothing(self):
        for saved in ({"version": 0.6, "hash": "b.txt+b.jpg"}, {"version": 0.5, "hash": "a.txt+a.jpg"}, None):
            self.assertEqual(self.found_after(saved), {"by": "this slot"})
        self.assertEqual(len(self.looks), 3)


if __name__ == "__main__":
    unittest.main()

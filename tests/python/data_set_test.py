#!/usr/bin/env python3
"""What counts as the contents of a data set for the trainers in Python: tests/python/data_set_test.py"""

import contextlib
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

from evolve import data_set, worker  # noqa: E402


class DataSetTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.found = {"train": str(self.folder / "images/train"), "val": [str(self.folder / "val.txt")]}
        for file in ("images/train/a.png", "images/train/more/b.JPG", "images/train/a.npy", "images/train/.c.png",
                     "images/val/a.png"):
            self.write(file, "pixels")
        self.write("labels/train/a.txt", "0 .5 .5 .1 .1")
        self.write("val.txt", "./images/val/a.png\n")

    def write(self, file, text):
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def changed(self):
        """What is said where a run began with what there was, and goes on with what there is."""
        before, self.before = self.before, data_set.contents_of(self.found)
        try:
            data_set.check_same("my.yaml", self.before, before)
        except worker.TrialFailed as failed:
            self.assertEqual(failed.kind, "data")
            return str(failed).split(";")[0]
        return None

    def test_has_one_process_alone_until_that_has_gone(self):
        first, waits = contextlib.ExitStack(), []
        self.assertFalse(first.enter_context(data_set.alone_in(self.folder, self.fail)))
        with data_set.alone_in(self.folder / "images", self.fail) as waited:
            self.assertFalse(waited, "of another folder")

        def wait():
            waits.append(1)
            if len(waits) == 3:
                first.close()

        with data_set.alone_in(self.folder, wait) as waited:
            self.assertTrue(waited)
        self.assertEqual(len(waits), 3)
        with data_set.alone_in(self.folder / "none", self.fail) as waited:
            self.assertFalse(waited)

    def test_finds_the_images_of_folders_and_of_text_files(self):
        contents = data_set.contents_of(self.found)
        self.assertEqual({split: each["images"] for split, each in contents.items()}, {"train": 2, "val": 1})

    def test_knows_no_contents_without_paths(self):
        self.assertEqual(data_set.contents_of({}), {})

    def test_takes_a_classifiers_test_where_it_has_no_val(self):
        train = self.found["train"]
        contents = data_set.contents_of({"train": pathlib.Path(train), "val": None, "test": pathlib.Path(train)})
        self.assertEqual(contents["val"], contents["train"])

    def test_sees_images_and_labels_that_change_but_no_others(self):
        self.before = data_set.contents_of(self.found)
        others = "'my.yaml': names of train images or sizes of label files other than those that the run began with"
        for file, text, said in (
                ("images/train/notes.txt", "none", None),
                ("images/train/a.png", "written anew, as Ultralytics does", None),
                ("labels/train/a.txt", "0 .5 .5 .2 .25", others),
                ("labels/train/more/b.txt", "", others),
                ("labels/val/a.txt", "0 .5 .5 .1 .1", others.replace("train", "val")),
                ("images/train/d.png", "pixels", "'my.yaml': 3 train images, the run began with 2")):
            self.write(file, text)
            self.assertEqual(self.changed(), said, file)
        (self.folder / "images/train/d.png").rename(self.folder / "images/train/e.png")
        self.assertEqual(self.changed(), others)

    def test_does_not_say_where_the_data_set_lies(self):
        self.before = data_set.contents_of(self.found)
        moved = self.folder / "moved"
        moved.mkdir()
        for name in ("images", "labels", "val.txt"):
            (self.folder / name).rename(moved / name)
        self.found = {"train": f"{moved}/images/train/", "val": f"{moved}/val.txt"}
        self.assertIsNone(self.changed())

    def test_takes_a_list_for_the_same_wherever_its_images_lie(self):
        def names(folder):
            for file in ("a/x.png", "b/y.png"):
                self.write(f"{folder}/{file}", "pixels")
            lines = [str(self.folder / folder / file) for file in ("a/x.png", "b/y.png", "b/gone.png")]
            self.write("list.txt", "\n".join(lines))
            return [name for name, _ in data_set.images_in(str(self.folder / "list.txt"))]

        self.assertEqual(names("here"), ["/a/x.png", "/b/y.png"])
        self.assertEqual(names("there/and/else"), ["/a/x.png", "/b/y.png"])

    def test_finds_no_image_where_a_list_is_gone(self):
        self.before = data_set.contents_of(self.found)
        (self.folder / "val.txt").unlink()
        self.assertEqual(self.changed(), "'my.yaml': 0 val images, the run began with 1")

    def sought(self, inputs, find):
        return data_set.find_unchanged({"data": "my.yaml", "inputs": inputs}, find, paths=lambda found: found)

    def test_compares_before_each_trial_with_what_is_known(self):
        began_with = data_set.contents_of(self.found)
        self.write("images/train/d.png", "pixels")
        for inputs in (None, {"weights": 1}):
            self.assertEqual(self.sought(inputs, lambda: self.found), self.found)
        with self.assertRaisesRegex(worker.TrialFailed, "3 train images, the run began with 2"):
            self.sought(began_with, lambda: self.found)

    def test_sees_that_a_split_is_gone_which_nobody_finds_any_more(self):
        def fail():
            raise worker.TrialFailed("data", "missing path")

        began_with = data_set.contents_of(self.found)
        with self.assertRaisesRegex(worker.TrialFailed, "missing path"):
            self.sought(began_with, fail)
        (self.folder / "val.txt").unlink()
        with self.assertRaisesRegex(worker.TrialFailed, "0 val images, the run began with 1"):
            self.sought(began_with, fail)
        with self.assertRaisesRegex(worker.TrialFailed, "missing path"):
            self.sought(None, fail)


if __name__ == "__main__":
    unittest.main()

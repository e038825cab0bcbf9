#!/usr/bin/env python3
"""How python/evolve/export/run.py reads a journal: tests/python/export_run_test.py"""

import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

from evolve.export import run  # noqa: E402

FIRST, SECOND = '{"event":"run"}', '{"event":"started","trial":0}'


class EventsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def events(self, text):
        with open(os.path.join(self.folder, "journal.jsonl"), "w") as file:
            file.write(text)
        return [event["event"] for event in run.events_of(self.folder)]

    def test_are_all_whole_lines_blank_ones_aside_as_evolve_itself_reads_them(self):
        for text in (f"{FIRST}\n{SECOND}\n", f"{FIRST}\n\n  \n{SECOND}\n\n", f"{FIRST}\n{SECOND}"):
            self.assertEqual(self.events(text), ["run", "started"], text)

    def test_have_no_torn_last_line(self):
        for end in ("", "\n", "\n\n"):
            self.assertEqual(self.events(f"{FIRST}\n{SECOND[:-3]}{end}"), ["run"], end)

    def test_name_the_line_that_is_damaged(self):
        with self.assertRaisesRegex(run.Damaged, r"journal\.jsonl:3: .*; bring back a copy of the file$"):
            self.events(f"{FIRST}\n\n{SECOND[:-3]}\n{SECOND}\n")
        with self.assertRaisesRegex(run.Damaged, r"journal\.jsonl:2: .*; bring back a copy of the file$"):
            self.events(f"{FIRST}\n{SECOND.replace(':', ';', 1)}\n")  # written to its end, and damaged since


if __name__ == "__main__":
    unittest.main()

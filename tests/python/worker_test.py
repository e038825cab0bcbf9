#!/usr/bin/env python3
"""What no training with a stand-in shows of python/evolve/worker.py: tests/python/worker_test.py"""

import os
import pathlib
import sys
import unittest
from unittest import mock

PACKAGE = str(pathlib.Path(__file__).resolve().parents[2] / "python")
sys.path.insert(0, PACKAGE)

from evolve import worker  # noqa: E402


class Channel:
    """Keeps what a trial sends."""

    def __init__(self):
        self.sent = []

    def send(self, **message):
        self.sent.append(message)


class WorkerTest(unittest.TestCase):
    def test_takes_a_memory_error_for_a_full_memory_though_it_says_nothing(self):
        self.assertEqual(worker.kind_of(MemoryError()), "oom")
        self.assertEqual(worker.kind_of(RuntimeError()), "other")

    def test_says_a_files_name_that_is_not_utf_8_with_question_marks(self):
        line = worker.json_line({"message": os.fsdecode(b"\xff\xc3\xa9.jpg"), "emoji": "\U0001f600"})
        self.assertEqual(line.decode(), '{"message": "?\u00e9.jpg", "emoji": "\U0001f600"}\n')

    def test_bounds_an_xpus_memory_where_pytorch_can(self):
        backend = mock.Mock(spec=["is_available", "device_count", "set_per_process_memory_fraction"])
        backend.is_available.return_value, backend.device_count.return_value = True, 1
        worker.check_device(mock.Mock(xpu=backend), "xpu:3")
        backend.set_per_process_memory_fraction.assert_called_once_with(1.0)
        del backend.set_per_process_memory_fraction
        worker.check_device(mock.Mock(xpu=backend), "xpu:3")

    def test_takes_one_device_of_any_kind_that_pytorch_can_count(self):
        one, two = (mock.Mock(spec=["device_count"], **{"device_count.return_value": count}) for count in (1, 2))
        worker.check_device(mock.Mock(npu=one), "npu:3")
        worker.check_device(mock.Mock(spec=["backends"]), "npu:3")  # PyTorch says so itself
        with self.assertRaisesRegex(SystemExit, "^npu:3: PyTorch sees 2 NPU devices, a slot has one; "):
            worker.check_device(mock.Mock(npu=two), "npu:3")

    def test_gives_a_sign_of_life_once_a_second_at_most(self):
        channel = Channel()
        trial = worker.Trial(channel, {"trial": 7, "hyp": {}, "epochs": 3, "device": "cpu:0", "seed": 1, "dir": "."})
        sent = []
        for now in (100, 100.5, 100.9, 101, 101.5, 103, 103.5):
            with mock.patch("time.monotonic", return_value=now):
                trial.alive()
            sent.append(len(channel.sent))
        self.assertEqual(sent, [1, 1, 1, 2, 2, 3, 3])
        self.assertEqual(channel.sent[0], {"type": "alive", "trial": 7})

    def test_computes_with_the_slots_threads_but_no_more_than_it_has_cores(self):
        def threads(told):
            with mock.patch.dict(os.environ, OMP_NUM_THREADS=told):
                return worker.cpu_threads()

        with mock.patch("os.sched_getaffinity", return_value={1, 4, 5}):
            self.assertEqual([threads(told) for told in ("1", "3", "4", "0", "", "many")], [1, 3, 3, 1, 3, 3])


if __name__ == "__main__":
    unittest.main()

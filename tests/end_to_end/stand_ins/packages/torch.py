"""Stands in for PyTorch: what evolve.ultralytics and evolve.yolov5 call of it. Its CUDA finds a device where the variable
TORCH_HAS_CUDA is set."""
import os

__version__ = "2.4.1"


class cuda:
    def is_available():
        return "TORCH_HAS_CUDA" in os.environ


def set_num_threads(count):
    assert count > 0


def device(name):
    return name

"""Stands in for PyTorch: what evolve.ultralytics calls of it."""


def set_num_threads(count):
    assert count > 0

"""Stands in for NumPy: what evolve.yolov5 and evolve.ultralytics_pause look for in it."""


class random:
    def seed(number):
        assert 0 <= number < 2**32


def trapezoid():
    pass

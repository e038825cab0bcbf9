"""Stands in for NumPy: what evolve.yolov5 looks for in it."""


def trapezoid():
    pass

"""Stands in for the package of YOLOv5, as far as evolve.yolov5 uses it."""
__version__ = "7.0.14"

"""Stands in for YOLOv5's models, as far as evolve.export.yolov5 uses them."""

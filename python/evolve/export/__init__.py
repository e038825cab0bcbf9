"""Writes a run of evolve where other programs look at experiments: `evolve export`. One module for each of them, with
`export(run)`, which returns the line that says where the run is now. Exporting a run again replaces what was there. The
exception is yolov5.py, which writes weights of `evolve train` as a file of YOLOv5's: `export(weights, output, yolo)`."""

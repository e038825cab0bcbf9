"""Writes weights that evolve has trained as a checkpoint of YOLOv5's own: `evolve export yolov5`.

    python -m evolve.export.yolov5 WEIGHTS OUTPUT             with the package yolov5
    python -m evolve.export.yolov5 WEIGHTS OUTPUT FOLDER      with a checkout of YOLOv5's repository

evolve's files are state dicts; YOLOv5's are whole models, pickled, which only YOLOv5's own classes can make.
"""

import json
import logging
import os
import sys
import zipfile

from evolve import worker


def models(checkout):
    """YOLOv5's module `models.yolo`, of a checkout, or of the package where that is None. Pickled models name the modules
    of their classes: those of the package are given the names that they have in the repository, under which both find
    them again."""
    if checkout is not None:
        sys.path.insert(0, checkout)
        from models import yolo

        return yolo
    import yolov5.models
    from yolov5.models import common, experimental, yolo

    sys.modules["models"] = yolov5.models
    for module in (common, experimental, yolo):
        name = module.__name__.removeprefix("yolov5.")
        sys.modules[name] = module
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__:
                value.__module__ = name
    return yolo


def about(weights):
    """What a file of evolve's says besides its tensors: the model's table, the names of the classes."""
    with zipfile.ZipFile(weights) as archive:
        record = next(name for name in archive.namelist() if name.endswith("/evolve/about.json"))
        return json.loads(archive.read(record))


def export(weights, output, yolo):
    """Writes what YOLOv5's train.py leaves at the end: the model in half precision, and nothing to go on from."""
    import torch

    said = about(weights)
    model = yolo.Model(said["yaml"])
    state = torch.load(weights, map_location="cpu", weights_only=True)
    model.load_state_dict({name: tensor.float() for name, tensor in state.items()})
    model.nc, model.names = len(said["names"]), dict(enumerate(said["names"]))
    for parameter in model.parameters():
        parameter.requires_grad = False
    checkpoint = {"epoch": -1, "best_fitness": None, "model": model.half(), "ema": None, "updates": None, "optimizer": None}
    output = os.path.realpath(output)  # a link stays one
    written = f"{output}.new"
    try:
        torch.save(checkpoint, written)
        os.replace(written, output)
    except BaseException:
        if os.path.exists(written):
            os.unlink(written)
        raise


def main():
    weights, output, *checkout = sys.argv[1:]
    logging.disable(logging.WARNING)  # YOLOv5 prints the table of each model that it makes
    try:
        export(weights, output, models(*checkout or [None]))
    except Exception as error:  # noqa: BLE001  a package that is too old, a disk that is full: one line
        sys.exit(f"evolve: export yolov5: {worker.message_of(error)}")
    print(f"{output}  for YOLOv5's detect.py, val.py, export.py and train.py --weights")


if __name__ == "__main__":
    main()

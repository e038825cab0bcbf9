"""Stands in for YOLOv5's train.py. Trains nothing; what goes wrong is in the model's name: oom.yaml, nan.yaml, broken.yaml,
inf.yaml, no_image.yaml, class.yaml, no_weights.yaml, killed.yaml, full.yaml, full_late.yaml, slow.yaml."""
import argparse
import contextlib
import importlib
import json
import logging
import os
import pathlib
import time

import numpy
import torch
from tqdm import tqdm

TRACKERS = []
for name in ("clearml", "comet_ml", "neptune", "wandb"):
    with contextlib.suppress(ImportError):
        TRACKERS.append(importlib.import_module(name))

KEYS = ("metrics/precision", "metrics/recall", "metrics/mAP_0.5", "metrics/mAP_0.5:0.95", "val/box_loss", "val/obj_loss",
        "val/cls_loss")

LOGGER = logging.getLogger("yolov5")
LOGGER.setLevel(logging.INFO)

os.environ["OMP_NUM_THREADS"] = str(min(8, max(1, os.cpu_count() - 1)))  # as the real one has it when it is imported

print("YOLOv5 is speaking")  # on standard output, as the real one does


class Callbacks:
    def __init__(self):
        self.actions = {}

    def register_action(self, hook, name="", callback=None):
        self.actions.setdefault(hook, []).append(callback)

    def run(self, hook, *args, **kwargs):
        for action in self.actions.get(hook, []):
            action(*args, **kwargs)


def SummaryWriter(folder):
    raise AssertionError("TensorBoard's files are asked for")


class Loggers:
    def __init__(self, folder):
        assert SummaryWriter(folder) is None
        assert not TRACKERS, f"{TRACKERS} are told of a trial"


def parse_opt(known=False):
    assert known
    return argparse.Namespace(
        weights="yolov5s.pt", cfg="", data="coco128.yaml", hyp="hyp.scratch-low.yaml", epochs=100, batch_size=16, imgsz=640,
        rect=False, resume=False, nosave=False, noval=False, noautoanchor=False, noplots=False, evolve=None, cache=None,
        image_weights=False, device="", multi_scale=False, single_cls=False, optimizer="SGD", workers=8,
        project="runs/train", name="exp", exist_ok=False, cos_lr=False, label_smoothing=0.0, patience=100, freeze=[0], seed=0)


class Found(str):
    """A file that check_file has looked for: the real one finds a table by its name."""


def check_file(file):
    if os.path.isfile(file) or not file or not os.path.isabs(file):
        return Found(file)
    raise AssertionError(f"File not found: {file}")


def check_font(font, progress):
    raise AssertionError(f"{font} is downloaded")


def attempt_download(file):
    if file.startswith("yolov5"):
        pathlib.Path(file).write_text("fetched")
    return file  # as the real one does with what it cannot fetch


def Model(cfg, ch):
    assert ch == 3
    if cfg.endswith(".yaml"):
        assert isinstance(cfg, Found), f"No such file: {cfg}"
    if "of another package" in cfg:
        raise KeyError("depth_multiple")


def check_dataset(data, autodownload=True):
    text = pathlib.Path(data).read_text()
    assert "train" in text, "data.yaml 'train:' field missing"
    if "nowhere" in text:
        LOGGER.info("\nDataset not found, missing paths %s" % ["/yolov5/nowhere/images"])
        raise Exception("no such host" if "download" in text else "Dataset not found")
    check_font("Arial.ttf", progress=True)
    named = text.split("train: ")[-1].splitlines()[0]
    paths = {split: str(pathlib.Path(data).parent / images) for split, images in (("train", named), ("val", "images"))}
    return {**paths, "unlabelled": "unlabelled" in text}


def get_hash(files):
    return sum(map(len, files))


class LoadImagesAndLabels:
    cache_version = 0.6

    def cache_labels(self, path, prefix=""):
        raise AssertionError("labels are looked over")


def create_dataloader(folder, seconds, labels):
    for _ in tqdm(range(4)):  # looks at the labels
        time.sleep(seconds / 4)
    if not os.path.isdir(folder):
        raise Exception(f"train: Error loading data from {folder}")
    return "loader", argparse.Namespace(labels=labels)


def check_train_batch_size(fits=[24]):
    fits[0] -= 1  # every trial leaves less memory
    return fits[0]


def train(hyp, opt, device, callbacks):
    assert hasattr(numpy, "trapz") and os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] == "1"
    assert device != "cpu" or torch.num_threads != "the machine's"
    folder, what = pathlib.Path(opt.save_dir), pathlib.Path(opt.cfg).stem
    (folder / "weights").mkdir(parents=True, exist_ok=True)
    batch = check_train_batch_size() if opt.batch_size == -1 else opt.batch_size
    given = {**vars(opt), "hyp": hyp, "device": device, "pid": os.getpid(), "batch": batch}
    (folder / "given.json").write_text(json.dumps(given))
    Loggers(folder)
    data = check_dataset(opt.data)
    create_dataloader(data["train"], 6 if what == "slow" else 0, labels=[[], [0]])
    create_dataloader(data["train"], 0, labels=[[], []] if data["unlabelled"] else [[], [0]])
    last, best = folder / "weights/last.pt", folder / "weights/best.pt"
    for epoch in range(opt.epochs):
        callbacks.run("on_train_epoch_start")
        if what == "oom":
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        if what == "broken":
            raise ValueError("something\nelse")
        if what == "no_image":
            trace = "\n".join(f"  File dataloaders.py, line {line}" for line in range(100))
            raise AssertionError(f"Caught AssertionError in DataLoader worker process 0.\n{trace}\n"
                                 "AssertionError: \x1b[34m\x1b[1mtrain: \x1b[0mImage Not Found a.jpg")
        assert not getattr(callbacks, "stop_training", False), "it is trained after it was told to stop"
        if what == "class":
            raise AssertionError("Label class 5 exceeds nc=3 in my.yaml. Possible class labels are 0-2")
        if what == "no_weights":
            raise FileNotFoundError(2, "No such file or directory", "no.pt")
        if what == "killed":
            killed = RuntimeError("DataLoader worker (pid 5) is killed by signal: Killed. ")
            raise RuntimeError("DataLoader worker (pid(s) 5) exited unexpectedly") from killed
        losses = [0.5, float(what) if what in ("nan", "inf") else 0.4, 0.3]
        callbacks.run("on_train_batch_end", None, epoch, None, None, None, losses)
        callbacks.run("on_train_epoch_end", epoch=epoch)
        callbacks.run("on_val_batch_end", 0, None, None, None, None, None)
        found = validate.run({"nc": 3}, hyp=hyp, epoch=epoch, epochs=opt.epochs, single_cls=opt.single_cls)
        assert all(len(maps) == (1 if opt.single_cls else 3) for maps in found[1:-1])  # one for each class' name
        assert len(found) == (4 if __package__ else 3)  # the package has another list of mAPs than the repository
        results = list(found[0])
        write(folder / "results.csv", epoch, results)
        callbacks.run("on_fit_epoch_end", losses + results + [0.1, 0.1, 0.1], epoch, 0.0, 0.0)
    if what == "full":
        last.symlink_to("/dev/full")
    torch.save("weights", str(last))
    best.write_text("weights")
    callbacks.run("on_model_save", last, opt.epochs - 1, True, 0.0, 0.0)
    assert not best.exists(), "best.pt is validated again"
    if what == "full_late":
        last.unlink()
        last.symlink_to("/dev/full")
    if last.exists():
        strip_optimizer(last)


def strip_optimizer(file):
    torch.save("weights", file)
    os.path.getsize(file)


class validate:
    """Stands in for the module val."""

    def run(data, hyp, epoch, epochs, single_cls):
        score = 0.5 / (1 + 10 * abs(hyp["scale"] - 0.4)) * (epoch + 1) / epochs
        results = (*(round(score / (1 + i), 5) for i in range(4)), 0.1, 0.3, 0.2)
        return (results, *[[score] * (1 if single_cls else data["nc"])] * (2 if __package__ else 1), (0.1, 0.2, 0.3))


def write(file, epoch, results):
    if not file.exists():
        file.write_text(",".join(["epoch", *KEYS]) + "\n")
    with open(file, "a") as rows:
        rows.write(",".join(f"{number:20.5g}" for number in [epoch, *results]) + "\n")

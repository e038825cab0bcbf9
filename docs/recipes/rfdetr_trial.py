#!/usr/bin/env python3
"""One trial of RF-DETR for `evolve --trainer-exec` (docs/trainers.md):

    python rfdetr_trial.py MODEL HYP FOLDER EPOCHS SEED DATASET [other arguments of RF-DETR's train(): batch_size=8 resolution=384]

MODEL is a class of the package rfdetr: RFDETRNano. A hyperparameter's name is that of an argument of train(): lr; what comes
after a dot is a key in it: aug_config.HorizontalFlip.p. FOLDER gets results.csv, a row as each epoch ends, from RF-DETR's metrics.csv;
of its checkpoints, 800 MB, checkpoint_best_total.pth stays. A trial that evolve stops cannot remove them: the next one does.
weights=FILE, or None, are other weights to start from.
"""
import ast
import contextlib
import csv
import fcntl
import pathlib
import sys
import threading

import rfdetr

COLUMNS = {"metrics/precision": "val/precision", "metrics/recall": "val/recall", "metrics/mAP_0.5": "val/mAP_50",
           "metrics/mAP_0.5:0.95": "val/mAP_50_95"}
PASSING = ["last.ckpt", "last_ema.pth", "checkpoint_best_ema.pth", "checkpoint_best_regular.pth"]
LOSSES = ["val/box_loss", "val/obj_loss", "val/cls_loss"]  # RF-DETR computes none on the validation images unless asked


def literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def put(settings, path, value):
    key, _, rest = path.partition(".")
    if rest:
        put(settings.setdefault(key, {}), rest, value)
    else:
        settings[key] = value


def validated(metrics):
    """The rows of metrics.csv that have a validation; the whole file is written anew when a column is added."""
    if not metrics.exists():
        return []
    with open(metrics, newline="") as file:
        return [row for row in csv.DictReader(file) if row.get("val/mAP_50_95") and row.get("val/recall")]


def follow(metrics, results, ended):
    rows = 0
    print("epoch", *COLUMNS, *LOSSES, sep=",", file=results)
    while True:
        last = ended.wait(0.5)
        found = validated(metrics)
        for row in found[rows:]:
            print(row["epoch"], *(row[column] for column in COLUMNS.values()), *(0 for _ in LOSSES), sep=",", file=results)
        rows = max(rows, len(found))
        if last:
            return


def clean(folder):
    """Removes what only a training needs that goes on; nothing of one that does, as it holds its results.csv."""
    with contextlib.suppress(OSError), open(folder / "results.csv", "r+") as results:
        fcntl.flock(results, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in PASSING:
            (folder / name).unlink(missing_ok=True)


def main(model, hyp, folder, epochs, seed, dataset, *options):
    folder = pathlib.Path(folder)
    for other in folder.parent.iterdir():
        clean(other)
    settings = {"tensorboard": False, "checkpoint_interval": int(epochs) + 1}
    settings.update((name, literal(value)) for name, value in (option.split("=", 1) for option in options))
    for line in open(hyp):
        name, value = line.rstrip("\n").split(": ")
        put(settings, name, literal(value))
    weights = {"pretrain_weights": settings.pop("weights")} if "weights" in settings else {}
    detector = getattr(rfdetr, model)(**weights)
    metrics, ended = folder / "metrics.csv", threading.Event()
    metrics.unlink(missing_ok=True)  # an earlier attempt's
    with open(folder / "results.csv", "w", buffering=1) as results:
        fcntl.flock(results, fcntl.LOCK_EX)
        follower = threading.Thread(target=follow, args=(metrics, results, ended))
        follower.start()
        try:
            detector.train(dataset_dir=dataset, output_dir=str(folder), epochs=int(epochs), seed=int(seed), **settings)
        finally:
            ended.set()
            follower.join()
    clean(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])

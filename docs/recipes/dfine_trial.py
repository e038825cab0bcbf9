#!/usr/bin/env python3
"""One trial of D-FINE for `evolve --trainer-exec` (docs/trainers.md). Runs in D-FINE's own folder:

    python dfine_trial.py CONFIG HYP FOLDER EPOCHS SEED [other options of D-FINE's train.py: --use-amp -t dfine_s_obj365.pth]

A hyperparameter's name is its place in D-FINE's configuration: optimizer.lr. In a list the next word is the `type` of what
is meant (train_dataloader.dataset.transforms.ops.RandomIoUCrop.p), or else what each that has it gets: optimizer.params.lr
is the rate of the groups that have one of their own, the backbone's. The share of epochs that CONFIG trains without strong
augmentation at the end stays the same. FOLDER gets results.csv, a row as each epoch ends, from D-FINE's log.txt.
Of its checkpoints, some 100 MB each, best_stg2.pth stays, or best_stg1.pth where that is missing; none of a trial that
evolve stops, whose are removed when the next one starts.
"""
import contextlib
import fcntl
import json
import pathlib
import subprocess
import sys
import time

import yaml

sys.path.insert(0, ".")
from src.core.yaml_utils import load_config  # D-FINE's

COLUMNS = ["epoch", "metrics/precision", "metrics/recall", "metrics/mAP_0.5", "metrics/mAP_0.5:0.95", "val/box_loss",
           "val/obj_loss", "val/cls_loss"]


def put(node, path, value):
    """Sets what `path` names in a configuration."""
    key, _, rest = path.partition(".")
    if isinstance(node, list):
        meant = [item for item in node if item.get("type") == key]
        if not meant:
            meant, rest = [item for item in node if key in item], path
        if not meant:
            raise KeyError(path)
        for item in meant:
            put(item, rest, value)
    elif rest:
        put(node[key], rest, value)
    elif key not in node and "type" not in node:  # a typed node's own code knows its other arguments
        raise KeyError(path)
    else:
        node[key] = int(value) if isinstance(node.get(key), int) and value == int(value) else value


def shorten(config, epochs):
    """Trains `epochs` epochs, the same share of them with strong augmentation."""
    augmented = round(epochs * config["train_dataloader"]["collate_fn"]["stop_epoch"] / config["epoches"])
    config["epoches"] = epochs
    config["train_dataloader"]["collate_fn"]["stop_epoch"] = augmented
    config["train_dataloader"]["dataset"]["transforms"]["policy"]["epoch"] = augmented


def row(line):
    """D-FINE measures COCO's average precision and recall, and no loss on the validation images."""
    entry = json.loads(line)
    scores = entry["test_coco_eval_bbox"]
    return [entry["epoch"], 0.0, scores[8], scores[1], scores[0], 0.0, 0.0, 0.0]


def keep(folder, names):
    """Removes the checkpoints of a trial but for the first of these that is there."""
    kept = [folder / name for name in names if (folder / name).exists()][:1]
    for file in set(folder.rglob("*.pth")) - set(kept):
        file.unlink()


def clean(folder):
    """Removes the checkpoints of a trial that was stopped. One that goes on holds its results.csv, and one that came to its
    end has no last.pth any more."""
    with contextlib.suppress(OSError), open(folder / "results.csv", "r+") as results:
        fcntl.flock(results, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if (folder / "last.pth").exists():
            keep(folder, [])


def main(config_file, hyp, folder, epochs, seed, *options):
    folder = pathlib.Path(folder)
    for other in folder.parent.iterdir():
        clean(other)
    config = load_config(config_file)
    shorten(config, int(epochs))
    for name, value in yaml.safe_load(open(hyp)).items():
        put(config, name, value)
    (folder / "config.yml").write_text(yaml.safe_dump(config, sort_keys=False))
    log = folder / "log.txt"
    log.unlink(missing_ok=True)  # D-FINE would append to an earlier attempt's
    train = subprocess.Popen([sys.executable, "train.py", "-c", folder / "config.yml", "--seed", seed, "--output-dir", folder, *options])
    rows = 0
    with open(folder / "results.csv", "w", buffering=1) as results:
        fcntl.flock(results, fcntl.LOCK_EX)
        print(*COLUMNS, sep=",", file=results)
        ended = False
        while not ended:
            time.sleep(0.5)
            ended = train.poll() is not None
            lines = log.read_text().split("\n")[:-1] if log.exists() else []
            for line in lines[rows:]:
                print(*row(line), sep=",", file=results)
            rows = len(lines)
        keep(folder, ["best_stg2.pth", "best_stg1.pth"])
    return train.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

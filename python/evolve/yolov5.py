"""Trains evolve's trials with YOLOv5's own train.py, in one process for many trials: `evolve --trainer yolov5`.

    python -m evolve.yolov5           with the package yolov5
    python -m evolve.yolov5 FOLDER    with a checkout of YOLOv5's repository

`train.train()` does the work and leaves its files in the trial's folder. A trial trains exactly as train.py does with
that folder's hyp.yaml and opt.yaml, but for these: only epochs that evolve looks at are validated, as the last one only
is in YOLOv5's own evolution, nothing is plotted, no TensorBoard file is written, weights are kept once, at the end, and
best.pt is not validated again.

It cannot pause: YOLOv5's checkpoints keep half-precision weights and no random state, so that a resumed training is
another one.
"""

import contextlib
import glob
import logging
import os
import pathlib
import sys
import time

from evolve import data_set, worker

# Options of evolve that YOLOv5 has by the same name.
OPTIONS = ("data", "cfg", "weights", "batch_size", "imgsz", "optimizer", "cos_lr", "label_smoothing", "single_cls", "rect",
           "noautoanchor", "workers", "image_weights", "multi_scale")

# Packages that follow trainings on a server. YOLOv5 uses each that it finds, and a stopped trial's would go on in the next.
TRACKERS = ("clearml", "comet_ml", "neptune", "wandb")


class Stopped(Exception):
    """A trial was told to stop."""


def options_of(trial, defaults, find):
    """YOLOv5's options of a trial: `defaults`, changed. `find` looks for a file as YOLOv5 does: by its path, or by its
    name among YOLOv5's own."""
    options = defaults
    for name in OPTIONS:
        setattr(options, name, trial.options[name])
    options.optimizer = trial.hyp.get("optimizer", options.optimizer)
    with worker.data_failures():
        options.data = find(options.data)
    options.cfg = find(options.cfg)
    options.cache = trial.options["cache"].replace("none", "") or None
    freeze = trial.options["freeze"]
    options.freeze = freeze if isinstance(freeze, list) else [freeze]
    options.epochs, options.seed, options.patience = trial.epochs, trial.seed, 0  # a trial is as good as its last epoch
    options.nosave = options.noplots = options.exist_ok = True
    options.save_dir = trial.dir
    options.project, options.name = os.path.split(trial.dir)
    return options


def hyp_of(trial):
    """YOLOv5's hyp of a trial. Without AutoAnchor, the number of anchors says nothing: the model's own are meant."""
    left_out = {"optimizer", "anchors"} if trial.options["noautoanchor"] else {"optimizer"}
    return {name: value for name, value in trial.hyp.items() if name not in left_out}


def report(trial, callbacks):
    """Makes a training report its epochs, and end as evolve says."""
    trial.metrics, losses = None, []

    def batch_done(model, number, images, targets, paths, mean_losses):
        losses[:] = mean_losses

    def trained(epoch):
        trial.epoch = epoch + 1
        # Means over the epoch's batches: one NaN among them stays.
        for name, loss in zip(("box_loss", "obj_loss", "cls_loss"), map(float, losses)):
            if not abs(loss) < float("inf"):
                raise worker.TrialFailed("diverged", f"train/{name} is {loss} in epoch {epoch + 1}")

    def epoch_done(values, epoch, best_fitness, fitness):
        if not trial.is_looked_at(epoch + 1):
            return
        trial.metrics = dict(zip(worker.METRICS, map(float, values[3:10])))
        trial.epoch_done(epoch + 1, trial.metrics)

    def next_epoch():
        # YOLOv5's own stop_training comes after a batch of the next epoch, which may fail.
        if trial.stopped:
            raise Stopped

    def saved(last, *_):
        # There is only the last epoch's: the same weights, which YOLOv5 would validate again.
        pathlib.Path(last).with_name("best.pt").unlink(missing_ok=True)

    callbacks.register_action("on_train_epoch_start", callback=next_epoch)
    callbacks.register_action("on_train_batch_end", callback=batch_done)
    callbacks.register_action("on_train_epoch_end", callback=trained)
    callbacks.register_action("on_fit_epoch_end", callback=epoch_done)
    callbacks.register_action("on_model_save", callback=saved)


def validation(trial, run, results):
    """`run`, YOLOv5's validation, for the epochs that need it; 0 for others. --noval would do that for the last epoch
    only, and ends the package's trainings (7.0.14). `results` is how many things `run` returns."""

    def validate(data, **named):
        # Image weights are drawn by each class' mAP.
        if trial.is_looked_at(trial.epoch) or trial.options["image_weights"]:
            return run(data, **named)
        classes = 1 if trial.options["single_cls"] else data["nc"]
        return (0,) * 7, *([0] * classes for _ in range(results - 2)), ()

    return validate


def yolov5(checkout):
    """YOLOv5's module `train`, of a checkout, or of the package where that is None.

    YOLOv5 7.0 is older than two changes that would end each of its trainings: NumPy 2.4 has trapz under its new name only,
    and PyTorch 2.6 loads nothing but tensors unless told otherwise (YOLOv5's weights are whole models).
    """
    import numpy

    if not hasattr(numpy, "trapz"):
        numpy.trapz = numpy.trapezoid
    os.environ.setdefault("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    sys.modules.update(dict.fromkeys(TRACKERS))  # not to be found in this process
    if checkout is None:
        from yolov5 import train
    else:
        sys.path.insert(0, checkout)
        import train
    # What YOLOv5 does itself where TensorBoard is missing: its writers are never closed, each keeps a thread.
    sys.modules[train.Loggers.__module__].SummaryWriter = lambda *_: None
    # Nothing is drawn, and without a network the download of a font to draw with would end each training, or never end.
    sys.modules[train.check_dataset.__module__].check_font = lambda *_, **__: None
    log = sys.modules[train.check_dataset.__module__].LOGGER
    one_looks_over(sys.modules[train.create_dataloader.__module__])
    train.check_dataset = worker.data_failures()(with_missing_paths(train.check_dataset, log))
    train.create_dataloader = with_labels(worker.data_failures()(train.create_dataloader))
    strip = train.strip_optimizer

    def strip_expendably(file):
        with worker.expendable(file):
            strip(file)

    train.strip_optimizer = strip_expendably
    # AutoBatch would find another batch for each trial, by what the last one has left of the memory.
    train.check_train_batch_size = worker.asked_once(train.check_train_batch_size)
    return train


class MissingPaths(logging.Handler):
    """Hears which paths of a data set YOLOv5 does not find: it says that in its log alone."""

    def __init__(self):
        super().__init__()
        self.said = ""

    def emit(self, record):
        line = " ".join(record.getMessage().split())
        if "missing paths" in line:
            self.said = line


def is_relative(data):
    """Whether a data set's YAML says only from somewhere else where its images are."""
    import yaml

    if not data.endswith((".yaml", ".yml")):  # an archive
        return False
    with open(data, encoding="utf-8", errors="ignore") as file:
        said = yaml.safe_load(file)
    root = said.get("path")
    return not os.path.isabs(root if isinstance(root, str) else str(said.get("val")))


def with_missing_paths(check_dataset, log):
    """`check_dataset`, whose failure names them, and why they could not be fetched."""

    def look(data, *arguments, **named):
        heard = MissingPaths()
        log.addHandler(heard)
        try:
            return check_dataset(data, *arguments, **named)
        except Exception as error:
            if not heard.said:
                raise
            words = heard.said
            if "Dataset not found" not in str(error):
                words += f" ({worker.message_of(error)})"
            if is_relative(data):
                words += "; YOLOv5 looks for a relative path: beside its own files, so write an absolute one"
            raise worker.TrialFailed("data", words) from error
        finally:
            log.removeHandler(heard)

    return look


def one_looks_over(dataloaders):
    """Makes one slot at a time look over the labels of a data set: YOLOv5 writes damaged images anew while it does, which
    others would find half written, and leave out from then on. Those that had to wait take what it has saved."""
    import numpy
    import tqdm

    dataset_class = dataloaders.LoadImagesAndLabels
    look_over = dataset_class.cache_labels

    def wait():
        for _ in tqdm.tqdm([0], disable=True):  # a sign of life
            time.sleep(0.2)

    def saved(dataset, path):
        found = numpy.load(path, allow_pickle=True).item()
        files = dataset.label_files + dataset.im_files
        return found if (found["version"], found["hash"]) == (dataset.cache_version, dataloaders.get_hash(files)) else None

    def cache_labels(dataset, path, prefix=""):
        with data_set.alone_in(path.parent, wait) as waited:
            found = None
            if waited:
                with contextlib.suppress(Exception):  # whatever it is, YOLOv5 looks itself then
                    found = saved(dataset, path)
            return found or look_over(dataset, path, prefix)

    dataset_class.cache_labels = cache_labels


def with_labels(create_dataloader):
    """`create_dataloader`, images without any label being refused: YOLOv5 does so itself where it trains on them."""

    def create(images, *arguments, **named):
        loader, dataset = create_dataloader(images, *arguments, **named)
        data_set.check_labels(dataset.labels, "val", images)
        return loader, dataset

    return create


def checkout_named():
    """The folder on the command line, off it, as YOLOv5 reads that too; None: the package is meant."""
    return sys.argv.pop() if len(sys.argv) > 1 else None


def version_of(module, checkout):
    """Of a checkout the commit, where YOLOv5 finds it."""
    if checkout is None:
        return sys.modules["yolov5"].__version__
    return getattr(module, "GIT_INFO", {}).get("commit") or "of a checkout"


def check_table(cfg, module):
    """Raises what is wrong with a model's table."""
    try:
        module.Model(cfg, ch=3)
    except Exception as error:
        raise ValueError(f"'{cfg}' is no model of YOLOv5's ({worker.said_by(error)}); name a table such as yolov5s.yaml") from None


def check_weights(weights, cfg, module):
    """Raises what is wrong with weights that each trial would begin with, as YOLOv5 loads them: without a table their own
    says what the model is."""
    import torch

    remedy = "name weights of YOLOv5's, a .pt file"
    try:
        file = module.attempt_download(weights)
    except ImportError:
        raise
    except Exception as error:
        if os.path.isfile(weights):
            raise
        raise FileNotFoundError(f"'{weights}' is not here, and cannot be fetched ({worker.said_by(error)})") from None
    if not os.path.isfile(file):
        raise FileNotFoundError(f"'{weights}' does not exist")
    if not file.endswith(".pt"):
        raise ValueError(f"'{weights}' has no weights; {remedy}")
    try:
        model = torch.load(file, map_location="cpu")["model"]
        if not cfg:
            module.Model(model.yaml, ch=3)
    except Exception as error:
        raise ValueError(f"'{weights}' has no weights of YOLOv5's ({worker.said_by(error)}); {remedy}") from None


def check_places(found):
    """Raises what YOLOv5 would find nothing in: it takes a folder's name for a pattern."""
    for place in data_set.places_of(found, "train") + data_set.places_of(found, "val"):
        if os.path.isdir(place) and place not in glob.glob(place):
            raise ValueError(f"YOLOv5 finds no images in '{place}', for it takes [, ? and * for a pattern; rename the folder")


def check(options, space, begins):
    """See worker.main. What hyperparameters and optimizers YOLOv5 has, evolve knows."""
    checkout = checkout_named()
    module = yolov5(checkout)
    cfg = module.check_file(options["cfg"])
    if cfg:
        check_table(cfg, module)
    if options["weights"]:
        check_weights(options["weights"], cfg, module)
    if os.path.isdir(options["data"]):
        raise ValueError(f"'{options['data']}' is a folder; name the data set's YAML file")
    data = module.check_file(options["data"])
    contents = {}
    try:
        found = module.check_dataset(data, autodownload=False)
    except worker.TrialFailed as error:
        if isinstance(error.__cause__, (AssertionError, AttributeError, KeyError, TypeError)):  # of a "data.yaml", or no file
            said = worker.said_by(error.__cause__)
            raise ValueError(f"'{data}' is no data set of YOLOv5's ({said}); write train:, val: and names:") from None
        if not data_set.is_fetched(data):  # that happens when it trains
            raise
    else:
        data_set.check_images(data, found)
        check_places(found)
        contents = data_set.contents_of(found)
        data_set.check_same(options["data"], contents, options.get("inputs") or {})
    return f"yolov5 {version_of(module, checkout)}, torch {sys.modules['torch'].__version__}", [], contents


def load():
    """Imports YOLOv5; returns what trains a trial with it."""
    import gc

    checkout = checkout_named()
    threads = worker.cpu_threads()  # YOLOv5 says another number in OMP_NUM_THREADS as soon as it is imported
    module = yolov5(checkout)
    run = module.validate.run
    import torch
    import tqdm

    worker.check_device(torch, os.environ["EVOLVE_DEVICE"])
    worker.save_expendably(torch)

    def train(trial):
        kind = worker.torch_kind(trial.device)
        if kind == "cpu":
            torch.set_num_threads(threads)
        # It would be continued.
        pathlib.Path(trial.dir, "results.csv").unlink(missing_ok=True)
        options = options_of(trial, module.parse_opt(True), module.check_file)
        data_set.find_unchanged(trial.options, lambda: module.check_dataset(options.data), paths=lambda found: found)
        callbacks = module.Callbacks()
        report(trial, callbacks)
        module.validate.run = validation(trial, run, 3 if checkout else 4)
        try:
            with worker.signs_of_life(tqdm.tqdm, trial):
                module.train(hyp_of(trial), options, torch.device(kind if kind in ("cpu", "mps") else f"{kind}:0"), callbacks)
        except Stopped:
            pass
        finally:
            gc.collect()
        return trial.metrics

    return train


if __name__ == "__main__":
    worker.main(load, check)

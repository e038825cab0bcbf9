"""Trains evolve's trials with Ultralytics, in one process for many trials: `evolve --trainer ultralytics`.

Ultralytics' trainer of the model's task does the work, and leaves its files in the trial's folder. A trial trains
exactly as `yolo train` does with the settings of its args.yaml, but for these: nothing is plotted, and weights are kept
once, at the end, in last.pt alone, and not validated again.

Trials can be paused: see evolve.ultralytics_pause.
"""

import contextlib
import os
import sys

from evolve import data_set, worker
from evolve import ultralytics_pause as pause

# Options of evolve that Ultralytics has too.
SETTINGS = {"data": "data", "batch_size": "batch", "imgsz": "imgsz", "optimizer": "optimizer", "cos_lr": "cos_lr",
            "single_cls": "single_cls", "rect": "rect", "workers": "workers", "amp": "amp", "fraction": "fraction"}

LEAST_VERSION = (8, 3)  # before, its trainer loads data sets and saves weights otherwise
# Metrics that Ultralytics names differently in its tasks: the letter of each kind of prediction, and the losses that
# stand for YOLOv5's three. RT-DETR's stand behind YOLO's.
PREDICTIONS = "BMP"  # boxes, masks, poses
LOSSES = {"val/box_loss": ("val/box_loss", "val/giou_loss"), "val/obj_loss": ("val/dfl_loss", "val/l1_loss"),
          "val/cls_loss": ("val/cls_loss", "val/loss")}
BOXED = ("detect", "segment", "pose", "obb")  # tasks whose images have labels: a classifier's folders are its labels
NO_TASK = "its task has no precision, recall and mAP: evolve trains detectors, segmenters, poses, oriented boxes and classifiers"
# What a person should know who reads of mAP: see as_metrics.
NOTES = {"segment": ["precision, recall and mAP are means over boxes and masks"],
         "pose": ["precision, recall and mAP are means over boxes and poses"],
         "classify": ["mAP50-95, precision and recall stand for the top-1 accuracy, mAP50 for the top-5"]}
# Settings that evolve sets, or that would make another training of it: `time` ends it early, `resume` goes on with another.
OURS = ("model", "epochs", "seed", "device", "patience", "plots", "save", "save_period", "val", "project", "name", "exist_ok", "data",
        "time", "resume", "save_dir", "task", "mode", "cfg")


def as_metrics(found):
    """Ultralytics' metrics of a validation as the seven of evolve.

    Precision, recall and both mAPs are the means over what the task predicts: boxes, and masks or poses. Of a
    classifier the top-1 accuracy is precision, recall (they are the same, counted over all images) and
    mAP_0.5:0.95, the top-5 accuracy mAP_0.5. A loss that the model does not have is 0. Raises TrialFailed for a task
    without any of these.
    """
    if "metrics/accuracy_top1" in found:
        top1, top5 = found["metrics/accuracy_top1"], found["metrics/accuracy_top5"]
        scores = (top1, top1, top5, top1)
    else:
        kinds = [kind for kind in PREDICTIONS if f"metrics/mAP50({kind})" in found]
        if not kinds:
            raise worker.TrialFailed("other", NO_TASK)
        scores = [sum(found[f"metrics/{name}({kind})"] for kind in kinds) / len(kinds)
                  for name in ("precision", "recall", "mAP50", "mAP50-95")]
    metrics = dict(zip(worker.METRICS, map(float, scores)))
    for name, theirs in LOSSES.items():
        metrics[name] = float(next((found[their] for their in theirs if their in found), 0))
    return metrics


def as_setting(name, value, defaults):
    """A hyperparameter as Ultralytics wants it: whole numbers and yes or no where its default is one, and None for `none`,
    as its command line has it. Raises TrialFailed for one that it does not know or that is not the user's."""
    if name in OURS:
        raise worker.TrialFailed("other", f"'{name}' is for evolve to set; leave it out of --hyp and --space")
    if name not in defaults:
        raise worker.TrialFailed("other", f"'{name}' means nothing to this version of Ultralytics; leave it out of "
                                 "--hyp, and of the space with --space")
    kind = int if name == "freeze" else type(defaults[name])  # its default is None; a fraction would freeze nothing
    if kind is bool and isinstance(value, str) and value.lower() in ("true", "false"):  # a choice of the space
        return value.lower() == "true"
    if value == "none":
        return None
    return kind(value) if kind in (bool, int) and not isinstance(value, str) else value


def device_of(slot):
    """The slot's device as Ultralytics calls it. A process sees one, as number 0. A CUDA device is left to be found:
    until 2026, Ultralytics showed itself the machine's first one when it was given a number."""
    kind = worker.torch_kind(slot)
    return {"cuda": None, "cpu": "cpu", "mps": "mps"}.get(kind, f"{kind}:0")


def refuse_unknown_device(select_device, slot, version):
    """Ends the process with one line where the device is an XPU, and this Ultralytics knows none (before 8.4.111)."""
    if worker.torch_kind(slot) != "xpu":
        return
    try:
        select_device(device_of(slot), verbose=False)
    except ValueError:
        sys.exit(f"{slot}: ultralytics {version} knows no XPU; install a newer one: {sys.executable} -m pip install -U "
                 "ultralytics")


def settings_of(trial, defaults):
    """Ultralytics' settings of a trial."""
    options = trial.options
    settings = {theirs: options[ours] for ours, theirs in SETTINGS.items()}
    settings["model"] = options["cfg"] or options["weights"]
    if options["cfg"] and options["weights"]:
        settings["pretrained"] = options["weights"]
    if options["freeze"]:
        settings["freeze"] = options["freeze"]
    if options["cache"] not in ("", "none"):
        settings["cache"] = options["cache"]
    settings.update({name: as_setting(name, value, defaults) for name, value in trial.hyp.items()})
    return dict(settings, epochs=trial.epochs, seed=trial.seed, device=device_of(trial.device), patience=0, plots=False,
                save=False, val=True, project=os.path.dirname(trial.dir), name=os.path.basename(trial.dir),
                exist_ok=True)


def trainer_class(base):
    """Ultralytics' trainer of a task."""
    from ultralytics.utils.torch_utils import strip_optimizer

    class Trainer(pause.pausable(base)):
        def get_dataset(self):
            with worker.data_failures():
                return super().get_dataset()

        def build_dataset(self, img_path, mode="train", batch=None):
            with worker.data_failures():
                dataset = super().build_dataset(img_path, mode, batch)
            if mode == "val" and self.args.task in BOXED:
                data_set.check_labels((label["cls"] for label in dataset.labels), img_path)
            return dataset

        def save_model(self):
            with worker.expendable(self.last, self.best):
                return super().save_model()

        def final_eval(self):
            """Every epoch has been validated, and weights are kept of the last one alone: best.pt is the same as last.pt."""
            self.best.unlink(missing_ok=True)
            if self.last.exists():
                with worker.expendable(self.last):
                    strip_optimizer(self.last)

    return Trainer


def model_of(name):
    """Ultralytics' model of that name, fetched where it is one of its own; as `yolo` does: YOLO knows an RT-DETR's weights,
    but not its tables. That it cannot be had is no trial's fault."""
    from ultralytics import RTDETR, YOLO

    with worker.data_failures():
        return (RTDETR if "rtdetr" in os.path.basename(name).lower() else YOLO)(name)


def check_model(name):
    """Ultralytics' model of that name. Raises what is wrong with one that can be loaded, but not trained."""
    kind = os.path.splitext(name)[1].lower()
    if kind not in ("", ".pt", ".yaml", ".yml"):
        raise worker.TrialFailed("other", f"'{name}' cannot be trained; name weights (.pt) or a model's table (.yaml)")
    try:
        return model_of(name)
    except worker.TrialFailed as failed:
        if kind not in (".yaml", ".yml") or not isinstance(failed.__cause__, KeyError):
            raise
        key = failed.__cause__.args[0]
        if key in ("backbone", "head", "nc"):
            words = f"is no model's table: it has no '{key}'"
        elif len(str(key)) == 1:  # in its file's name: yolo11x.yaml
            words = f"has no scale '{key}'"
        else:
            words = f"names '{key}', which this Ultralytics does not have"
        raise worker.TrialFailed("other", f"'{name}' {words}") from None


def check_uncut(name, value, setting, evolves):
    """Raises TrialFailed for a value between two that Ultralytics can have, which a trial would have cut."""
    if isinstance(value, str) or setting == value:
        return
    has, write = ("yes or no", "choices: [True, False]") if isinstance(setting, bool) else ("a whole number", "type: int")
    remedy = f"; in --space write {write}" if evolves else ""
    raise worker.TrialFailed("other", f"'{name}' is {has} for Ultralytics, not {value:g}{remedy}")


def check_values(space, begins):
    """Raises what Ultralytics has against a value that a hyperparameter may have. The space of a run that goes on cannot
    be written otherwise: its trials train as those before, with what values are cut to."""
    from ultralytics.cfg import get_cfg
    from ultralytics.utils import DEFAULT_CFG_DICT

    for name, values in space.items():
        for value in values:
            with worker.of_hyperparameter(name, is_start=value == values[0]):
                setting = as_setting(name, value, DEFAULT_CFG_DICT)
                get_cfg(overrides={name: setting})
                if begins:
                    check_uncut(name, value, setting, evolves=len(values) > 1)


def check_optimizers(names):
    """Raises what Ultralytics says of an optimizer that it does not have."""
    import types

    import torch
    from ultralytics.engine.trainer import BaseTrainer

    for name in names:
        try:
            BaseTrainer.build_optimizer(types.SimpleNamespace(), torch.nn.Linear(1, 1), name)
        except NotImplementedError as error:
            raise worker.TrialFailed("other", worker.said_by(error).split(" Request support")[0]) from None
        except Exception:  # noqa: BLE001  it wants a model that is one
            pass


def check_data(data, task):
    """The paths of the data set; {}: they are not here. Raises what Ultralytics has against it, as far as it shows without a
    download: its own it fetches when it trains."""
    from ultralytics.data import utils
    from ultralytics.utils.checks import check_file

    if "://" in data or data.endswith(".ndjson"):
        return {}
    if task not in BOXED:
        return check_folders(data)
    utils.check_font = lambda *_, **__: None  # to draw with; without a network it would be waited for
    try:
        found = utils.check_det_dataset(data, autodownload=False)
    except FileNotFoundError as error:
        files = [check_file(data + suffix, hard=False) for suffix in ("", ".yaml", ".yml")]  # coco8 is coco8.yaml
        if "images not found" not in str(error) or not any(map(data_set.is_fetched, filter(None, files))):
            raise
        return {}
    data_set.check_images(data, found)
    if task == "pose" and "kpt_shape" not in found:
        raise worker.TrialFailed("data", f"'{data}': a pose model needs 'kpt_shape:', such as [17, 3]")
    return found


def check_folders(data):
    """As check_data, of a classifier's data set: a folder of splits, or the name of one that may be fetched."""
    from ultralytics.data import utils
    from ultralytics.utils import DATASETS_DIR

    folder = data if os.path.isdir(data) else os.path.join(DATASETS_DIR, data)
    if not os.path.isdir(folder):
        if data.endswith((".yaml", ".yml")):
            raise worker.TrialFailed("data", f"'{data}': a classifier's data set is a folder that has train/ and val/")
        if os.sep in data and not os.path.exists(data):
            raise FileNotFoundError(f"'{data}' does not exist")
        return {}
    # Ultralytics would split it by itself, in each trial anew: two at a time lose images to each other.
    if not os.path.isdir(os.path.join(folder, "train")):
        raise worker.TrialFailed("data", f"'{data}' has no folder 'train'; split it once, with split_classify_dataset of "
                                 f"ultralytics.data.split, and name {folder.rstrip(os.sep)}_split")
    if not any(os.path.exists(os.path.join(folder, split)) for split in ("val", "validation", "valid", "test")):
        raise worker.TrialFailed("data", f"'{data}' has no folder 'val'")
    return utils.check_cls_dataset(folder)


def check_name(model, task, space):
    """Raises where a classifier would evolve what detectors have: evolve tells one by its name, as Ultralytics gives it."""
    evolving = {name for name, values in space.items() if len(values) > 1}
    if task == "classify" and {"box", "dfl", "mosaic"} <= evolving:
        raise worker.TrialFailed("other", f"'{model}' is a classifier, and evolve knows one by its name: give it, or a link "
                                 "to it, a name that ends with -cls, or name --space, --hyp and --imgsz")


def check(options, space, begins):
    """See worker.main."""
    import torch
    import ultralytics

    if tuple(map(int, ultralytics.__version__.split(".")[:2])) < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        raise worker.TrialFailed("other", f"ultralytics {ultralytics.__version__} is too old, evolve needs {least} or later")
    check_values(space, begins)
    check_optimizers(space.get("optimizer", [options["optimizer"]]))
    task = check_model(options["cfg"] or options["weights"]).task
    if task not in (*BOXED, "classify"):
        raise worker.TrialFailed("other", NO_TASK)
    if begins:
        check_name(options["cfg"] or options["weights"], task, space)
    if options["cfg"] and options["weights"]:
        check_model(options["weights"])
    contents = data_set.contents_of(check_data(options["data"], task))
    data_set.check_same(options["data"], contents, options.get("inputs") or {})
    return f"ultralytics {ultralytics.__version__}, torch {torch.__version__}", NOTES.get(task, []), contents


def saved_at_once(save):
    """Ultralytics' `save` of the labels that it has looked over, for several slots that look over a data set at the same time.

    It removes the file first, which fails where another slot just has, and writes while others may read.
    """

    def save_at_once(prefix, path, labels, version):
        own = path.with_name(f"{path.name}.{os.getpid()}")
        save(prefix, own, labels, version)
        with contextlib.suppress(FileNotFoundError):  # a folder that cannot be written to, as Ultralytics has said
            os.replace(own, path)

    return save_at_once


def keep_images(dataset_class):
    """Makes Ultralytics' data sets keep from one trial to the next the images that they hold in memory."""
    images, fits, cache = {}, dataset_class.check_cache_ram, dataset_class.cache_images

    def key(dataset):
        return tuple(dataset.im_files), str(dataset.imgsz), dataset.rect

    def check_cache_ram(dataset):
        # It looks at images drawn at random: a trial draws as many whether it is the first or not.
        found = fits(dataset)
        if key(dataset) not in images:
            return found
        dataset.cache = "ram"
        return True

    def cache_images(dataset):
        if dataset.cache != "ram":
            return cache(dataset)
        if key(dataset) not in images:
            cache(dataset)
            images[key(dataset)] = dataset.ims, dataset.im_hw0, dataset.im_hw
        dataset.ims, dataset.im_hw0, dataset.im_hw = images[key(dataset)]

    dataset_class.check_cache_ram, dataset_class.cache_images = check_cache_ram, cache_images


def report(trial, trainer, kept):
    """Makes a trainer go on with what it kept when it was paused, if it was, report its epochs, and end as evolve says."""

    def prepared(trainer):
        trial.batch = trainer.batch_size  # AutoBatch's, where that was asked for
        if kept:
            pause.go_on(trainer, kept)

    def epoch_begins(trainer):
        # On its first epoch Ultralytics halves a batch that does not fit and goes on: another training than asked for.
        if trainer.batch_size < trial.batch:
            raise worker.TrialFailed("oom", f"out of memory with batches of {trial.batch}")
        if kept:
            pause.begin_epoch(trainer, kept)

    def batch_begins(trainer):
        trainer.batches += 1

    def check_loss(trainer):
        if not bool(trainer.loss.isfinite()):
            raise worker.TrialFailed("diverged", f"the loss is {float(trainer.loss)} in epoch {trainer.epoch + 1}")

    def epoch_done(trainer):
        trial.metrics = as_metrics(trainer.metrics)
        if not trial.epoch_done(trainer.epoch + 1, trial.metrics):
            trainer.stop = True
            if trial.paused:
                pause.keep(trainer, trial.dir)

    trainer.add_callback("on_pretrain_routine_end", prepared)
    trainer.add_callback("on_train_epoch_start", epoch_begins)
    trainer.add_callback("on_train_batch_start", batch_begins)
    trainer.add_callback("on_train_epoch_end", check_loss)
    trainer.add_callback("on_fit_epoch_end", epoch_done)


def load():
    """Imports Ultralytics; returns what trains a trial with it."""
    import gc

    import torch

    worker.save_expendably(torch)  # before Ultralytics puts its own around it
    from ultralytics import __version__
    from ultralytics.data import dataset
    from ultralytics.data.base import BaseDataset
    from ultralytics.engine import trainer as engine
    from ultralytics.utils import DEFAULT_CFG_DICT, TQDM, callbacks
    from ultralytics.utils.torch_utils import select_device

    slot = os.environ["EVOLVE_DEVICE"]
    worker.check_device(torch, slot)
    refuse_unknown_device(select_device, slot, __version__)
    # Trackers that the user's settings switch on, and Ultralytics' own platform, are for single trainings.
    callbacks.add_integration_callbacks = lambda _: None
    # It depends on the device alone; without a network each trial would wait for the weights that it is done with.
    engine.check_amp = worker.asked_once(engine.check_amp)
    dataset.save_dataset_cache_file = saved_at_once(dataset.save_dataset_cache_file)
    keep_images(BaseDataset)
    classes, batches = {}, {}

    def train(trial):
        settings = settings_of(trial, DEFAULT_CFG_DICT)
        kept = pause.kept(trial.dir, trial.start_epoch)
        asked = settings["batch"]
        settings["batch"] = kept["batch"] if kept else batches.get(asked, asked)
        name = settings["model"]
        if name not in classes:
            model = model_of(name)
            classes[name] = model.task, trainer_class(model.task_map[model.task]["trainer"])
        task, trainer_of_task = classes[name]
        with worker.signs_of_life(TQDM, trial):
            trainer = data_set.find_unchanged(trial.options, lambda: trainer_of_task(overrides={**settings, "task": task}),
                                              paths=lambda trainer: trainer.data)
            if trainer.device.type != worker.torch_kind(trial.device):
                raise worker.TrialFailed("device_lost", f"Ultralytics takes {trainer.device.type} for {trial.device}")
            if trainer.device.type == "cpu":
                torch.set_num_threads(worker.cpu_threads())  # Ultralytics takes the machine's, not the slot's
            report(trial, trainer, kept)
            trainer.train()
        del trainer
        gc.collect()
        if not kept:
            batches[asked] = trial.batch  # AutoBatch would find another one for each trial, by what the last one has left
        return trial.metrics

    return train


if __name__ == "__main__":
    worker.main(load, check, can_pause=True)

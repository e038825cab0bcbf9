"""Trains evolve's trials with Ultralytics, in one process for many trials: `evolve --trainer ultralytics`.

Ultralytics' trainer of the model's task does the work, and leaves its files in the trial's folder. A trial trains
exactly as `yolo train` does with the settings of its args.yaml, but for these: nothing is plotted, and weights are kept
once, at the end, in last.pt alone, and not validated again.

Trials can be paused: see evolve.ultralytics_pause.
"""

import os
import sys

from evolve import data_set, worker
from evolve import ultralytics_pause as pause
from evolve.ultralytics_check import BOXED, NO_TASK, check, model_of
from evolve.ultralytics_settings import device_of, settings_of

# Metrics that Ultralytics names differently in its tasks: the letter of each kind of prediction, and the losses that
# stand for YOLOv5's three. RT-DETR's stand behind YOLO's.
PREDICTIONS = "BMP"  # boxes, masks, poses
LOSSES = {"val/box_loss": ("val/box_loss", "val/giou_loss"), "val/obj_loss": ("val/dfl_loss", "val/l1_loss"),
          "val/cls_loss": ("val/cls_loss", "val/loss")}


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


def refuse_unknown_device(select_device, slot, version):
    """Ends the process with one line where the device is an XPU, and this Ultralytics knows none (before 8.4.111)."""
    if worker.torch_kind(slot) != "xpu":
        return
    try:
        select_device(device_of(slot), verbose=False)
    except ValueError:
        sys.exit(f"{slot}: ultralytics {version} knows no XPU; install a newer one: {sys.executable} -m pip install -U "
                 "ultralytics")


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
            if self.args.task in BOXED:
                data_set.check_labels((label["cls"] for label in dataset.labels), mode, img_path)
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


def saved_at_once(save):
    """Ultralytics' `save` of the labels that it has looked over, for several slots that look over a data set at the same time.

    It removes the file first, which fails where another slot just has, and writes while others may read.
    """

    def save_at_once(prefix, path, labels, version):
        # Before 8.3.75 Ultralytics replaces the name's ending, for a moment.
        own = path.with_name(f"{os.getpid()}.{path.name}")
        save(prefix, own, labels, version)
        if own.exists():  # not where the folder cannot be written to, as Ultralytics has said
            os.replace(own, path)

    return save_at_once


def keep_images(dataset_class):
    """Makes Ultralytics' data sets keep from one trial to the next the images that they hold in memory. With another share of
    the images, or another size, it is another data set, which takes the place of the last one."""
    images, last, fits, cache = {}, {}, dataset_class.check_cache_ram, dataset_class.cache_images

    def key(dataset):
        return tuple(dataset.im_files), str(dataset.imgsz), dataset.rect

    def take_the_place_of_the_last(dataset):
        before, last[dataset.prefix] = last.get(dataset.prefix), key(dataset)  # "train: ", "val: "
        if before not in last.values():
            images.pop(before, None)

    def check_cache_ram(dataset):
        take_the_place_of_the_last(dataset)
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
        # On its first epoch Ultralytics halves a batch that does not fit, one of 1 to one of 1, and goes on with the
        # optimizer as it is: another training than asked for.
        if trainer.batch_size < trial.batch or getattr(trainer, "_oom_retries", 0):
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

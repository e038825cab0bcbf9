"""Stands in for Ultralytics, as far as evolve.ultralytics uses it. Trains nothing; what goes wrong is in the model's
name: oom.yaml, halved.yaml, nan.yaml, nan_loss.yaml, lost.yaml, gone.yaml, slow.yaml, full.yaml, full_late.yaml, full_pause.yaml, no_weights.yaml, offline.yaml,
broken.yaml, short.yaml, no_table.yaml, and goes.pt, a file that the first trial takes away."""
import json
import math
import os
import pathlib
import types

import torch
from ultralytics.data import utils
from ultralytics.data.base import BaseDataset
from ultralytics.engine import trainer as engine
from ultralytics.engine import training
from ultralytics.utils import DEFAULT_CFG_DICT, callbacks

__version__ = os.environ.get("ULTRALYTICS_VERSION", "8.4.190")

print("Creating new Ultralytics Settings")  # on standard output, as the real one does

VALIDATED = {
    "detect": ["precision(B)", "recall(B)", "mAP50(B)", "mAP50-95(B)"],
    "segment": ["precision(B)", "recall(B)", "mAP50(B)", "mAP50-95(B)", "precision(M)", "recall(M)", "mAP50(M)", "mAP50-95(M)"],
    "pose": ["precision(B)", "recall(B)", "mAP50(B)", "mAP50-95(B)", "precision(P)", "recall(P)", "mAP50(P)", "mAP50-95(P)"],
    "obb": ["precision(B)", "recall(B)", "mAP50(B)", "mAP50-95(B)"],
    "classify": ["accuracy_top1", "accuracy_top5"],
    "semantic": ["mIoU", "pixel_acc"],
}
ENDINGS = {"-seg": "segment", "-pose": "pose", "-obb": "obb", "-cls": "classify", "-sem": "semantic"}


class Loss(float):
    def isfinite(self):
        return math.isfinite(self)


class Trainer:
    losses = ["box_loss", "cls_loss", "dfl_loss"]
    free_memory = 24  # as many images fit; every trial leaves less

    def __init__(self, overrides):
        assert set(overrides) <= set(DEFAULT_CFG_DICT), overrides
        for name in ("close_mosaic", "seed", "epochs"):
            assert type(overrides.get(name, 0)) is int, name
        self.args = types.SimpleNamespace(**{**DEFAULT_CFG_DICT, **overrides})
        assert self.args.optimizer != "auto" and self.args.exist_ok and not self.args.plots, overrides
        self.save_dir = pathlib.Path(self.args.project) / self.args.name
        (self.save_dir / "weights").mkdir(parents=True, exist_ok=True)
        (self.save_dir / "args.json").write_text(json.dumps({**overrides, "pid": os.getpid()}))
        self.last, self.best = self.save_dir / "weights/last.pt", self.save_dir / "weights/best.pt"
        # The real one reverts to the CPU without a word.
        has_cuda = self.args.device is None and torch.cuda.is_available() and "gone" not in self.args.model
        self.device = types.SimpleNamespace(type="cuda" if has_cuda else "cpu")
        torch.num_threads = "the machine's"  # as the real one takes on a CPU
        self.batch_size = self.args.batch
        self.epochs, self.start_epoch = self.args.epochs, 0
        self.callbacks, self.stop = {}, False
        self.csv = self.save_dir / "results.csv"
        self.csv.unlink(missing_ok=True)
        callbacks.add_integration_callbacks(self)
        self.data = self.get_dataset()

    def get_dataset(self):
        if self.args.task == "classify":
            return {split: os.path.join(self.args.data, split) for split in ("train", "val")}
        try:
            return utils.check_det_dataset(self.args.data)
        except Exception as error:
            raise RuntimeError(f"Dataset '{self.args.data}' error: {error}") from error

    def build_dataset(self, img_path, mode="train", batch=None):
        return BaseDataset(img_path, self.args, mode)

    def add_callback(self, event, callback):
        self.callbacks.setdefault(event, []).append(callback)

    def run_callbacks(self, event):
        for callback in self.callbacks.get(event, []):
            callback(self)

    def train(self):
        what = pathlib.Path(self.args.model).stem
        assert engine.check_amp(what)
        assert self.device.type == "cuda" or torch.num_threads != "the machine's"
        if os.sep in self.args.model and not os.path.exists(self.args.model):
            raise FileNotFoundError(2, "No such file or directory", self.args.model)
        if what == "offline":
            raise ConnectionError("Download failure for offline.yaml. Environment may be offline.")
        dataset = self.build_dataset(self.data["train"])
        self.build_dataset(self.data["train"], "val")
        assert (dataset.ims[0] is None) == (self.args.cache is False), (dataset.ims, self.args.cache)
        print(f"Mosaics of {dataset.mosaics_of}")
        if self.batch_size < 1:
            self.batch_size = Trainer.free_memory
            Trainer.free_memory -= 1
        if what == "full_pause":
            (self.save_dir / "paused.pt.tmp").symlink_to("/dev/full")
        self.accumulate = 4  # batches a step
        self.model = training.Model()
        self.ema, self.optimizer, self.scaler = training.Average(self.model), training.Optimizer(), training.Scaler()
        self.scheduler, self.train_loader = training.Schedule(), training.Loader()
        self.mosaic = True
        self.run_callbacks("on_pretrain_routine_end")
        with open(self.save_dir / "orders", "a") as orders:  # from pause to pause
            orders.write(self.train_loader.order + "\n")
        self.model.weight.grad = None
        self.last_step = -1
        for self.epoch in range(self.start_epoch, self.epochs):
            self.run_callbacks("on_train_epoch_start")
            print(f"{self.epoch + 1}/{self.args.epochs}")
            if what == "oom":
                raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
            if what == "lost":
                raise RuntimeError("level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)")
            if what == "broken":
                raise ValueError("something\nelse")
            if what == "halved":
                self.batch_size //= 2
            self.loss = Loss("nan") if what == "nan_loss" else Loss(1.5)
            self.train_epoch()
            self.run_callbacks("on_train_batch_end")
            self.run_callbacks("on_train_epoch_end")
            self.run_callbacks("on_val_batch_end")
            self.metrics = self.validate("nan" if what == "nan" else 0)
            self.run_callbacks("on_fit_epoch_end")
            if self.stop or what == "short":
                break
        if what == "full":
            self.last.symlink_to("/dev/full")
        if what == "goes" and self.args.name == "000000":
            os.unlink(self.args.model)
        self.save_model()
        if what == "full_late":
            self.last.unlink()
            self.last.symlink_to("/dev/full")
        self.final_eval()

    def train_epoch(self):
        self.scheduler.step()
        if self.epoch == self.epochs - self.args.close_mosaic:
            self._close_dataloader_mosaic()
        weight = self.model.weight
        for batch in range(len(self.train_loader)):
            self.run_callbacks("on_train_batch_start")
            self.model.criterion = self.model.criterion or self.model.init_criterion()
            weight.grad = torch.Number((weight.grad or 0) + self.scaler.scale * self.model.criterion.share * weight.value)
            number = batch + self.epoch * len(self.train_loader)
            if number - self.last_step >= self.accumulate:
                self.optimizer_step()
                self.last_step = number
        self.model.criterion.update()

    def optimizer_step(self):
        weight = self.model.weight
        weight.grad /= self.scaler.scale
        self.optimizer.step(weight, self.scheduler.rate())
        weight.grad = None
        self.scaler.scale *= 2
        self.ema.update(self.model)

    def _close_dataloader_mosaic(self):
        self.mosaic = False

    def save_model(self):
        (self.save_dir / "trained.json").write_text(json.dumps(
            {"weights": [self.model.weight.value, self.ema.ema.weight.value], "order": self.train_loader.order,
             "mosaic": self.mosaic}))
        for file in (self.last, self.best):  # the last epoch is the best one
            file.write_text("weights and optimizer")

    def validate(self, unlucky):
        score = 0.5 / (1 + abs(self.args.box - 6)) * ((self.epoch + 1) / self.args.epochs) ** 0.25
        metrics = {f"metrics/{name}": round(score / (1 + i), 5) for i, name in enumerate(VALIDATED[self.args.task])}
        losses = ["loss"] if self.args.task == "classify" else self.losses
        metrics.update({f"val/{name}": 0.1 * (1 + i) + float(unlucky) for i, name in enumerate(losses)})
        file = self.csv
        if not file.exists():
            file.write_text("epoch," + ",".join(metrics) + "\n")
        with open(file, "a") as rows:
            rows.write(",".join(f"{number:.6g}" for number in [self.epoch + 1, *metrics.values()]) + "\n")
        return metrics

    def final_eval(self):
        raise AssertionError("best.pt was validated again")


class RtDetrTrainer(Trainer):
    losses = ["giou_loss", "cls_loss", "l1_loss"]


class YOLO:
    def __init__(self, model):
        stem = pathlib.Path(model).stem
        if stem == "no_weights":
            raise FileNotFoundError(f"'{model}' does not exist")
        if stem == "no_table":
            raise KeyError("backbone")
        assert "rtdetr" not in stem, "YOLO cannot train an RT-DETR"
        self.task = next((task for ending, task in ENDINGS.items() if stem.endswith(ending)), "detect")
        if stem == "classifier":
            self.task = "classify"
        self.task_map = {task: {"trainer": Trainer} for task in VALIDATED}


class RTDETR:
    def __init__(self, model):
        self.task, self.task_map = "detect", {"detect": {"trainer": RtDetrTrainer}}

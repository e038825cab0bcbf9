"""How Ultralytics' trainings pause and go on, perhaps in another process.

A paused one keeps in full precision what Ultralytics' own checkpoints have half of, or not at all: weights, their
average, the optimizer, gradients that it has yet to step with, the schedules. It does not keep random numbers, as the
processes of a data loader do not tell theirs: after a pause images come in an order that the training's seed and the
epoch decide. But for that it goes on as if it had never been paused.
"""
import contextlib
import io
import os
import random
import sys

KEPT = "paused.pt"  # evolve removes it when the trial has ended or is given up


def pausable(base):
    """Ultralytics' trainer of a task, in which batches are counted, and the optimizer's steps over a pause: the batches
    since the last step are in a variable of Ultralytics' loop, which begins without any."""

    class Pausable(base):
        batches = 0  # that were begun
        stepped = 0  # how many they were at the optimizer's last step
        stepped_before = 0  # the same at its last step before the pause, until the first one after it
        steps_after = 1  # a step is due after so many batches

        @property
        def accumulate(self):
            return self.steps_after + self.stepped_before

        @accumulate.setter
        def accumulate(self, batches):
            self.steps_after = batches

        def optimizer_step(self):
            super().optimizer_step()
            self.stepped, self.stepped_before = self.batches, 0

    return Pausable


def keep(trainer, folder):
    """Keeps after an epoch what the training needs to go on. Raises OSError where that cannot be written."""
    import torch

    content = io.BytesIO()
    # Without the scale of mixed precision, which the device that it goes on with may not have.
    scale = trainer.scaler.get_scale()
    gradients = [None if p.grad is None else p.grad / scale for p in trainer.model.parameters()]
    torch.save({"epoch": trainer.epoch + 1, "batch": trainer.batch_size, "stepped": trainer.stepped,
                "model": trainer.model.state_dict(), "gradients": gradients,
                "ema": trainer.ema.ema.state_dict(), "ema_updates": trainer.ema.updates,
                "optimizer": trainer.optimizer.state_dict(), "scaler": trainer.scaler.state_dict(),
                "loss_updates": getattr(getattr(trainer.model, "criterion", None), "updates", 0),
                "results": trainer.csv.read_text()}, content)
    part = os.path.join(folder, KEPT + ".tmp")
    try:
        with open(part, "wb") as file:
            file.write(content.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, os.path.join(folder, KEPT))
    except OSError:
        with contextlib.suppress(OSError):  # half of it helps nobody on a full disk
            os.unlink(part)
        raise


def kept(folder, epoch):
    """What a training kept when it was paused after this epoch (from 1; 0: it has not been). None where it kept nothing, or
    what is of a later epoch: it begins anew then."""
    import torch

    file = os.path.join(folder, KEPT)
    if not epoch or not os.path.exists(file):
        return None
    # Its own file, and before Ultralytics 8.4 there are numbers of NumPy in it.
    try:
        state = torch.load(file, map_location="cpu", weights_only=False)
    except Exception as error:  # noqa: BLE001  whatever is wrong with it
        print(f"evolve: {file}: {error}; its epochs are trained again", file=sys.stderr)
        return None
    return state if state["epoch"] == epoch else None


def go_on(trainer, state):
    """Gives a trainer that is about to train what was kept. begin_epoch() follows."""
    trainer.model.load_state_dict(state["model"])
    trainer.ema.ema.load_state_dict(state["ema"])
    trainer.ema.updates = state["ema_updates"]
    # Where it goes on it may be another kind of device: Ultralytics has chosen for this one.
    for kept_group, group in zip(state["optimizer"]["param_groups"], trainer.optimizer.param_groups):
        kept_group["fused"] = group.get("fused")
    trainer.optimizer.load_state_dict(state["optimizer"])
    if state["scaler"]:  # empty where there was no mixed precision
        trainer.scaler.load_state_dict(state["scaler"])
    if state["loss_updates"]:  # YOLO26's loss has two parts, which it weighs by the epoch
        trainer.model.criterion = trainer.model.init_criterion()
        trainer.model.criterion.updates = state["loss_updates"] - 1
        trainer.model.criterion.update()
    trainer.csv.write_text(state["results"])
    trainer.start_epoch = state["epoch"]
    trainer.scheduler.last_epoch = trainer.start_epoch - 1
    trainer.batches = trainer.start_epoch * len(trainer.train_loader)
    trainer.stepped = state["stepped"]
    if 0 <= trainer.epochs - trainer.args.close_mosaic < trainer.start_epoch:  # before 8.4 nobody closes them after that
        trainer._close_dataloader_mosaic()
    draw_anew(trainer, trainer.start_epoch)


def draw_anew(trainer, epoch):
    """Begins all of its random numbers anew after an epoch (from 1): by themselves they would be those of its first epoch
    again."""
    import numpy
    import torch

    seeds = random.Random(f"{trainer.args.seed} {epoch}")
    random.seed(seeds.getrandbits(32))
    numpy.random.seed(seeds.getrandbits(32))
    torch.manual_seed(seeds.getrandbits(32))
    trainer.train_loader.generator.manual_seed(seeds.getrandbits(32))
    trainer.train_loader.reset()


def begin_epoch(trainer, state):
    """To be called when an epoch begins: before its first one Ultralytics drops all gradients."""
    if trainer.epoch != state["epoch"]:
        return
    scale = trainer.scaler.get_scale()
    for parameter, gradient in zip(trainer.model.parameters(), state["gradients"]):
        parameter.grad = None if gradient is None else gradient.to(parameter.device) * scale
    trainer.stepped_before = trainer.stepped

"""Stands in for what Ultralytics trains with: a model of one weight, whose course depends on all that a paused training has
to keep. Where anything of it is lost, the weight ends elsewhere."""
import copy
import os


class Weight:
    device = "cpu"

    def __init__(self):
        self.value, self.grad = 1.0, None


class Criterion:
    updates, share = 0, 0.8

    def update(self):
        self.updates += 1
        self.share = 0.8 / (1 + self.updates)


class Model:
    criterion = None

    def __init__(self):
        self.weight = Weight()

    def init_criterion(self):
        return Criterion()

    def parameters(self):
        return [self.weight]

    def state_dict(self):
        return {"weight": self.weight.value}

    def load_state_dict(self, state):
        self.weight.value = state["weight"]


class Average:
    def __init__(self, model):
        self.ema, self.updates = copy.deepcopy(model), 0

    def update(self, model):
        self.updates += 1
        self.ema.weight.value += (model.weight.value - self.ema.weight.value) / (1 + self.updates)


class Optimizer:
    momentum = 0.0

    def __init__(self):
        self.chosen = os.getpid()  # Ultralytics chooses by the device, which may be another where a trial goes on
        self.param_groups = [{"fused": self.chosen}]

    def state_dict(self):
        return {"momentum": self.momentum, "param_groups": self.param_groups}

    def load_state_dict(self, state):
        self.momentum, self.param_groups = state["momentum"], state["param_groups"]

    def step(self, weight, rate):
        assert self.param_groups == [{"fused": self.chosen}], self.param_groups
        self.momentum = 0.5 * self.momentum + weight.grad
        weight.value -= rate * self.momentum


class Scaler:
    scale = 1.0

    def get_scale(self):
        return self.scale

    def state_dict(self):
        return {"scale": self.scale}

    def load_state_dict(self, state):
        self.scale = state["scale"]


class Schedule:
    last_epoch = -1

    def step(self):
        self.last_epoch += 1

    def rate(self):
        return 0.1 / (1 + self.last_epoch)


class Generator:
    seed = None

    def manual_seed(self, seed):
        self.seed = seed


class Loader:
    """Three batches: an epoch ends between two steps of the optimizer, which take four each."""

    def __init__(self):
        self.generator, self.order = Generator(), "first"

    def __len__(self):
        return 3

    def reset(self):
        self.order = f"drawn with {self.generator.seed}"

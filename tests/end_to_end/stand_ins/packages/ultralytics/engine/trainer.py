"""Stands in for Ultralytics' trainer: what evolve.ultralytics changes in it."""


def check_amp(model):
    print("AMP: running checks")  # with weights that it downloads
    return True


class BaseTrainer:
    def build_optimizer(self, model, name):
        if name not in ("SGD", "AdamW", "MuSGD"):
            raise NotImplementedError(f"Optimizer '{name}' not found in list of available optimizers. Request support for it.")
        return model.model[-1]  # the real one looks for a head here

"""The settings of Ultralytics that a trial's hyperparameters and evolve's options are."""

import os

from evolve import worker

# Options of evolve that Ultralytics has too.
SETTINGS = {"data": "data", "batch_size": "batch", "imgsz": "imgsz", "optimizer": "optimizer", "cos_lr": "cos_lr",
            "single_cls": "single_cls", "rect": "rect", "workers": "workers", "amp": "amp", "fraction": "fraction"}

# Settings that evolve sets, or that would make another training of it: `time` ends it early, `resume` goes on with another.
OURS = ("model", "epochs", "seed", "device", "patience", "plots", "save", "save_period", "val", "project", "name", "exist_ok", "data",
        "time", "resume", "save_dir", "task", "mode", "cfg")


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

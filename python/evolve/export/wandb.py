"""Weights & Biases, offline: a run for each trial in the run's folder `wandb`, which `wandb sync` sends.

A run that is exported again has the same ids. A failed trial's run has failed; whether another one was completed, stopped
or paused is `state` in its summary.
"""

import os
import shlex
import shutil

import wandb


def export(run):
    shutil.rmtree(os.path.join(run.folder, "wandb"), ignore_errors=True)
    for trial in run.trials:
        export_trial(run, trial)
    return f"wandb sync {shlex.quote(run.folder)}/wandb/offline-run-*"


def export_trial(run, trial):
    its = wandb.init(
        mode="offline", dir=run.folder, project=os.environ.get("WANDB_PROJECT", "evolve"), group=run.name,
        id=f"{run.id}-{trial.number}", name=f"{run.name} {trial.number}", config=trial.hyp, save_code=False,
        settings=wandb.Settings(silent=True, console="off", disable_git=True, x_disable_stats=True, x_start_time=trial.begun))
    for epoch, figures in trial.figures():
        its.log(figures, step=epoch)
    its.summary.update({"state": trial.state, "trial": trial.number, "device": trial.device, "message": trial.message})
    its.finish(exit_code=1 if trial.state == "failed" else 0)

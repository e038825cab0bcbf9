"""MLflow: a run with a child for each trial, in the experiment MLFLOW_EXPERIMENT_NAME or "evolve", on the server that
MLFLOW_TRACKING_URI names.

A stopped or paused trial is KILLED there, a failed one FAILED. Runs are found again by their tags `evolve.run` and
`evolve.trial`: a trial that is there and has not changed is left alone.
"""

import os
import re

import mlflow
from mlflow.entities import Metric, Param, RunTag, ViewType

STATUS = {"completed": "FINISHED", "stopped": "KILLED", "paused": "KILLED", "failed": "FAILED"}
BATCH = 100  # what a server takes of params at a time; of metrics it takes 1000


def export(run):
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")  # two lines for each trial
    client = mlflow.MlflowClient()
    experiment = experiment_of(client, os.environ.get("MLFLOW_EXPERIMENT_NAME", "evolve"))
    known = known_runs(client, experiment, run.id)
    parent = known.get("") or client.create_run(
        experiment, milliseconds(run.trials[0].begun), {"evolve.run": run.id, "evolve.folder": run.folder}, run.name)
    parent = parent.info.run_id
    best = run.best()
    options = {name: value for name, value in run.options.items() if value not in ("", None)}
    # MLflow shows the value of the last step: this one grows with each trial that could be the best.
    log(client, parent, options, [Metric("best_fitness", best.fitness, 0, len(run.completed()))] if best else [])
    for trial in run.trials:
        export_trial(client, experiment, parent, run, trial, known.get(str(trial.number)))
    client.set_terminated(parent, "FINISHED", milliseconds(run.trials[-1].ended))
    return f"{mlflow.get_tracking_uri()}: experiment {experiment}, run {parent}"


def experiment_of(client, name):
    found = client.get_experiment_by_name(name)
    return found.experiment_id if found else client.create_experiment(name)


def known_runs(client, experiment, run):
    """What has been exported of a run before: {number of the trial, or "": MLflow's run}."""
    known, page = {}, None
    while page != "":
        runs = client.search_runs([experiment], f"tags.`evolve.run` = '{run}'", ViewType.ACTIVE_ONLY, page_token=page)
        known.update({found.data.tags.get("evolve.trial", ""): found for found in runs})
        page = runs.token or ""
    return known


def export_trial(client, experiment, parent, run, trial, known):
    tags = {"evolve.state": trial.state, "evolve.device": trial.device}
    if trial.message:
        tags["evolve.message"] = trial.message
    if known is None:
        names = {"evolve.run": run.id, "evolve.trial": str(trial.number), "mlflow.parentRunId": parent}
        known = client.create_run(experiment, milliseconds(trial.begun), names, f"trial {trial.number}")
    elif known.data.tags.get("evolve.state") == trial.state and len(trial.epochs) == int(known.data.tags["evolve.epochs"]):
        return
    # A metric that MLflow has with the same step and time is not doubled.
    moment = milliseconds(trial.begun)
    metrics = [Metric(name, value, moment, epoch)
               for epoch, figures in trial.figures() for name, value in figures.items()]
    log(client, known.info.run_id, trial.hyp, metrics)
    # Last, so that a run that an error has cut off here is written again.
    client.set_terminated(known.info.run_id, STATUS[trial.state], milliseconds(trial.ended))
    client.log_batch(known.info.run_id, tags=[RunTag(*tag) for tag in {**tags, "evolve.epochs": str(len(trial.epochs))}.items()])


def log(client, run, params, metrics):
    params = [Param(re.sub(r"[^\w\-. :/]", "_", name), str(value)) for name, value in params.items()]
    for first in range(0, max(len(params), len(metrics)), BATCH):
        client.log_batch(run, metrics[first:first + BATCH], params[first:first + BATCH])


def milliseconds(seconds):
    return int(seconds * 1000) if seconds is not None else 0

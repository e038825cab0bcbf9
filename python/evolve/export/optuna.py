"""Optuna's journal storage, `optuna.log` in the run's folder: a study with a trial for each.

A stopped or paused trial is PRUNED there, a failed one FAIL. What evolves is a parameter; what does not, and what evolve
says of a trial besides, is among its user attributes.
"""

import contextlib
import datetime
import json
import math
import os
import shlex

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages.journal import JournalFileBackend, JournalStorage
from optuna.trial import TrialState

STATES = {"completed": TrialState.COMPLETE, "stopped": TrialState.PRUNED, "paused": TrialState.PRUNED, "failed": TrialState.FAIL}


def export(run):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    file = os.path.join(run.folder, "optuna.log")
    new = file + ".new"
    with contextlib.suppress(FileNotFoundError):
        os.remove(new)
    study = optuna.create_study(storage=JournalStorage(JournalFileBackend(new)), study_name=run.name, direction="maximize")
    study.set_user_attr("evolve", {"folder": run.folder, "options": run.options})
    distributions = {name: distribution_of(gene) for name, gene in run.space.items() if gene.get("evolve", True)}
    study.add_trials([trial_of(trial, distributions) for trial in run.trials])
    os.replace(new, file)
    return f"optuna-dashboard {shlex.quote(file)}"


def distribution_of(gene):
    if "choices" in gene:
        return CategoricalDistribution(choices_of(gene))
    log = gene.get("scale") == "log"
    if gene.get("type") == "int":
        return IntDistribution(math.ceil(gene["low"]), math.floor(gene["high"]), log=log)
    return FloatDistribution(gene["low"], gene["high"], log=log)


def choices_of(gene):
    """As they are, or as texts: Optuna takes 1 and true for one choice, as Python has them equal."""
    choices = gene["choices"]
    return choices if len(set(choices)) == len(choices) else [text_of(choice) for choice in choices]


def text_of(choice):
    if isinstance(choice, str):
        return choice
    return json.dumps(choice if isinstance(choice, bool) else float(choice))


def trial_of(trial, distributions):
    """A trial of evolve as one of Optuna's."""
    params = {name: value for name, value in trial.hyp.items() if name in distributions}
    for name, distribution in distributions.items():
        if isinstance(distribution, IntDistribution):
            params[name] = int(params[name])
        if isinstance(distribution, CategoricalDistribution) and params[name] not in distribution.choices:
            params[name] = text_of(params[name])
    last = trial.epochs[max(trial.epochs)][0] if trial.epochs else {}
    # What evolve says of a trial comes last: a hyperparameter may be called the same.
    attributes = {**{name: value for name, value in trial.hyp.items() if name not in distributions},
                  "trial": trial.number, "state": trial.state, "device": trial.device, **last}
    if trial.message:
        attributes["message"] = trial.message
    its = optuna.trial.create_trial(
        state=STATES[trial.state], value=trial.fitness, params=params, distributions=distributions, user_attrs=attributes,
        intermediate_values={epoch: figures["fitness"] for epoch, figures in trial.figures() if "fitness" in figures})
    if trial.begun is not None:
        its.datetime_start = datetime.datetime.fromtimestamp(trial.begun)
        its.datetime_complete = datetime.datetime.fromtimestamp(trial.ended)
    return its

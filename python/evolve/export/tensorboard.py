"""TensorBoard's event files, with its HParams plug-in, in the run's folder `tensorboard`: a folder per trial.

TensorBoard keeps scalars in single precision; the hyperparameters are exact.
"""

import os
import shlex
import shutil

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2, summary_v2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from evolve import worker

# Whoever looks for stopped and paused trials finds them by the hyperparameter `state`.
STATUS = {"completed": api_pb2.STATUS_SUCCESS, "failed": api_pb2.STATUS_FAILURE, "stopped": api_pb2.STATUS_UNKNOWN,
          "paused": api_pb2.STATUS_UNKNOWN}


def export(run):
    folder = os.path.join(run.folder, "tensorboard")
    new = folder + ".new"
    shutil.rmtree(new, ignore_errors=True)
    write(new, [(run.trials[0].begun or 0, None, experiment(run))])
    for trial in run.trials:
        write(os.path.join(new, f"{trial.number:06d}"), events(trial))
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(new, folder)
    return f"tensorboard --logdir {shlex.quote(folder)}"


def experiment(run):
    """What the HParams table has as columns."""
    hparams = [summary_v2.HParam(name, domain_of(gene)) for name, gene in run.space.items() if gene.get("evolve", True)]
    hparams.append(summary_v2.HParam("state", summary_v2.Discrete(sorted(STATUS))))
    return summary_v2.hparams_config_pb(hparams, [summary_v2.Metric(name) for name in ("fitness", *worker.METRICS)], 0)


def domain_of(gene):
    if "choices" in gene:
        kinds = {type(choice) for choice in gene["choices"]}
        return summary_v2.Discrete(gene["choices"]) if len(kinds) == 1 else None  # TensorBoard wants one kind
    return summary_v2.RealInterval(float(gene["low"]), float(gene["high"]))


def events(trial):
    """(seconds since 1970, step, summary) of a trial's event file."""
    begun, ended = trial.begun or 0, trial.ended or 0
    yield begun, None, summary_v2.hparams_pb({**trial.hyp, "state": trial.state}, str(trial.number), begun)
    for epoch, figures in trial.figures():
        values = [summary_pb2.Summary.Value(tag=name, simple_value=value) for name, value in figures.items()]
        yield ended, epoch, summary_pb2.Summary(value=values)
    yield ended, None, session_end(STATUS[trial.state], ended)


def session_end(status, seconds):
    """How a trial ended. TensorBoard's own function for this needs TensorFlow."""
    data = plugin_data_pb2.HParamsPluginData(session_end_info={"status": status, "end_time_secs": seconds})
    value = summary_pb2.Summary.Value(tag=metadata.SESSION_END_INFO_TAG, metadata=metadata.create_summary_metadata(data),
                                      tensor=metadata.NULL_TENSOR)
    return summary_pb2.Summary(value=[value])


def write(folder, events):
    writer = EventFileWriter(folder)
    for seconds, step, values in events:
        writer.add_event(event_pb2.Event(wall_time=seconds, step=step, summary=values))
    writer.close()

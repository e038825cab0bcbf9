"""A run as its journal has it (docs/files.md). Needs nothing but Python 3.9."""

import dataclasses
import datetime
import hashlib
import json
import math
import os
import re


@dataclasses.dataclass
class Trial:
    """A trial that has ended.

    state: completed, stopped, paused or failed. hyp: {name: number or text}. epochs: {epoch: (metrics, fitness)}, from 1,
    those that evolve looked at and the last one; a fitness that was not finite is None. fitness: of the last epoch, None of
    a failed trial. message: why it failed. begun, ended: seconds since 1970; None in a run whose journal has no times
    (an early evolve).
    """

    number: int
    hyp: dict
    begun: float
    state: str = ""
    epochs: dict = dataclasses.field(default_factory=dict)
    fitness: float = None
    device: str = ""
    message: str = ""
    ended: float = None

    def figures(self):
        """[(epoch, {name: number})] by epoch: the fitness, where there is one, and the metrics."""
        return [(epoch, {**({} if fitness is None else {"fitness": fitness}), **metrics})
                for epoch, (metrics, fitness) in sorted(self.epochs.items())]


@dataclasses.dataclass
class Run:
    """folder: absolute. name: the folder's. id: the same wherever the folder goes. options, space: as the journal's first
    line has them; choices as they are in a trial's hyp. trials: those that have ended, by number."""

    folder: str
    name: str
    id: str
    options: dict
    space: dict
    trials: list

    def best(self):
        """The completed trial of greatest fitness, the first of equal ones; None before one is completed."""
        return max(self.completed(), key=lambda trial: trial.fitness, default=None)

    def completed(self):
        return [trial for trial in self.trials if trial.state == "completed"]


class Damaged(Exception):
    """A journal that cannot be read, in one line."""


def with_last(lines):
    """Each with whether it is the last one."""
    before = None
    for line in lines:
        if before is not None:
            yield before, False
        before = line
    if before is not None:
        yield before, True


def events_of(folder):
    """The journal's events, one at least. A torn last line, one that was not written to its end, is left out: it is being written, or the power
    was cut. Blank lines, as editors add them, are passed over."""
    path, events = os.path.join(folder, "journal.jsonl"), []
    with open(path, encoding="utf-8", errors="replace") as file:
        for (number, line), is_last in with_last((number, line) for number, line in enumerate(file, 1) if line.strip()):
            try:
                event = json.loads(line)
                if not isinstance(event, dict) or "event" not in event:
                    raise ValueError("no event")
                events.append(event)
            except ValueError as error:
                is_whole = line.endswith("\n") and line.rstrip().endswith("}") and "\0" not in line
                if is_last and not is_whole and isinstance(error, json.JSONDecodeError):
                    break
                raise Damaged(f"{path}:{number}: {error}; bring back a copy of the file") from None
    if not events:
        raise Damaged(f"{path}: the run has not begun; export it when a trial has ended")
    return events


def read_run(folder):
    """Reads the run in a folder, also of one that is going on. A trial that is under way is left out until it has ended;
    repeats are not trials."""
    folder = os.path.abspath(folder)
    first, *events = events_of(folder)
    identity = id_of(first, *events[:1])
    under_way, ended = {}, {}
    for event in events:
        kind, number = event["event"], event.get("trial")
        if kind == "started":
            before = ended.pop(number, under_way.get(number))
            if not event.get("start_epoch"):
                before = Trial(number, event["hyp"], seconds_of(event))
            under_way[number] = before
        elif kind in ("rung", "completed", "stopped", "paused"):
            trial = under_way[number]
            epoch = event.get("epoch", first["options"]["epochs"])
            trial.epochs[epoch] = event["metrics"], event["fitness"]
        if kind in ("completed", "stopped", "paused") or (kind == "failed" and event["final"]):
            trial = ended[number] = under_way.pop(number)
            trial.state, trial.device, trial.ended = kind, event.get("device", ""), seconds_of(event)
            trial.fitness = event.get("fitness")
            trial.message = f"{event['kind']}: {event['message']}" if kind == "failed" else ""
    space = first["space"]
    for gene in space.values():
        if "choices" in gene:
            gene["choices"] = [choice(text) for text in gene["choices"]]
    trials = [ended[number] for number in sorted(ended)]
    return Run(folder, os.path.basename(folder), identity, first["options"], space, trials)


def choice(text):
    """A choice that is a number, or yes or no, is one in a trial's hyp, any other a text."""
    if text in ("true", "false"):
        return text == "true"
    # Python reads more as numbers: 1_000, blanks around them.
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        return text
    number = float(text)
    return number if math.isfinite(number) else text


def id_of(*beginning):
    """16 hexadecimal digits of a journal's beginning: the settings, and when the first trial started."""
    return hashlib.sha256(json.dumps(beginning, sort_keys=True).encode()).hexdigest()[:16]


def seconds_of(event):
    if "time" not in event:
        return None
    return datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()

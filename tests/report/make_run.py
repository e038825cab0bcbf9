#!/usr/bin/env python3
"""Makes a run's folder with a journal of so many trials, nothing of which was trained: make_run.py FOLDER TRIALS

Two slots, trainings of nine epochs that are stopped, failed (some after the best rung of all) or completed, a last one that is
tried again, a weekend in the middle for which it lay still, a device that is sampled, 31 genes, and names and messages that
would break a careless page: markup, what JavaScript has in every object, and what the page has columns for.
"""

import datetime
import json
import math
import os
import random
import sys

EVIL = "</script><script>document.title='broken'</script><!--"
METRICS = ["metrics/precision", "metrics/recall", "metrics/mAP_0.5", "metrics/mAP_0.5:0.95", "val/box_loss", "val/obj_loss",
           "val/cls_loss"]
SPACE = {"lr0": {"low": 1e-5, "high": 0.1, "scale": "log", "start": 0.01}, EVIL: {"low": 0.0, "high": 1.0, "start": 0.5},
         "optimizer": {"choices": ["SGD", "Adam", "AdamW"], "start": 0.0},
         **{name: {"low": 0.0, "high": 1.0, "start": 0.5}
            for name in ("__proto__", "constructor", "fitness", "state", *(f"gene{i}" for i in range(24)))}}
OPTIONS = {"population": 50, "generations": 300, "trials": None, "max_epochs": 1000000, "epochs": 9, "early_stop": True, "repeats": 0,
           "fitness": "0.1*mAP50 + 0.9*mAP50_95", "lag": None, "data": EVIL}


def events(trials):
    rng = random.Random(0)
    seconds = 0.0

    def at(event, **keys):
        nonlocal seconds
        seconds += rng.random()
        moment = datetime.datetime(2026, 5, 1) + datetime.timedelta(seconds=seconds)
        return {"event": event, **keys, "time": moment.isoformat(timespec="milliseconds") + "Z"}

    start = {name: gene["choices"][0] if "choices" in gene else gene["start"] for name, gene in SPACE.items()}
    yield {"event": "run", "version": 1, "seed": 1, "search": "classic", "lag": None, "slots": ["xpu:0", "xpu:1"],
           "options": OPTIONS, "space": SPACE, "start": start, "initial": []}
    for trial in range(trials):
        hyp = {name: rng.choice(gene["choices"]) if "choices" in gene else rng.random() for name, gene in SPACE.items()}
        hyp["lr0"] = 10 ** rng.uniform(-5, -1)
        slot = f"xpu:{trial % 2}"
        if trial == trials // 2:
            seconds += 64 * 3600
        best = 0.5 - 0.05 * (math.log10(hyp["lr0"]) + 3) ** 2 + 0.1 * hyp["gene0"] + 0.02 * rng.gauss(0, 1)
        yield at("started", trial=trial, generation=trial // 50, hyp=start if trial == 0 else hyp, device=slot, attempt=1)
        failed = {"event": "failed", "trial": trial, "message": f"trial {trial}: {EVIL}", "log": f"trials/{trial:06}/log",
                  "device": slot, "attempt": 1, "seconds": rng.random()}
        if trial % 29 == 7:
            yield at(**failed, kind="crash", final=True)
            continue
        if trial % 29 == 8 or trial == trials - 1:
            yield at("rung", trial=trial, epoch=3, metrics={name: rng.random() for name in METRICS}, fitness=2.0, device=slot)
        if trial % 29 == 8:
            yield at(**failed, kind="diverged", final=True, epoch=4)
            continue
        if trial == trials - 1:
            yield at(**failed, kind="crash", final=False, epoch=4)
            yield at("started", trial=trial, generation=trial // 50, hyp=hyp, device=slot, attempt=2)
            return
        last = 9 if trial % 3 == 0 else rng.choice([3, 6])
        for epoch in (3, 6):
            if epoch <= last:
                yield at("rung", trial=trial, epoch=epoch, metrics={name: rng.random() for name in METRICS},
                         fitness=best * epoch / 10, device=slot)
        how = {"event": "completed"} if last == 9 else {"event": "stopped", "epoch": last}
        yield at(**how, trial=trial, metrics={name: rng.random() for name in METRICS}, fitness=best * (last + 1) / 10,
                 device=slot, attempt=1, seconds=rng.random())
        if trial % 20 == 0:
            yield at("device_stats", device=slot, state="ok", memory_total_bytes=16 << 30, memory_free_bytes=rng.randrange(8 << 30),
                     load_percent=rng.uniform(80, 100), temperature_celsius=rng.uniform(50, 80), power_watts=None)


def main(folder, trials):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "journal.jsonl"), "w") as journal:
        for event in events(trials):
            journal.write(json.dumps(event) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

"""python -m evolve.export tensorboard|mlflow|wandb|optuna RUN"""

import importlib
import sys

from evolve import worker
from evolve.export.run import Damaged, read_run


def main():
    kind, folder = sys.argv[1:]
    try:
        run = read_run(folder)
    except Damaged as error:
        print(f"evolve: {error}", file=sys.stderr)
        sys.exit(2)
    if not run.trials:
        sys.exit(f"evolve: {run.folder}: no trial has ended yet; export the run when one has")
    try:
        print(importlib.import_module(f"evolve.export.{kind}").export(run), flush=True)
    except Exception as error:  # noqa: BLE001  a server that is not there, a disk that is full: one line
        sys.stdout = None  # what could not be printed is not tried again
        sys.exit(f"evolve: export {kind}: {worker.message_of(error)}")


if __name__ == "__main__":
    main()

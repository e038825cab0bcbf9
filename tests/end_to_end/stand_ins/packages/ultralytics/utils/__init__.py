"""Ultralytics' progress bar, and some of its settings, with their defaults."""
import ast
import contextlib
import pathlib

from tqdm import tqdm as TQDM  # noqa: F401

DATASETS_DIR = "/nowhere"

DEFAULT_CFG_DICT = dict(line.split(": ") for line in (pathlib.Path(__file__).parents[1] / "cfg/default.yaml").read_text().splitlines())
for name, value in DEFAULT_CFG_DICT.items():
    with contextlib.suppress(ValueError):
        DEFAULT_CFG_DICT[name] = ast.literal_eval({"null": "None"}.get(value, value))

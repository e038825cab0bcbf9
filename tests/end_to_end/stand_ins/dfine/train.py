"""Stands in for D-FINE's train.py: takes the flags of our documentation's example, trains nothing, and leaves a log.txt
in its format. An earlier one it goes on with."""
import argparse
import json
import pathlib

import yaml

parser = argparse.ArgumentParser()
for names, kind in ((["-c", "--config"], str), (["-t", "--tuning"], str), (["--output-dir"], str), (["--seed"], int)):
    parser.add_argument(*names, type=kind, required=True)
parser.add_argument("--use-amp", action="store_true")
options = parser.parse_args()
assert options.use_amp and options.tuning == "dfine_s_obj365.pth" and 0 <= options.seed < 2**31, options

config = yaml.safe_load(open(options.config))
rates = [group.get("lr") for group in config["optimizer"]["params"]]
assert rates[0] == rates[1] and rates[2] is None and isinstance(rates[0], float), rates
assert config["train_dataloader"]["collate_fn"]["stop_epoch"] == 9 and config["epoches"] == 10, config
assert config["train_dataloader"]["dataset"]["transforms"]["policy"]["epoch"] == 9, config
assert all(0 <= op["p"] <= 1 for op in config["train_dataloader"]["dataset"]["transforms"]["ops"]), config
score = 0.5 / (1 + abs(config["DFINECriterion"]["weight_dict"]["loss_bbox"] - 6))
with open(pathlib.Path(options.output_dir) / "log.txt", "a") as log:
    for epoch in range(config["epoches"]):
        scores = [score / 2, score] + [0.0] * 6 + [0.4] + [0.0] * 3
        log.write(json.dumps({"train_loss": 1.5, "test_coco_eval_bbox": scores, "epoch": epoch}) + "\n")
(pathlib.Path(options.output_dir) / "eval").mkdir(exist_ok=True)
for name in ("last.pth", "checkpoint0009.pth", "best_stg1.pth", "best_stg2.pth", "eval/latest.pth"):
    (pathlib.Path(options.output_dir) / name).write_text("weights")

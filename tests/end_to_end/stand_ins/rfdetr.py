"""Stands in for RF-DETR's package: takes the arguments of our documentation's example, trains nothing, and leaves a
metrics.csv in its format: a row for a validation, then one for the training of that epoch."""
import pathlib

FRACTIONS = "lr_vit_layer_decay lr_component_decay drop_path ema_decay".split()
NUMBERS = "lr lr_encoder weight_decay warmup_epochs clip_max_norm cls_loss_coef".split()
OTHERS = "dataset_dir output_dir epochs seed batch_size lr_scheduler tensorboard checkpoint_interval".split()
AUGMENTATIONS = {"HorizontalFlip": {"p"}, "VerticalFlip": {"p"}, "HueSaturationValue": {"p"}, "GaussianBlur": {"p"},
                 "RandomBrightnessContrast": {"p", "brightness_limit", "contrast_limit"}}


class RFDETRNano:
    def train(self, **given):
        nested = {"aug_config", "lr_scheduler_kwargs"}
        assert set(given) == {*FRACTIONS, *NUMBERS, *OTHERS, *nested}, given
        assert all(0 <= given[name] <= 1 for name in FRACTIONS) and all(given[name] >= 0 for name in NUMBERS), given
        assert {name: set(keys) for name, keys in given["aug_config"].items()} == AUGMENTATIONS, given
        assert given["lr_scheduler"] == "cosine" and set(given["lr_scheduler_kwargs"]) == {"min_factor"}, given
        assert given["batch_size"] == 8 and 0 <= given["seed"] < 2**31, given
        score = 0.5 / (1 + abs(given["cls_loss_coef"] - 2))
        folder = pathlib.Path(given["output_dir"])
        with open(folder / "metrics.csv", "w") as file:
            file.write("epoch,step,train/loss,val/mAP_50,val/mAP_50_95,val/precision,val/recall\n")
            for epoch in range(given["epochs"]):
                file.write(f"{epoch},{epoch},,{score},{score / 2},0.3,0.4\n{epoch},{epoch},1.5,,,,\n")
        for name in ("last.ckpt", "checkpoint_best_total.pth"):
            (folder / name).write_text("weights")

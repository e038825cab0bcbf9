"""Ultralytics' progress bar, and some of its settings, with their defaults."""
from tqdm import tqdm as TQDM  # noqa: F401

DEFAULT_CFG_DICT = {
    "task": "detect", "model": None, "data": None, "epochs": 100, "patience": 100, "batch": 16, "imgsz": 640, "save": True,
    "cache": False, "device": None, "workers": 8, "project": None, "name": None, "exist_ok": False, "pretrained": True,
    "optimizer": "auto", "seed": 0, "single_cls": False, "rect": False, "cos_lr": False, "close_mosaic": 10, "amp": True,
    "freeze": None, "nbs": 64, "fraction": 1.0, "val": True, "plots": True, "lr0": 0.01, "lrf": 0.01, "momentum": 0.937, "weight_decay": 0.0005,
    "warmup_epochs": 3.0, "warmup_momentum": 0.8, "warmup_bias_lr": 0.1, "box": 7.5, "cls": 0.5, "cls_pw": 0.0, "dfl": 1.5,
    "hsv_h": 0.015, "hsv_s": 0.7, "hsv_v": 0.4, "degrees": 0.0, "translate": 0.1, "scale": 0.5, "shear": 0.0,
    "perspective": 0.0, "flipud": 0.0, "fliplr": 0.5, "bgr": 0.0, "mosaic": 1.0, "mixup": 0.0, "cutmix": 0.0,
    "copy_paste": 0.0, "dropout": 0.0, "auto_augment": "randaugment", "erasing": 0.4}

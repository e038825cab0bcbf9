"""Ultralytics' look at a data set."""
import pathlib

from ultralytics.utils.checks import check_file


def check_font(font):
    print(f"{font} is downloaded")
    return True


def check_det_dataset(data, autodownload=True):
    text = pathlib.Path(check_file(data if "." in data else f"{data}.yaml")).read_text()
    if "train:" not in text:
        raise SyntaxError(f"{data} 'train:' key missing")
    named = text.split("path: ")[-1].splitlines()[0] if "path: " in text else ""
    folder = pathlib.Path(named or pathlib.Path(data).parent)  # a relative one is in the current folder
    if not (folder / "images").is_dir() and not ("download: " in text and autodownload):
        raise FileNotFoundError(f"Dataset '{data}' images not found, missing path '{folder / 'images'}'")
    assert not (check_font("Arial.ttf") and not autodownload), "a font is downloaded to look at the data"
    train = text.split("train: ")[-1].splitlines()[0]
    shape = {"kpt_shape": [17, 3]} if "kpt_shape: " in text else {}
    return shape | {split: str((folder / images).resolve()) for split, images in (("train", train), ("val", "images"))}


def check_cls_dataset(folder):
    return {split: pathlib.Path(folder, split) for split in ("train", "val")}

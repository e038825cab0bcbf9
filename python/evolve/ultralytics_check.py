"""What Ultralytics has against a run, asked before it begins or goes on."""

import os

from evolve import data_set, worker
from evolve.ultralytics_settings import as_setting

LEAST_VERSION = (8, 3)  # before, its trainer loads data sets and saves weights otherwise
BOXED = ("detect", "segment", "pose", "obb")  # tasks whose images have labels: a classifier's folders are its labels
NO_TASK = "its task has no precision, recall and mAP: evolve trains detectors, segmenters, poses, oriented boxes and classifiers"
# What a person should know who reads of mAP: see as_metrics.
NOTES = {"segment": ["precision, recall and mAP are means over boxes and masks"],
         "pose": ["precision, recall and mAP are means over boxes and poses"],
         "classify": ["mAP50-95, precision and recall stand for the top-1 accuracy, mAP50 for the top-5"]}


def model_of(name):
    """Ultralytics' model of that name, fetched where it is one of its own; as `yolo` does: YOLO knows an RT-DETR's weights,
    but not its tables. That it cannot be had is no trial's fault."""
    from ultralytics import RTDETR, YOLO

    with worker.data_failures():
        return (RTDETR if "rtdetr" in os.path.basename(name).lower() else YOLO)(name)


def check_model(name):
    """Ultralytics' model of that name. Raises what is wrong with one that can be loaded, but not trained."""
    kind = os.path.splitext(name)[1].lower()
    if kind not in ("", ".pt", ".yaml", ".yml"):
        raise worker.TrialFailed("other", f"'{name}' cannot be trained; name weights (.pt) or a model's table (.yaml)")
    try:
        return model_of(name)
    except worker.TrialFailed as failed:
        if kind not in (".yaml", ".yml") or not isinstance(failed.__cause__, KeyError):
            raise
        key = failed.__cause__.args[0]
        if key in ("backbone", "head", "nc"):
            words = f"is no model's table: it has no '{key}'"
        elif len(str(key)) == 1:  # in its file's name: yolo11x.yaml
            words = f"has no scale '{key}'"
        else:
            words = f"names '{key}', which this Ultralytics does not have"
        raise worker.TrialFailed("other", f"'{name}' {words}") from None


def check_uncut(name, value, setting, evolves):
    """Raises TrialFailed for a value between two that Ultralytics can have, which a trial would have cut."""
    if isinstance(value, str) or setting == value:
        return
    has, write = ("yes or no", "choices: [True, False]") if isinstance(setting, bool) else ("a whole number", "type: int")
    remedy = f"; in --space write {write}" if evolves else ""
    raise worker.TrialFailed("other", f"'{name}' is {has} for Ultralytics, not {value:g}{remedy}")


def check_values(space, begins):
    """Raises what Ultralytics has against a value that a hyperparameter may have. The space of a run that goes on cannot
    be written otherwise: its trials train as those before, with what values are cut to."""
    from ultralytics.cfg import get_cfg
    from ultralytics.utils import DEFAULT_CFG_DICT

    for name, values in space.items():
        for value in values:
            with worker.of_hyperparameter(name, is_start=value == values[0]):
                setting = as_setting(name, value, DEFAULT_CFG_DICT)
                get_cfg(overrides={name: setting})
                if begins:
                    check_uncut(name, value, setting, evolves=len(values) > 1)


def check_optimizers(space, given):
    """Raises what Ultralytics says of an optimizer that it does not have, be it one of the space's or that given."""
    import types

    import torch
    from ultralytics.engine.trainer import BaseTrainer

    names = space.get("optimizer", [given])
    for name in names:
        try:
            BaseTrainer.build_optimizer(types.SimpleNamespace(), torch.nn.Linear(1, 1), name)
        except NotImplementedError as error:
            said = worker.said_by(error).split(" Request support")[0]
            unknown = worker.TrialFailed("other", said.replace("'None'", f"'{name}'"))  # of some versions
            if "optimizer" not in space:
                raise unknown from None
            with worker.of_hyperparameter("optimizer", is_start=name == names[0]):
                raise unknown from None
        except Exception:  # noqa: BLE001  it wants a model that is one
            pass


def check_data(data, task):
    """The paths of the data set; {}: they are not here. Raises what Ultralytics has against it, as far as it shows without a
    download: its own it fetches when it trains."""
    from ultralytics.data import utils
    from ultralytics.utils.checks import check_file

    if "://" in data or data.endswith(".ndjson"):
        return {}
    if task not in BOXED:
        return check_folders(data)
    utils.check_font = lambda *_, **__: None  # to draw with; without a network it would be waited for
    try:
        found = utils.check_det_dataset(data, autodownload=False)
    except FileNotFoundError as error:
        files = [check_file(data + suffix, hard=False) for suffix in ("", ".yaml", ".yml")]  # coco8 is coco8.yaml
        if "images not found" not in str(error) or not any(map(data_set.is_fetched, filter(None, files))):
            raise
        return {}
    data_set.check_images(data, found)
    if task == "pose" and "kpt_shape" not in found:
        raise worker.TrialFailed("data", f"'{data}': a pose model needs 'kpt_shape:', such as [17, 3]")
    return found


def check_folders(data):
    """As check_data, of a classifier's data set: a folder of splits, or the name of one that may be fetched."""
    from ultralytics.data import utils
    from ultralytics.utils import DATASETS_DIR

    folder = data if os.path.isdir(data) else os.path.join(DATASETS_DIR, data)
    if not os.path.isdir(folder):
        if data.endswith((".yaml", ".yml")):
            raise worker.TrialFailed("data", f"'{data}': a classifier's data set is a folder that has train/ and val/")
        if os.sep in data and not os.path.exists(data):
            raise FileNotFoundError(f"'{data}' does not exist")
        return {}
    # Ultralytics would split it by itself, in each trial anew: two at a time lose images to each other.
    if not os.path.isdir(os.path.join(folder, "train")):
        raise worker.TrialFailed("data", f"'{data}' has no folder 'train'; split it once, with split_classify_dataset of "
                                 f"ultralytics.data.split, and name {folder.rstrip(os.sep)}_split")
    if not any(os.path.exists(os.path.join(folder, split)) for split in ("val", "validation", "valid", "test")):
        raise worker.TrialFailed("data", f"'{data}' has no folder 'val'")
    return utils.check_cls_dataset(folder)


def check_name(model, task, space):
    """Raises where a classifier would evolve what detectors have: evolve tells one by its name, as Ultralytics gives it."""
    evolving = {name for name, values in space.items() if len(values) > 1}
    if task == "classify" and {"box", "dfl", "mosaic"} <= evolving:
        raise worker.TrialFailed("other", f"'{model}' is a classifier, and evolve knows one by its name: give it, or a link "
                                 "to it, a name that ends with -cls, or name --space, --hyp and --imgsz")


def check(options, space, begins):
    """See worker.main."""
    import torch
    import ultralytics

    if tuple(map(int, ultralytics.__version__.split(".")[:2])) < LEAST_VERSION:
        least = ".".join(map(str, LEAST_VERSION))
        raise worker.TrialFailed("other", f"ultralytics {ultralytics.__version__} is too old, evolve needs {least} or later")
    check_values(space, begins)
    check_optimizers(space, options["optimizer"])
    task = check_model(options["cfg"] or options["weights"]).task
    if task not in (*BOXED, "classify"):
        raise worker.TrialFailed("other", NO_TASK)
    if begins:
        check_name(options["cfg"] or options["weights"], task, space)
    if options["cfg"] and options["weights"]:
        check_model(options["weights"])
    contents = data_set.contents_of(check_data(options["data"], task))
    data_set.check_same(options["data"], contents, options.get("inputs") or {})
    return f"ultralytics {ultralytics.__version__}, torch {torch.__version__}", NOTES.get(task, []), contents

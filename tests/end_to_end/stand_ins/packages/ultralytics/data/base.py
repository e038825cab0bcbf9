"""Stands in for Ultralytics' data sets."""
import os
import pathlib
import time

from ultralytics.utils import TQDM


class BaseDataset:
    def __init__(self, folder, args, mode):
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{folder} does not exist")
        for _ in TQDM(range(4)):  # looks at the labels
            time.sleep(1.5 if "slow" in args.model and mode == "train" else 0)
        self.prefix = f"{mode}: "
        self.im_files, self.imgsz, self.rect = [folder + "/a.jpg"], args.imgsz, args.rect
        has_labels = args.task == "classify" or f"{mode}: unlabelled" not in pathlib.Path(args.data).read_text()
        self.labels = [{"cls": []}, {"cls": [0] if has_labels else []}]
        self.ims, self.im_hw0, self.im_hw = [None], [None], [None]
        self.cache = args.cache or None
        if self.cache == "ram" and self.check_cache_ram():
            self.cache_images()
        assert self.ims[0] in (None, f"a.jpg at {self.imgsz}"), "images of another size"
        # The real one decides it here too: the latest images are those that were read from disk.
        self.mosaics_of = "all images" if self.cache == "ram" else "the latest images"

    def check_cache_ram(self):
        return True

    def cache_images(self):
        print(f"Caching images of {self.im_files[0]}")
        assert self.cache == "ram"
        self.ims = [f"a.jpg at {self.imgsz}"]

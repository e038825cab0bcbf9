"""What is asked of a data set by both trainers that come along: the files that its paths lead to, as Ultralytics and YOLOv5
find them."""

import contextlib
import fcntl
import glob
import os
import re
import zlib

from evolve.worker import TrialFailed

SUFFIXES = ("avif", "bmp", "dng", "heic", "heif", "jp2", "jpeg", "jpeg2000", "jpg", "mpo", "pfm", "png", "tif", "tiff", "webp")

# By these words evolve knows that a trial failed because of what it was to train on (trainer/options.hpp).
BEGAN_WITH = "the run began with"


def is_fetched(data):
    """Whether a data set's YAML file says where its images are fetched from."""
    if not os.path.isfile(data):
        return False
    with open(data, encoding="utf-8", errors="ignore") as text:
        return re.search(r"^download:[ \t]*[^\s#]", text.read(), re.MULTILINE) is not None


def places_of(found, split):
    """The folders and text files of a split."""
    places = found.get(split) or []
    return list(map(str, places if isinstance(places, list) else [places]))


def check_images(data, found):
    """Raises FileNotFoundError where images of a data set are missing; `found` are its paths. Both packages themselves look
    for those of the validation alone."""
    for split in ("train", "val"):
        for path in places_of(found, split) or [""]:
            if not os.path.exists(path):
                raise FileNotFoundError(f"'{data}': '{split}:' images not found, missing path '{path}'")


def check_labels(labels, split, images):
    """Raises TrialFailed where no image of a split ("train", "val") has a label: all metrics would be 0, whatever is trained."""
    if not any(map(len, labels)):
        raise TrialFailed("data", f"no label in the {'training' if split == 'train' else 'validation'} images: {images}")


@contextlib.contextmanager
def alone_in(folder, wait):
    """While it lasts, no other process of this machine that asks for the same folder is here; True: another one was, and
    `wait()` was called until it had gone. Of a folder that cannot be opened, several are."""
    with contextlib.ExitStack() as opened:
        waited = False
        with contextlib.suppress(OSError):
            lock = os.open(folder, os.O_RDONLY)
            opened.callback(os.close, lock)
            while not locked(lock):
                waited = True
                wait()
            opened.callback(fcntl.flock, lock, fcntl.LOCK_UN)  # a child process may have it open for longer
        yield waited


def locked(file):
    """Whether this process has the lock of an open file from now on. OSError: its file system knows none."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def images_in(place):
    """(name, path) of each image in a folder, or in a text file with one on each line; sorted. Names do not say where the
    data set lies. None where there is nothing."""
    if not os.path.exists(place):
        return []
    if os.path.isdir(place):
        root = place.rstrip(os.sep) + os.sep
        files = [(file[len(root):], file) for file in glob.iglob(glob.escape(root) + "**/*.*", recursive=True)]
    else:
        folder = os.path.dirname(place) + os.sep
        with open(place, encoding="utf-8", errors="surrogateescape") as text:
            lines = text.read().splitlines()
        absolute = [os.path.dirname(line) for line in lines if os.path.isabs(line)]
        root = os.path.commonpath(absolute) if absolute else ""
        files = [(line[len(root):] if os.path.isabs(line) else line, folder + line[2:] if line.startswith("./") else line)
                 for line in lines]
    return sorted((name, file) for name, file in files
                  if name.rpartition(".")[2].lower() in SUFFIXES and os.path.isfile(file))


def size_of_labels(image):
    """Bytes of an image's label file; -1: it has none."""
    root, images, rest = image.rpartition(f"{os.sep}images{os.sep}")
    file = f"{root}{os.sep}labels{os.sep}{rest}" if images else image
    try:
        return os.stat(os.path.splitext(file)[0] + ".txt").st_size
    except OSError:
        return -1


def contents_of(found):
    """Of each split of a data set whose paths are `found` these, the number of its images, and a checksum of their names
    and of the sizes of their label files; {} without paths. By names and sizes YOLOv5, and Ultralytics until lately,
    tell whether labels have changed; they also look at the images' sizes, but both write damaged images anew."""
    contents = {}
    for split in ("train", "val") if found else ():
        images, checksum = 0, 0
        # Without images for validation, Ultralytics validates a classifier with those of the test.
        places = places_of(found, split) or places_of(found, "test")
        for place in places:
            for name, file in images_in(place):
                images += 1
                line = f"{name} {size_of_labels(file)}\n"
                checksum = zlib.crc32(line.encode("utf-8", "surrogateescape"), checksum)
        contents[split] = {"places": places, "images": images, "files": checksum}
    return contents


def check_same(data, contents, began_with):
    """Raises TrialFailed where the data set of that name has other contents than those with which the run began, as far as
    these are known: the fitness of its trials could not be compared. It may lie elsewhere."""
    remedy = "bring them back, or begin a new run that learns from this one: evolve --from RUN"
    for split, now in contents.items():
        before = began_with.get(split, now)
        if now["images"] != before["images"]:
            raise TrialFailed("data", f"'{data}': {now['images']} {split} images, {BEGAN_WITH} {before['images']}; {remedy}")
        if now["files"] != before["files"]:
            raise TrialFailed("data", f"'{data}': names of {split} images or sizes of label files other than those that "
                              f"{BEGAN_WITH}; {remedy}")


def find_unchanged(options, find, paths):
    """What `find()` gives before a trial with these options; `paths` of it are those of the data set. Raises TrialFailed as
    check_same does, also where `find` does because the images are gone."""
    began_with = options.get("inputs") or {}
    known = {split: began_with[split] for split in ("train", "val") if split in began_with}
    try:
        found = find()
    except TrialFailed:
        places = {split: each["places"] for split, each in known.items()}
        check_same(options["data"], contents_of(places), known)
        raise
    if known:
        check_same(options["data"], contents_of(paths(found)), known)
    return found

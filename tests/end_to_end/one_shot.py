"""A command for --trainer-exec that trains nothing: its score is a formula of the hyp file.

one_shot.py WHAT HYP DIR [MORE …]. WHAT is one of
  yolov5       two rows in YOLOv5's columns, padded as YOLOv5 pads them
  silent       exits 0 and leaves nothing
  column       leaves no column val/obj_loss
  nan          ends with a NaN
  unvalidated  a row per second without a word, of which only the seventh has been validated
  exit         ends with exit code 3
  memory       ends as CUDA does when its memory is full
  killed       is killed by a signal
  linger       leaves a process of a session of its own running, and its id in the file "lingering"
  hang         starts a process and waits for ever; both ids are in the file "hanging"
MORE, and the environment that matters, are appended to the file "seen" in the current folder.
"""
import json
import os
import signal
import subprocess
import sys
import time

what, hyp_file, folder = sys.argv[1:4]
seen = {"words": sys.argv[4:], "hyp": open(hyp_file).read(), "stale": os.path.exists(folder + "/results.csv")}
for name in ("CUDA_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "ZE_FLAT_DEVICE_HIERARCHY", "ONEAPI_DEVICE_SELECTOR",
             "CUDA_DEVICE_ORDER", "TOPS_VISIBLE_DEVICES", "ABC_DEVICES"):
    seen[name] = os.environ.get(name)
with open("seen", "a") as file:
    file.write(json.dumps(seen) + "\n")
print("trained with", hyp_file, flush=True)

values = dict(line.split(": ", 1) for line in seen["hyp"].splitlines())
score = 0.5 / (1 + abs(float(values.get("hsv_s", 0)) - 0.2))
columns = ["epoch", "train/box_loss", "metrics/precision", "metrics/recall", "metrics/mAP_0.5",
           "metrics/mAP_0.5:0.95", "val/box_loss", "val/obj_loss", "val/cls_loss", "x/lr0"]
if what == "column":
    columns.remove("val/obj_loss")


def write_row(epoch, reached):
    row = {"epoch": epoch, "metrics/precision": 0.25, "val/box_loss": 0.01, "val/obj_loss": 0.02, "val/cls_loss": 0.03,
           "metrics/mAP_0.5": reached, "metrics/mAP_0.5:0.95": reached / 2}
    with open(folder + "/results.csv", "a") as file:
        if epoch == 0:
            file.write(",".join("%20s" % name for name in columns) + "\n")
        file.write(",".join("%20.5g" % row.get(name, 0) for name in columns) + "\n")


def process_of_its_own():
    return subprocess.Popen(["sleep", "1000"], start_new_session=True, stdout=subprocess.DEVNULL).pid


if what == "exit":
    print("Traceback:\nValueError: no such optimizer", flush=True)
    sys.exit(3)
if what == "memory":
    print("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\nall ranks have ended", flush=True)
    sys.exit(1)
if what == "killed":
    os.kill(os.getpid(), signal.SIGSEGV)
if what == "hang":
    with open("hanging", "w") as file:
        file.write(f"{os.getpid()} {process_of_its_own()}")
    time.sleep(1000)
if what == "linger":
    with open("lingering", "a") as file:
        file.write(f"{process_of_its_own()}\n")
if what == "unvalidated":
    for epoch in range(6):
        write_row(epoch, float("nan"))
        time.sleep(1)
    write_row(6, score)
elif what != "silent":
    write_row(0, score / 2)
    write_row(1, float("nan") if what == "nan" else score)

"""Stands in for PyTorch: what evolve.ultralytics, evolve.yolov5 and evolve.export.yolov5
call of it. Its CUDA finds as many devices as the variable
TORCH_HAS_CUDA says; where TORCH_IS_BROKEN is, it cannot be imported, and the process takes seconds to end."""
import atexit
import io
import os
import pickle
import time

if "TORCH_IS_BROKEN" in os.environ:
    atexit.register(time.sleep, 5)
    raise ImportError("libtorch_cpu.so: cannot open\nshared object file")

__version__ = "2.4.1"


class cuda:
    def is_available():
        return "TORCH_HAS_CUDA" in os.environ

    def device_count():
        return int(os.environ.get("TORCH_HAS_CUDA", 0))


class nn:
    class Linear:
        def __init__(self, inputs, outputs):
            pass


slots_threads = os.environ.get("OMP_NUM_THREADS")
num_threads = "the machine's"


def set_num_threads(count):
    global num_threads
    assert count == int(slots_threads)
    num_threads = count


class Number(float):
    def to(self, device):
        return self

    def __truediv__(self, divisor):
        return Number(float(self) / divisor)


def manual_seed(seed):
    assert 0 <= seed < 2**32


def save(what, file):
    try:
        opened = open(file, "wb") if isinstance(file, str) else file
        kept = isinstance(what, dict) and isinstance(file, io.BytesIO)
        opened.write(pickle.dumps(what) if kept else str(what).encode())
        opened.flush()
    except OSError:
        raise RuntimeError("unexpected pos 704 vs 598")  # as the real one has it


class Tensor:
    def float(self):
        return "single precision"


class Model:
    def __init__(self, yaml):
        self.yaml = yaml


def load(file, map_location, weights_only=False):
    assert map_location == "cpu"
    if os.path.basename(file) == "paused.pt":
        with open(file, "rb") as opened:
            return pickle.load(opened)
    if weights_only:
        return {"model.0.conv.weight": Tensor()}
    with open(file) as opened:
        return {"model": Model(opened.read())}


def device(name):
    return name

"""The worker's side of evolve's protocol, version 1: one JSON object per line (docs/trainers.md).

    def load():
        import my_library
        return lambda trial: as_metrics(my_library.train(...))

    worker.serve(load)

Needs nothing but Python 3.9.
"""

import contextlib
import io
import json
import math
import os
import re
import sys
import time
import traceback

METRICS = ("metrics/precision", "metrics/recall", "metrics/mAP_0.5", "metrics/mAP_0.5:0.95", "val/box_loss",
           "val/obj_loss", "val/cls_loss")

# What PyTorch, CUDA, SYCL and C++ say. Memory comes first: Intel's driver reports a lost device after too large an
# allocation. The same words are in workers/protocol/text.cpp; a test compares them.
FULL_MEMORY = ("out of memory", "OUT_OF_DEVICE_MEMORY", "OUT_OF_HOST_MEMORY", "OUT_OF_RESOURCES", "not enough memory",
               "DefaultCPUAllocator", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED",
               "ALLOCATION_FAILED",  # cuDNN 9: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED
               # A training has left these libraries no room for their handles or workspaces.
               "CUBLAS_STATUS_NOT_INITIALIZED", "CUDNN_STATUS_NOT_INITIALIZED",
               "find an engine to execute this computation", "find a valid cuDNN algorithm", "std::bad_alloc",
               "can NOT allocate memory block",  # Intel's, of one larger than 4 GB on Arc A
               "no usable batch size found",  # Ultralytics' AutoBatch, where not one image has room
               "killed by signal: Killed")  # a DataLoader's worker, by the kernel
LOST_DEVICE = ("DEVICE_LOST", "device lost", "GPU is lost", "fallen off the bus", "uncorrectable ECC error")
BAD_DATA = ("Image Not Found", "exceeds nc=")  # what YOLOv5 and Ultralytics say
# What cannot be found or fetched (weights, images) is missing for every set of hyperparameters. By name: requests has a
# ConnectionError of its own, and that a connection is reset means no such thing, though Python calls it one too.
MISSING = ("FileNotFoundError", "ConnectionError", "URLError", "HTTPError")

COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # and what else a terminal is told

# How PyTorch calls a kind of device, where it is not by its own name.
TORCH_KINDS = {"hip": "cuda"}


class TrialFailed(Exception):
    """The trial cannot be trained to its end. `kind` is one of oom, diverged, device_lost, data, other."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def json_line(message):
    """UTF-8, whatever the locale; a file's name that is not has question marks in it."""
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def print_json(message):
    sys.stdout.flush()
    sys.stdout.buffer.write(json_line(message))
    sys.stdout.flush()


class Channel:
    """The process's standard input and output, which nobody else has any more: what a library prints goes to standard
    error, which is the trial's log, and what it reads is empty."""

    def __init__(self):
        sys.stdout.flush()
        self._input = os.fdopen(os.dup(0), encoding="utf-8")
        self._output = os.fdopen(os.dup(1), "wb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def send(self, **message):
        self._output.write(json_line(message))
        self._output.flush()

    def receive(self):
        """The next message, or None when there will be none."""
        while True:
            line = self._input.readline()
            if not line:
                return None
            if line.strip():
                message = json.loads(line)
                return None if message.get("type") == "shutdown" else message


class Trial:
    """A training that evolve asks for.

    number: of the trial. hyp: {name: number or text}. epochs: how many in all. device: the slot's name, "cuda:1"; the
    process sees that device alone, as number 0. seed: from 0. dir: a folder for its files. options: evolve's own
    options (data, cfg, weights, batch_size, imgsz, …). start_epoch: after which it was paused, and is to go on; 0: it
    begins. stopped, paused: it was told to. trained: its epochs so far, as far as they were reported.
    """

    def __init__(self, channel, message):
        self._channel = channel
        self._rungs = set(message.get("rungs") or ())
        self._last_sign = 0.0
        self.number = message["trial"]
        self.hyp = message["hyp"]
        self.epochs = message["epochs"]
        self.device = message["device"]
        self.seed = message["seed"]
        self.dir = message["dir"]
        self.options = message.get("options") or {}
        self.start_epoch = message.get("start_epoch") or 0
        self.stopped = self.paused = False
        self.trained = self.start_epoch

    def alive(self):
        """To be called often, from the loop that works: a sign of life, one per second at most."""
        now = time.monotonic()
        if now - self._last_sign >= 1:
            self._last_sign = now
            self._channel.send(type="alive", trial=self.number)

    def is_looked_at(self, epoch):
        """Whether evolve wants to know how the training stands after this epoch (from 1): at rungs, and at its end."""
        return epoch in self._rungs or epoch == self.epochs

    def epoch_done(self, epoch, metrics):
        """Reports an epoch (from 1). False, and `stopped` or `paused` from then on, when the training is to end with it. One up
        to start_epoch, of a training that has kept nothing and begins anew, was reported before the pause."""
        if epoch <= self.start_epoch:
            return True
        self._channel.send(type="epoch", trial=self.number, epoch=epoch, metrics=checked(metrics))
        self.trained = epoch
        if epoch not in self._rungs:
            return True
        while True:
            decision = self._channel.receive()
            if decision is None:
                sys.exit(0)
            if decision.get("trial") == self.number and decision["type"] in ("continue", "stop", "pause"):
                break
        self.stopped = decision["type"] == "stop"
        self.paused = decision["type"] == "pause"
        return decision["type"] == "continue"

    def check_end(self):
        """Raises TrialFailed unless it was trained to its last epoch, or to the one with which evolve stopped or paused it: a
        shorter training must not be compared with the others."""
        if not (self.stopped or self.paused) and self.trained != self.epochs:
            raise TrialFailed("other", f"the training ended after {self.trained} of {self.epochs} epochs")


def checked(metrics):
    """The seven metrics as they are, all finite; TrialFailed of kind `diverged` when one is not."""
    for name in METRICS:
        if not math.isfinite(metrics[name]):
            raise TrialFailed("diverged", f"{name} is {metrics[name]}")
    return metrics


def kind_of(error):
    """What an exception of a training means to evolve."""
    if isinstance(error, TrialFailed):
        return error.kind
    words = said_by(error)
    if isinstance(error, MemoryError) or any(full in words for full in FULL_MEMORY):
        return "oom"
    if any(lost in words for lost in LOST_DEVICE):
        return "device_lost"
    return "data" if is_missing(error) or any(bad in words for bad in BAD_DATA) else "other"


def is_missing(error):
    """Whether it, or what it was raised from, says that something is not there."""
    while error:
        if type(error).__name__ in MISSING:
            return True
        error = error.__cause__
    return False


def said_by(error):
    """One line: what an exception says, and what it was raised from."""
    words = " ".join(COLOURS.sub("", str(error)).split())
    cause = said_by(error.__cause__) if error.__cause__ else ""
    return words if cause in words else f"{words} ({cause})"


def message_of(error):
    """One line of 300 characters at most: a package may tell of every image. What went wrong stands at one of the ends."""
    if isinstance(error, TrialFailed):
        return str(error)
    words = f"{type(error).__name__}: {said_by(error)}"
    if isinstance(error, ModuleNotFoundError):
        words += f"; install what has it for {sys.executable}"
    return words if len(words) <= 300 else f"{words[:190]} … {words[-107:]}"


def torch_kind(slot):
    """The kind of a slot's device as PyTorch calls it: "cuda" of "cuda:1", and of AMD's "hip:1"."""
    kind = slot.split(":")[0]
    return TORCH_KINDS.get(kind, kind)


def check_device(torch, slot):
    """Ends the process with one line when this PyTorch cannot use the slot's device: a trainer that finds none of its kind
    may take the CPU, and where no mask holds all would take number 0. PyTorch itself refuses the kinds that it has never
    heard of."""
    kind = torch_kind(slot)
    backend = torch.backends.mps if kind == "mps" else getattr(torch, kind, None)
    if kind in ("cuda", "xpu", "mps") and not (backend and backend.is_available()):
        sys.exit(f"{slot}: PyTorch {torch.__version__} of {sys.executable} finds no {kind.upper()} device; install a "
                 "PyTorch that was built for it, or name another Python in EVOLVE_PYTHON")
    if kind not in ("cpu", "mps") and hasattr(backend, "device_count") and backend.device_count() > 1:
        sys.exit(f"{slot}: PyTorch sees {backend.device_count()} {kind.upper()} devices, a slot has one; check what hides "
                 "the others (evolve devices --json: mask)")
    if kind == "xpu" and hasattr(backend, "set_per_process_memory_fraction"):
        backend.set_per_process_memory_fraction(1.0)  # without a bound, too large an allocation loses the device


@contextlib.contextmanager
def signs_of_life(bars, trial):
    """While it lasts, each step of a progress bar of the class `bars` is a sign of life: what a package does before it
    trains, such as looking over the data set and reading images, may take longer than training."""
    iterate = bars.__iter__

    def steps(bar):
        for step in iterate(bar):
            trial.alive()
            yield step

    bars.__iter__ = steps
    try:
        yield
    finally:
        bars.__iter__ = iterate


@contextlib.contextmanager
def expendable(*files):
    """Files of weights: one that cannot be written ends no training, whose metrics are there. The log says so, and no
    half of them stays."""
    try:
        yield
    except OSError as error:
        print(f"evolve: the weights are lost: {error.filename or files[0]}: {error.strerror}", file=sys.stderr)
        for file in files:
            with contextlib.suppress(OSError):
                os.unlink(file)


def save_expendably(torch):
    """Makes what `torch.save` writes to a file expendable: "unexpected pos" is all that it says itself."""
    save = torch.save

    def save_or_not(what, file, *arguments, **named):
        if not isinstance(file, (str, os.PathLike)):
            return save(what, file, *arguments, **named)
        content = io.BytesIO()
        save(what, content, *arguments, **named)
        with expendable(file), open(file, "wb") as written:
            written.write(content.getbuffer())

    torch.save = save_or_not


@contextlib.contextmanager
def without_empty_weights(folder):
    """A trial's folder `weights` goes, if nothing is in it: both trainers make it first of all, and a trial that fails or is
    stopped keeps none."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.rmdir(os.path.join(folder, "weights"))


def cpu_threads():
    """The slot's number of threads: evolve says it in OMP_NUM_THREADS, as a container's quota does not show in its cores."""
    cores = len(os.sched_getaffinity(0))
    told = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(int(told), cores)) if told.isdigit() else cores


def asked_once(function):
    """`function` with its first answer for all trials of the process."""
    answers = []

    def ask(*arguments, **named):
        if not answers:
            answers.append(function(*arguments, **named))
        return answers[0]

    return ask


@contextlib.contextmanager
def data_failures():
    """Whatever is raised in here is the data set's fault, unless it is a failure of its own kind."""
    try:
        yield
    except Exception as error:
        if kind_of(error) not in ("data", "other"):
            raise
        raise TrialFailed("data", message_of(error)) from error


@contextlib.contextmanager
def of_hyperparameter(name, is_start):
    """What is raised in here is wrong with a value of that hyperparameter, or with its name. The process ends with one
    object that says so: evolve knows where that was written."""
    try:
        yield
    except Exception as error:
        print_json({"hyperparameter": name, "is_start": is_start, "message": message_of(error)})
        os._exit(1)


def last_words(error):
    """Ends the process at once, with the error as the last line of what it says: an interpreter that has PyTorch takes
    seconds to end, in which the error would be taken for silence."""
    code = error.code if isinstance(error, SystemExit) else 1
    if not isinstance(error, SystemExit):
        traceback.print_exc()
        print(message_of(error), file=sys.stderr)
    elif isinstance(code, str):
        print(code, file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def enter_folder(options):
    """Goes where the run was begun: Ultralytics looks there for a data set whose `path:` is relative, and for models that
    have no other path than a name. A run can be resumed from elsewhere."""
    if os.path.isdir(options.get("folder", "")):
        os.chdir(options["folder"])


def main(load, check, can_pause=False):
    """What a module of a trainer does: `python -m evolve.TRAINER` serves, and with `--check JSON` it looks once at what the
    run needs before anything is trained, `check(options, space, begins)`: evolve's options, {name: values that it may
    have}, and whether the run begins or goes on. That returns the versions that it trains with, what else a person should
    know of its trials, and the contents of its data set (data_set.contents_of; {}: it is not here yet). The last line that
    it prints has these as {"trains_with": "…", "notes": ["…"], "data": {…}}, or what is wrong if its exit code is not 0, of
    a hyperparameter as {"hyperparameter": "…", "is_start": …, "message": "…"}."""
    # Ultralytics, which YOLOv5's package imports, would install packages that it misses, in each slot at once.
    os.environ.setdefault("YOLO_AUTOINSTALL", "false")
    if sys.argv[1:2] != ["--check"]:
        return serve(load, can_pause)
    asked = json.loads(sys.argv[2])
    del sys.argv[1:3]
    try:
        enter_folder(asked["options"])
        trains_with, notes, data = check(asked["options"], asked["space"], asked["begins"])
        print_json({"trains_with": trains_with, "notes": notes, "data": data})
    except BaseException as error:  # noqa: BLE001  whatever it is, the run could not begin
        last_words(error)
    sys.stdout.flush()
    os._exit(0)


def serve(load, can_pause=False):
    """Trains until evolve has no more trials. `load()` imports what training needs and returns `train(trial)`, which
    returns the seven metrics of the last epoch; whatever it raises is the trial's failure. `can_pause`: a trial that is
    `paused` keeps in `dir` what it needs to go on after its `start_epoch`."""
    channel = Channel()
    try:
        train = load()
    except BaseException as error:  # noqa: BLE001  sys.exit() too
        last_words(error)
    channel.send(type="ready", protocol=1, device=os.environ.get("EVOLVE_DEVICE", ""), can_pause=can_pause)
    while (message := channel.receive()) is not None:
        if message.get("type") != "train":
            continue
        trial = Trial(channel, message)
        enter_folder(trial.options)
        try:
            with without_empty_weights(trial.dir):
                metrics = checked(train(trial))
            trial.check_end()
        except Exception as error:  # noqa: BLE001  a failed trial is news, not the worker's end
            traceback.print_exc()
            channel.send(type="error", trial=trial.number, kind=kind_of(error), message=message_of(error))
        else:
            ended = {"stopped": True} if trial.stopped else {"paused": True} if trial.paused else {}
            channel.send(type="result", trial=trial.number, metrics=metrics, **ended)

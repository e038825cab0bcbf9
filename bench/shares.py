"""Cores for programs that train beside each other. evolve gives the slots of a run shares of the cores; runs know nothing of each other,
and where their threads share cores each is many times as slow (docs/speed.md, threads that wait)."""
import os, queue


def of(devices):
    """A queue of the devices, each with the cores that a program on it is to be bound to: equal shares, of one core at least. On a CPU it
    then uses all it has."""
    cores = sorted(os.sched_getaffinity(0))
    share = max(1, len(cores) // len(devices))
    shared = queue.Queue()
    for i, device in enumerate(devices):
        name = "cpu" if device.startswith("cpu") else device
        shared.put((name, [cores[(i * share + j) % len(cores)] for j in range(share)]))
    return shared


def bound_to(cores):
    """For subprocess' preexec_fn."""
    return lambda: os.sched_setaffinity(0, cores)

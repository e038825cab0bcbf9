"""Cores for programs that train beside each other. evolve gives the slots of a run shares of the cores; runs know nothing of each other,
and where their threads share cores each is many times as slow (docs/speed.md, threads that wait)."""
import os


def of(devices):
    """Each device with the cores that a program on it is to be bound to: equal shares, of one core at least. On a CPU it then uses all it has."""
    cores = sorted(os.sched_getaffinity(0))
    share = max(1, len(cores) // len(devices))
    named = ["cpu" if device.startswith("cpu") else device for device in devices]
    return [(device, [cores[(i * share + j) % len(cores)] for j in range(share)]) for i, device in enumerate(named)]


def bound_to(cores):
    """For subprocess' preexec_fn."""
    return lambda: os.sched_setaffinity(0, cores)

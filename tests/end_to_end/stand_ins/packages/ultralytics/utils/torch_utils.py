import os

import torch


def strip_optimizer(file):
    torch.save("weights", file)
    os.path.getsize(file)


def select_device(device, verbose=True):
    raise AssertionError("only an XPU is looked at before a trial")

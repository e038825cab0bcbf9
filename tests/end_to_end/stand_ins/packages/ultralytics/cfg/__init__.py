"""Ultralytics' look at settings."""
from ultralytics.utils import DEFAULT_CFG_DICT


def get_cfg(overrides):
    for name, value in overrides.items():
        if type(DEFAULT_CFG_DICT[name]) is int:
            assert type(value) is int, name
        if name in ("fliplr", "mosaic") and not 0 <= value <= 1:
            raise ValueError(f"'{name}={value}' is an invalid value. Valid '{name}' values are between 0.0 and 1.0.")

"""Stands in for D-FINE's reader of configurations."""
import yaml


def load_config(path):
    return yaml.safe_load(open(path))

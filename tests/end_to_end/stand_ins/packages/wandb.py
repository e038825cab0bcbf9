"""Stands in for W&B where it is installed."""

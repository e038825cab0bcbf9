"""Stands in for Neptune where it is installed."""

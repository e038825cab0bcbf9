"""Stands in for ClearML where it is installed."""

"""Stands in for Comet where it is installed."""

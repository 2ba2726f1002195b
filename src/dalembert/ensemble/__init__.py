"""Sweeps: one system from many states and with many values of its parameters."""

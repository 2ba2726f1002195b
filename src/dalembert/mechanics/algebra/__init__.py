"""Symbolic algebra at a cost known beforehand."""

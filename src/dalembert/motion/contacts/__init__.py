"""Friction and one-sided constraints: motions as smooth legs between events."""

"""Equilibria: where they are, whether they are stable, what friction allows."""

"""Reactions on every particle, by liberation."""

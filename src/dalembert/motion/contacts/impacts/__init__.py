"""Blows, with friction and restitution."""

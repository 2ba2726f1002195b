"""Symbols, numbers and the text of expressions: read safely, never executed."""

"""Which contact slips, sticks or is open, and one switched system for all of it."""

"""Numbers in time: states, forces, certificates."""

"""C that is compiled once for a machine and serves every model: sizes are arguments, models are data."""

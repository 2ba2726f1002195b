"""Where members start: states and parameters, looked at together."""

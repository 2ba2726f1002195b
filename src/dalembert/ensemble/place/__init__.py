"""Where members are computed."""

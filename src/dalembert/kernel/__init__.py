"""A system as C: straight-line code and a runtime in headers, compiled and kept."""

"""One system as one CUDA source, a thread for each motion, and what runs it: `run` needs NumPy and CuPy alone."""

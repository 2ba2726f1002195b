"""`Motion`, a frozen value, and what can be asked of it."""

"""Several members of an ensemble side by side in vector registers: one source for one system, and what runs it."""

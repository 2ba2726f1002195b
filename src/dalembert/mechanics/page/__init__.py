"""How equations look: text, LaTeX, names for long parts."""

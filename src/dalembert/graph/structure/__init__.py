"""Large systems: expressions that repeat one pattern, and the elimination of their unknowns in linear time."""

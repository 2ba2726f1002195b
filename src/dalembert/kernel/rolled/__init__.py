"""Large systems as C: steps that repeat become loops, so that the source does not grow with the system."""

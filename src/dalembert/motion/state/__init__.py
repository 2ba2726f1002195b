"""Everything at a state: numbers of the model, projection onto the constraints, reactions."""

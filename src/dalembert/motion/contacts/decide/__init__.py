"""Which mode a state is in: where friction decides to stick or to slip."""

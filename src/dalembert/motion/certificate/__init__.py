"""What a motion should satisfy, measured on its own numbers by other means than those that made it."""

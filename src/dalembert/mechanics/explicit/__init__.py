"""The explicit equation of motion in closed form, with friction solved for."""

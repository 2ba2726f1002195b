"""Plots: what a picture shows, as values (`Panel`), and what draws them."""

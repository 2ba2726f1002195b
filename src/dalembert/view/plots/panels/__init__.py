"""The panels of a motion, one file for each kind; `view.plots.motion` has them by name."""

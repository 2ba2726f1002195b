"""The same motion in fewer coordinates."""

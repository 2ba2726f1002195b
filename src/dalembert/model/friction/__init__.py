"""Laws of friction and of other nonideal constraints, and the geometry of what slides."""

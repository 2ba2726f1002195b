"""Material particles at positions in generalized coordinates, as `da.liberate` takes them."""

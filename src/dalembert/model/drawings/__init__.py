"""How a system looks: shapes at places that are expressions in its coordinates, parameters and time."""

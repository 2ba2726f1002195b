"""A motion with contacts, leg after leg, and what its contacts did."""

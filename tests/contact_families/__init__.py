"""Families of random systems with dry friction, each with a reference that owes nothing to the package under test.

`python -m tests.contact_families.trial` runs any number of them; `test_families.py` a handful of each.
"""

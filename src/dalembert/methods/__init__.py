"""Integration methods as data: `table` has one entry for each, `tableau` is the form of the explicit ones."""

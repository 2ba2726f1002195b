"""The chapters of a report, one file each."""

"""Pieces of HTML that the report and notebooks are made of: elements, tables, formulas."""

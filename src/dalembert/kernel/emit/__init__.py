"""C from graphs and tables: `source` puts it together, from straight-line code of a model (`functions` with `saddle`
and `coupled`, `straight_line`), its series (`taylor` with `series`), and methods (`explicit`, `dispatch`).
"""

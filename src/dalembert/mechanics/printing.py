"""Expressions on a page: plain text and LaTeX, symbols in the order in which a person writes them."""

from __future__ import annotations

import sympy as sp
from sympy.printing.printer import Printer

from dalembert.model.document import text_of
from dalembert.model.symbols import Coordinate


class _Shown(sp.Symbol):
    """A coordinate on the page: it prints the same but stands after the parameters, m x'' and not x'' m."""

    @classmethod
    def class_key(cls) -> tuple[int, int, str]:
        return 2, 1, cls.__name__

    def _latex(self, printer: Printer, exp: str | None = None) -> str:
        return Coordinate.named(self.name)._latex(printer, exp)


def _shown(expression: sp.Expr) -> sp.Expr:
    return expression.xreplace({s: _Shown(s.name) for s in expression.free_symbols if isinstance(s, Coordinate)})


def plain(expression: sp.Expr) -> str:
    """Text of the document language.

    >>> from dalembert.model.symbols import coordinates, parameters
    >>> (x,), (m,) = coordinates("x"), parameters("m")
    >>> plain(m * x.dd)
    "m*x''"
    """
    return text_of(_shown(expression))


def latex(expression: sp.Expr) -> str:
    """LaTeX for mathematics mode."""
    return sp.latex(_shown(expression))


def escaped(text: str) -> str:
    """Any text inside \\text{…}."""
    special = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    return "".join(special.get(c, f"\\{c}" if c in "#$%&_{}" else c) for c in text)

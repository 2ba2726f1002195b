"""Signs on the page that are no variables of a model: δx, d/dt(…), x'''. They print, and are never evaluated."""

from __future__ import annotations

import sympy as sp
from sympy.printing.printer import Printer

from dalembert.mechanics.page.printing import latex, plain


class Mark(sp.Symbol):
    """A symbol with a text of its own and a LaTeX of its own."""

    tex: str

    def _latex(self, printer: Printer, exp: str | None = None) -> str:
        return self.tex if exp is None else rf"\left({self.tex}\right)^{{{exp}}}"

    @classmethod
    def class_key(cls) -> tuple[int, int, str]:
        return 2, 2, cls.__name__  # after parameters and coordinates, as one writes R sin φ δψ


def mark(text: str, tex: str) -> Mark:
    symbol = Mark(text, real=True)
    symbol.tex = tex
    return symbol


class Infinitesimal(Mark):
    """dx, whose square is written dx²."""

    def _latex(self, printer: Printer, exp: str | None = None) -> str:
        return self.tex if exp is None else f"{self.tex}^{{{exp}}}"


def differential(of: sp.Symbol) -> Infinitesimal:
    symbol = Infinitesimal(f"d{of.name}", real=True)
    symbol.tex = f"d{latex(of)}"
    return symbol


def derivative(expression: sp.Expr) -> sp.Expr:
    """d/dt of an expression, not carried out."""
    if expression == 0:
        return sp.S.Zero
    return mark(f"d/dt({plain(expression)})", rf"\frac{{d}}{{dt}}\left({latex(expression)}\right)")

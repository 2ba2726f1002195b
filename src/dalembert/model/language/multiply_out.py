"""Products of sums multiplied out, for expressions that will be evaluated."""

from __future__ import annotations

import sympy as sp


def multiplied_out(expression: sp.Expr) -> sp.Expr:
    """The expression without brackets, but for those inside of functions and exponents: exp(−400 (t − 2)²) written as a
    product of exp(1600 t − 400 t²) and a number of 10⁻⁶⁹⁵ has no value in doubles.
    """
    inner = {call for call in expression.atoms(sp.Function, sp.Pow) if call.is_Function or call.exp.free_symbols}
    masks = {call: sp.Dummy() for call in inner}
    return sp.expand(expression.xreplace(masks)).xreplace({mask: call for call, mask in masks.items()})

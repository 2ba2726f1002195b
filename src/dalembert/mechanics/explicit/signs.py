"""Signs of expressions: what is never negative, and what the values of the parameters decide."""

from __future__ import annotations

from collections.abc import Set

import sympy as sp

from dalembert.mechanics.page.printing import plain
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.system import System


def same_sign(expression: sp.Expr, masses: Set[sp.Expr] = frozenset()) -> sp.Expr:
    """A shorter expression of the same sign: factors that are never negative are left out. `masses` are positive."""
    factors = sp.Mul.make_args(sp.factor_terms(expression))
    return sp.Mul(*(factor for factor in factors if not _is_never_negative(factor, masses)))


def _is_never_negative(e: sp.Expr, masses: Set[sp.Expr]) -> bool:
    if e in masses or e.is_extended_nonnegative:
        return True
    if e.is_Pow and e.exp.is_Rational and e.exp.q % 2 == 0:
        return True  # a root, of what cannot be negative then
    if e.is_Pow and e.exp.is_Integer:
        return bool(e.exp % 2 == 0 or _is_never_negative(e.base, masses))
    return bool((e.is_Add or e.is_Mul) and all(_is_never_negative(part, masses) for part in e.args))


def without_squares(expression: sp.Expr) -> sp.Expr:
    """a²/|a| as |a|, which SymPy does not see."""
    for modulus in expression.atoms(sp.Abs):
        size = sp.Dummy(positive=True)
        inside = modulus.args[0]
        swapped = expression.xreplace({modulus: size}).xreplace({inside**2: size**2})
        if not swapped.has(inside):
            expression = swapped.xreplace({size: modulus})
    return expression


class Signs:
    """Writes |…| without its bars where the sign is known. Masses are positive, since M is; where else only parameters
    stand between the bars, their values decide, and `note` says so to the reader.
    """

    def __init__(self, system: System, M: sp.Matrix) -> None:
        self.known = {symbol: float(value) for symbol, value in system.parameters.items()}
        self.masses = {entry for entry in M.diagonal() if entry.is_Symbol and not isinstance(entry, Coordinate)}
        self.used: dict[sp.Expr, bool] = {}

    def sign_core(self, value: sp.Expr) -> sp.Expr:
        """What has the sign of a value."""
        return same_sign(value, self.masses)

    def modulus(self, value: sp.Expr) -> sp.Expr:
        """|value|."""
        core = self.sign_core(value)
        if core.is_number:
            return value if core >= 0 else -value
        if any(isinstance(s, Coordinate) or s == t or s not in self.known for s in core.free_symbols):
            return value / core * sp.Abs(core)
        number = float(core.xreplace({s: sp.Float(self.known[s]) for s in core.free_symbols}))
        if not abs(number) > 0:
            return value / core * sp.Abs(core)
        if core.could_extract_minus_sign():
            self.used[-core] = number < 0
        else:
            self.used[core] = number > 0
        return value if number > 0 else -value

    def without_bars(self, expression: sp.Expr) -> sp.Expr:
        """An expression with the bars in it taken off where they can be."""
        return expression.replace(sp.Abs, self.modulus)

    @property
    def note(self) -> str:
        parts = []
        for positive, word in ((True, "positive"), (False, "negative")):
            names = [plain(core) for core, sign in self.used.items() if sign == positive]
            if names:
                parts.append(f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} {word}")
        return f"{', '.join(parts)}, as the parameters have it" if parts else ""

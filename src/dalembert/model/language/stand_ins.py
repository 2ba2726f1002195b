"""Stand-ins for functions without an expression, where a question about a model is settled by numbers.

A random smooth function is as good as any other: what vanishes for it vanishes for all of them, but for chance. What
does not vanish may do so for special functions, so that there are two plainer stand-ins to ask as well.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any
from zlib import crc32

import sympy as sp

from dalembert.model.language.functions import Unspecified

#: A function of which nothing special is known, one linear in its arguments, one that is constant.
KINDS = ("general", "linear", "constant")


def stood_in(expression: sp.Expr, kind: str = "general") -> sp.Expr:
    """An expression with stand-ins for its unspecified functions, the same ones each time."""
    if not expression.has(Unspecified):
        return expression
    swap: dict[sp.Basic, sp.Expr] = {}
    for applied in expression.atoms(Unspecified):
        u, value = _stand_in(applied.title, len(applied.args), _sign(applied), applied.orders, kind)
        arguments = [stood_in(argument, kind) for argument in applied.args]
        swap[applied] = value.xreplace(dict(zip(u, arguments, strict=True)))
    # From the outside in: the arguments of an outer function have been dealt with already.
    return expression.xreplace(swap)


def _sign(applied: Unspecified) -> int:
    signs: dict[str, Any] = applied.origin._kwargs
    if signs.get("positive") or signs.get("nonnegative"):
        return 1
    return -1 if signs.get("negative") or signs.get("nonpositive") else 0


@lru_cache(maxsize=4096)
def _stand_in(
    name: str, count: int, sign: int, orders: tuple[int, ...], kind: str
) -> tuple[tuple[sp.Symbol, ...], sp.Expr]:
    """Formal arguments u and c + Σ a_j u_j + Σ_k s_k sin(w_k·u + φ_k), differentiated.

    Of one sign near zero, since it may be a mass or a coefficient, and with zeros further away, since it may be a
    surface. Coefficients are fractions: brackets are computed in ninety digits.
    """
    if any(orders):
        u, value = _stand_in(name, count, sign, (0,) * count, kind)
        for symbol, order in zip(u, orders, strict=True):
            value = sp.diff(value, symbol, order)
        return u, value
    rng = random.Random(crc32(f"{name} {count}".encode()))

    def draw(low: float, high: float) -> sp.Rational:
        return sp.Rational(rng.choice((-1, 1)) * rng.randint(round(997 * low), round(997 * high)), 997)

    u = tuple(sp.Dummy(f"u_{k}", real=True) for k in range(1, count + 1))
    value = abs(draw(2.2, 2.8)) + sp.S.Zero
    if kind != "constant":
        value += sp.Add(*(draw(0.3, 0.6) * symbol for symbol in u))
    if kind == "general":
        for _ in range(2):
            value += draw(0.2, 0.4) * sp.sin(sp.Add(draw(0.3, 1.0), *(draw(0.5, 1.5) * symbol for symbol in u)))
    return u, value if not sign else sign * sp.exp(value / 4)

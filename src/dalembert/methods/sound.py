"""Whether an entry of the table of methods can be used: asked of those that are added to it. Tests ask it of ours."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from dalembert.methods.order_conditions import defects
from dalembert.methods.table import AUTO, METHODS, Method
from dalembert.methods.tableau import Tableau

# Conditions are sums of products of coefficients with sixteen digits; what has not its order misses them by far more.
MET = 1e-9


def faults_of(method: Method) -> Iterator[str]:
    """What is wrong with it: a number in C that another has, or a tableau that has not the orders it claims."""
    if not method.name.isidentifier() or method.name == AUTO:
        yield "its name must be a word, and not 'auto'"
    for other in METHODS.values():
        if other is not method and method.code is not None and other.code == method.code:
            yield f"its code {method.code} is that of {other.name!r}"
    if method.tableau is not None:
        if method.orders != (method.tableau.order,):
            yield f"it says order {method.orders}, its tableau {method.tableau.order}"
        yield from _missed(method.tableau)


@lru_cache(maxsize=32)
def _missed(tableau: Tableau) -> tuple[str, ...]:
    found = defects(tableau).items()
    return tuple(f"its {part} misses the order it claims by {value:.1e}" for part, value in found if not value <= MET)

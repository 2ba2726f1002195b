"""Quasi-velocities as a user names them: `{"v": x.d*cos(phi) + y.d*sin(phi), "omega": phi.d}`, or as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from dalembert.errors import ExpressionError, ModelError
from dalembert.model.language.adopt import function_faults, in_own_symbols
from dalembert.model.language.parse import parse_expression
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import is_name, t
from dalembert.model.language.vocabulary import RESERVED
from dalembert.model.system import System


def read_quasi_velocities(system: System, given: Mapping[str, Any], count: int) -> dict[str, sp.Expr]:
    """The definitions in the system's symbols. All faults are told together."""
    if not isinstance(given, Mapping):
        raise ModelError(system.name, ["quasi_velocities maps names to expressions, as in {'v': x.d*cos(phi)}"])
    symbols = (*system.coordinates, *system.velocities, *system.parameter_symbols, t)
    table = {symbol.name: symbol for symbol in symbols}
    faults: list[str] = []
    found: dict[str, sp.Expr] = {}
    for key, value in given.items():
        name, where = str(key), f"quasi-velocity {str(key)!r}"
        if not is_name(name) or name in RESERVED:
            faults.append(f"{where} is not a name: letters, digits and _ only, not starting with a digit")
        try:
            if isinstance(value, str):
                expression = parse_expression(value, table, where=where)
            else:
                expression = sp.sympify(value, strict=True)
                unknown = function_faults(expression, table, RESERVED)
                if unknown:
                    faults += [f"{where}: {fault}" for fault in unknown]
                    continue
                expression = in_own_symbols(expression, table)
        except ExpressionError as error:
            faults.append(str(error))
            continue
        except (sp.SympifyError, TypeError, ValueError):
            faults.append(f"{where}: an expression is wanted, got {value!r}")
            continue
        stray = sorted(s.name for s in expression.free_symbols if s.name not in table)
        if stray:
            faults.append(f"{where}: unknown name {stray[0]!r}.{suggest(stray[0], table)}")
        elif expression.free_symbols.isdisjoint(system.velocities):
            faults.append(f"{where} holds no velocity")
        found[name] = expression
    # A parameter of the initial state alone may share its name: it is in none of the equations.
    used = {s.name for e in (*system.expressions(), *found.values()) for s in e.free_symbols}
    used |= {q.name for q in system.coordinates}
    faults += [f"quasi-velocity {name!r}: the model uses that name already" for name in found if name in used]
    if not faults and len(found) != count:
        faults.append(f"the constraints leave {count} quasi-velocities to choose, not {len(found)}")
    if faults:
        raise ModelError(system.name, faults)
    return found

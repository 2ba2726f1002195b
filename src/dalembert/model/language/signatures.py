"""Functions without an expression, declared for text that applies them: `functions = ["g(t)", "F(x, y, z, t)"]`.

SymPy's own (`sp.Function("g")(t)`) need no declaration. Text does: an unknown function in it may be a mistyped one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sympy.core.function import AppliedUndef

from dalembert.model.language.functions import SIGNS, Unspecified
from dalembert.model.language.symbols import is_name

_ARGUMENT = r"[^\W\d]\w*'*"
_SIGNATURE = re.compile(rf"\s*(?P<name>[^\W\d]\w*)\s*\((?P<arguments>\s*{_ARGUMENT}\s*(?:,\s*{_ARGUMENT}\s*)*)\)\s*")


def read_signatures(given: Any, reserved: Collection[str], faults: list[str]) -> dict[str, int]:
    """The functions declared, each with the number of its arguments; what is wrong is added to `faults`."""
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        faults.append(f'functions: a list such as ["g(t)", "F(x, y)"] is wanted, got {given!r}')
        return {}
    found: dict[str, int] = {}
    for item in given:
        if isinstance(item, AppliedUndef):
            name, count = str(type(item).__name__), len(item.args)
        else:
            read = _SIGNATURE.fullmatch(item) if isinstance(item, str) else None
            if read is None:
                faults.append(f"functions: a name with its arguments, as in 'F(x, y)', is wanted, got {item!r}")
                continue
            name, count = read["name"], read["arguments"].count(",") + 1
        if not is_name(name) or name.startswith("_"):
            faults.append(f"functions: {name!r} is no name: letters, digits and _, beginning with a letter")
        elif name in reserved:
            faults.append(f"functions: {name!r} is a coordinate, a parameter or a word of the language; choose another")
        elif name in found:
            faults.append(f"functions: {name!r} is given twice")
        else:
            found[name] = count
    return found


def signatures(functions: Mapping[str, Collection[Unspecified]]) -> list[str]:
    """The declarations of functions as a model applies them: with the arguments they have there, where these are names
    and everywhere the same, else with names of no meaning.
    """
    found = []
    for name, applied in functions.items():
        first, *others = applied
        same = first.plain_arguments and all(other.args == first.args for other in others)
        arguments = map(str, first.args) if same else (f"argument_{k}" for k in range(1, len(first.args) + 1))
        found.append(f"{name}({', '.join(arguments)})")
    return found


def unwritable_functions(functions: Mapping[str, Collection[Unspecified]]) -> list[str]:
    """What text cannot say of functions: a sign that is assumed."""
    found = set()
    for name, group in functions.items():
        kept = [sign for sign in SIGNS if any(f.origin._kwargs.get(sign) for f in group)]
        found |= {f"that {name} is {sign}" for sign in kept[:1]}  # the first is the strongest
    return sorted(found)

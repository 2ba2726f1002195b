"""Unspecified functions on a page of equations: by their names alone, with a list of what they depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sympy as sp

from dalembert.model.language.adopt import adopt
from dalembert.model.language.functions import Unspecified, function_of, functions_in, given_back
from dalembert.model.particles.particles import Particles
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.mechanics.page.equations import Section

TITLE = "unspecified functions"


def by_names(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Sections with g for g(t), where every g has the same arguments and nothing else that name, and a section that
    says so.
    """
    entries = [e for s in sections for line in s.lines for e in (line.left, *(term for _, term in line.terms))]
    found = functions_in(adopt(entry) for entry in entries)
    # H of the page is not H(x) of the model.
    taken = {symbol.name.rstrip("'") for entry in entries for symbol in entry.free_symbols} if found else set()
    alike = {
        name: min(group, key=str)
        for name, group in found.items()
        if len({f.args for f in group}) == 1 and min(group, key=str).plain_arguments and name not in taken
    }
    if not alike:
        return tuple(sections)

    def bare(entry: sp.Expr) -> sp.Expr:
        entry = adopt(entry)
        return entry.xreplace({f: _bare(f) for f in entry.atoms(Unspecified) if f.title in alike})

    changed = [
        replace(section, lines=tuple(
            replace(line, left=bare(line.left), terms=tuple((label, bare(term)) for label, term in line.terms))
            for line in section.lines
        ))
        for section in sections
    ]  # fmt: skip
    line = next(type(line) for section in sections for line in section.lines)
    legend = []
    for applied in alike.values():
        whole = function_of(applied.origin, (0,) * len(applied.args))(*applied.args)
        legend.append(line(_bare(whole), (("", whole),)))
    return (*changed, type(sections[0])(TITLE, tuple(legend)))


def _bare(applied: Unspecified) -> sp.Expr:
    return function_of(applied.origin, applied.orders, True)(*applied.args)


def as_sympy(value: Any) -> Any:
    """Results with unspecified functions as SymPy writes them, all through matrices, tuples, mappings and records."""
    if isinstance(value, (System, Particles, str)) or value is None:
        return value
    if isinstance(value, (sp.Basic, sp.MatrixBase)):
        return given_back(value)
    if isinstance(value, (tuple, list)):
        return type(value)(as_sympy(part) for part in value)
    if isinstance(value, Mapping):
        return MappingProxyType({key: as_sympy(part) for key, part in value.items()})
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: as_sympy(getattr(value, f.name)) for f in fields(value) if f.init})
    return value

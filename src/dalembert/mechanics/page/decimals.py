"""Decimal numbers of a model, 9.81 or 0.5: exact in a derivation, and on the page as they were written.

Floating-point numbers multiplied and added in a derivation show their rounding, 9.810000000000002, and stay where they
are one, 1.0*r.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import sympy as sp

from dalembert.mechanics.algebra.tidy import exact
from dalembert.model.specify_functions import map_expressions
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.mechanics.page.equations import Section

# Fractions of integers longer than this are no help to anyone: beyond, numbers stay what they are.
LARGEST = 10**30


def has_decimals(system: System) -> bool:
    """Whether a page of it has decimal numbers. Text is read as fractions: a hundredth, or more than a few fifths or
    tenths, was written with a point; 2/5 or 7/10 may be the fraction of a moment of inertia.
    """
    return any(e.has(sp.Float) or any(map(_had_a_point, e.atoms(sp.Rational))) for e in _expressions(system))


def _expressions(system: System) -> list[sp.Expr]:
    particles = [] if system.particles is None else system.particles.expressions()
    return [*system.expressions(), *particles]


def _had_a_point(number: sp.Rational) -> bool:
    q = int(number.q)
    return q % 5 == 0 and 10**30 % q == 0 and (q >= 25 or abs(number) > 3)


@lru_cache(maxsize=16)  # systems are frozen; every form asks for the same one
def exactly(system: System) -> System:
    """The system with the fractions that its decimal numbers were written as."""
    if not any(expression.has(sp.Float) for expression in _expressions(system)):
        return system
    return system.replace(**map_expressions(system, _exact))


def _exact(expression: sp.Expr) -> sp.Expr:
    numbers = [abs(number) for number in expression.atoms(sp.Float)]
    return exact(expression) if all(n == 0 or 1 / sp.Integer(LARGEST) < n < LARGEST for n in numbers) else expression


def as_written(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Sections with decimal numbers for fractions that look like them: 981/100 is 9.81, and 1/2 stays."""
    return tuple(
        replace(section, lines=tuple(
            replace(line, left=decimal(line.left), terms=tuple((label, decimal(term)) for label, term in line.terms))
            for line in section.lines
        ))
        for section in sections
    )  # fmt: skip


def decimal(expression: sp.Expr) -> sp.Expr:
    """An expression with decimal numbers for fractions that look like them."""
    # First the factors of sums are multiplied into them: what is left is one number in each product, and no arithmetic
    # is done with the decimal ones.
    expression = expression.replace(lambda e: e.is_Pow and e.base.is_Add and e.exp.is_Integer, _content_first)
    expression = expression.replace(lambda e: e.is_Mul and _is_decimal(e.as_coeff_Mul()[0]), _into_sum)
    numbers = [number for number in expression.atoms(sp.Rational) if _is_decimal(number)]
    return expression.xreplace({number: sp.Float(float(number)) for number in numbers})


def as_read(expression: sp.Expr) -> sp.Expr:
    """`decimal`, where a number of the expression was written with a point."""
    return decimal(expression) if any(map(_had_a_point, expression.atoms(sp.Rational))) else expression


def _content_first(power: sp.Pow) -> sp.Expr:
    """1/(100 r² + 100 y²) as 1/(r² + y²) times a hundredth."""
    content, rest = power.base.primitive()
    return content**power.exp * rest**power.exp if content % 10 == 0 else power


def _into_sum(product: sp.Mul) -> sp.Expr:
    factor, rest = product.as_coeff_Mul()
    parts = list(sp.Mul.make_args(rest))
    # A sum of plain products stays one, 1.1*(x**2 + y**2).
    sums = [k for k, part in enumerate(parts) if part.is_Add and any(abs(a.as_coeff_Mul()[0]) != 1 for a in part.args)]
    if not sums:
        return product
    parts[sums[0]] = sp.Add(*(factor * term for term in parts[sums[0]].args))
    return sp.Mul(*parts)


def _is_decimal(number: sp.Expr) -> bool:
    """Whether a fraction is shown as a decimal number: fifths, tenths, hundredths; and long ones."""
    if not isinstance(number, sp.Rational) or number.q == 1:
        return False
    as_written = number.q % 5 == 0 and 10**30 % int(number.q) == 0
    return bool(as_written or abs(number.p) >= 10**5 or number.q >= 10**3)

"""Integrals of Pfaffian forms: a function f and a factor μ with μ ω = df, where simple means find them.

A form is a list of coefficients ω = Σ a_i dz_i over variables z, the coordinates and perhaps time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import sympy as sp

from dalembert.mechanics.algebra.tidy import Budget, tidy
from dalembert.mechanics.standard_form import diff
from dalembert.model.language.functions import Unspecified
from dalembert.model.language.rates import time_given_back, time_held

Form = tuple[sp.Expr, ...]
Zero = Callable[[sp.Expr], bool]

# Coefficients with more operations than this are not integrated: SymPy's integrator has no bound of its own.
LARGEST = 40


def integral_of(form: Form, variables: Sequence[sp.Symbol], zero: Zero) -> tuple[sp.Expr, sp.Expr] | None:
    """(f, μ) with μ ω = df, or None. `zero` decides whether an expression vanishes.

    Tried in turn: ω exact; a factor that depends on one variable; the same after division by a coefficient,
    by a product of two, or by Σ a_i z_i, which serves homogeneous forms.
    """
    for factor in _first_factors(form, variables, zero):
        scaled = tuple(tidy(factor * a) for a in form)
        more = _single_variable_factor(scaled, variables, zero)
        if more is None:
            continue
        f = potential_of(tuple(tidy(more * a) for a in scaled), variables, zero)
        if f is not None:
            return _polished(f, tidy(factor * more), form, variables, zero)
    return None


def _polished(
    f: sp.Expr, factor: sp.Expr, form: Form, variables: Sequence[sp.Symbol], zero: Zero
) -> tuple[sp.Expr, sp.Expr]:
    """The same integral as one would write it: no logarithm around it, no constant denominator, no leading
    minus.
    """
    if f.has(sp.log):
        g = tidy(sp.exp(sp.logcombine(sp.expand(f), force=True)))
        good = all(zero(diff(g, z) - g * factor * a) for a, z in zip(form, variables, strict=True))
        if good and not g.has(sp.log, sp.exp):
            f, factor = g, tidy(g * factor)
    _, bottom = sp.fraction(sp.together(sp.expand(f)))
    constant = sp.Mul(*(part for part in sp.Mul.make_args(bottom) if part.free_symbols.isdisjoint(variables)))
    if all(term.could_extract_minus_sign() for term in sp.Add.make_args(constant * f)):
        constant = -constant
    return tidy(sp.expand(constant * f) if f.is_Add else constant * f), tidy(constant * factor)


def potential_of(form: Form, variables: Sequence[sp.Symbol], zero: Zero) -> sp.Expr | None:
    """f with df = ω, for an exact form; None where it cannot be found."""
    f = sp.S.Zero
    budget = Budget(2000)
    for a, z in zip(form, variables, strict=True):
        rest = tidy(a - diff(f, z), budget)
        if zero(rest):
            continue
        part = _antiderivative(rest, z)
        if part is None:
            return None
        f = f + part
    good = all(zero(diff(f, z) - a) for a, z in zip(form, variables, strict=True))
    return tidy(f, budget) if good else None


def is_exact(form: Form, variables: Sequence[sp.Symbol], zero: Zero) -> bool:
    """dω = 0: the cross derivatives agree."""
    pairs = combinations(range(len(variables)), 2)
    return all(zero(diff(form[i], variables[j]) - diff(form[j], variables[i])) for i, j in pairs)


def _first_factors(form: Form, variables: Sequence[sp.Symbol], zero: Zero) -> Iterator[sp.Expr]:
    yield sp.S.One
    coefficients = [a for a in form if not a.is_number and not zero(a)][:6]
    for a in coefficients:
        yield 1 / a
    for a, b in combinations(coefficients, 2):
        yield 1 / (a * b)
    radial = sp.Add(*(a * z for a, z in zip(form, variables, strict=True)))
    if not zero(radial):
        yield 1 / tidy(radial)


def _single_variable_factor(form: Form, variables: Sequence[sp.Symbol], zero: Zero) -> sp.Expr | None:
    """μ(z_k) with d(μω) = 0: then (μ'/μ) a_i = ∂a_k/∂z_i − ∂a_i/∂z_k for every i, and the other cross
    derivatives agree.
    """
    if is_exact(form, variables, zero):
        return sp.S.One
    present = [i for i, a in enumerate(form) if not zero(a)]
    for k, z in enumerate(variables):
        others = [i for i in present if i != k]
        if not others:
            continue
        i = others[0]
        growth = tidy((diff(form[k], variables[i]) - diff(form[i], z)) / form[i])
        if not all(zero(diff(growth, other)) for other in variables if other != z):
            continue
        exponent = _antiderivative(growth, z)
        if exponent is None:
            continue
        # |z| is z up to a constant sign on each side of zero, and a constant in μ does not matter.
        factor = tidy(sp.powsimp(sp.exp(sp.expand_log(exponent, force=True)).replace(sp.Abs, lambda u: u)))
        if is_exact(tuple(factor * a for a in form), variables, zero):
            return factor
    return None


def _in_general(expression: sp.Expr, z: sp.Symbol) -> sp.Expr:
    """Without the cases that SymPy makes for single values of what is held, such as ∫ cos kz dz for k = 0."""
    return expression.replace(
        lambda part: isinstance(part, sp.Piecewise) and _holds_in_general(part.args[0][1], z),
        lambda part: part.args[0][0],
    )


def _holds_in_general(condition: sp.Basic, z: sp.Symbol) -> bool:
    """Whether a condition on what is held is false for single values only: k ≠ 0, or y² > 0."""
    if condition.has(z):
        return False
    if isinstance(condition, sp.Ne):
        return True
    held = sorted(condition.free_symbols, key=str)
    # Both signs, small and large: what holds at all of these is no question of where one is.
    numbers = [sp.Rational(sign * size, 7) for size in (1, 5, 23, 700) for sign in (1, -1)]
    shifted = [{s: numbers[(i * (k + 1) + k) % len(numbers)] for k, s in enumerate(held)} for i in range(len(numbers))]
    return all(condition.subs(values) == sp.true for values in shifted)


def _without_moduli(integral: sp.Expr, expression: sp.Expr, z: sp.Symbol) -> sp.Expr:
    """atan(z/|k|)/|k| as atan(z/k)/k, where that is an integral too."""
    plain = integral.replace(sp.Abs, lambda u: u)
    return plain if plain != integral and tidy(diff(plain, z) - expression) == 0 else integral


def _integral(expression: sp.Expr, z: sp.Symbol) -> sp.Expr:
    """∫ expression dz with every other symbol held, also where z is the time."""
    return time_given_back(sp.integrate(time_held(expression), time_held(z), manual=True))


def _antiderivative(expression: sp.Expr, z: sp.Symbol) -> sp.Expr | None:
    """∫ expression dz by hand methods, or None."""
    for version in (sp.expand(expression), expression):
        terms = []
        for term in sp.Add.make_args(version):
            constant, dependent = term.as_independent(z, as_Add=False)
            if sp.count_ops(dependent) > LARGEST:
                break
            if isinstance(dependent, Unspecified):
                result = dependent.lowered(z)
                if result is None:
                    break
                terms.append(constant * result)
                continue
            if dependent.has(Unspecified):
                break
            result = _in_general(_integral(dependent, z), z)
            if result.has(sp.Integral):
                break
            result = _without_moduli(result, dependent, z)
            terms.append(constant * result)
        else:
            return sp.Add(*terms)
    return None

"""Reactions that take part in the work of their own constraints, solved for: λ = Λ(λ), one after the other.

    Λ(λ) = (A M⁻¹Aᵀ)⁻¹(b − A M⁻¹(Q + C(λ)))

Where friction acts at right angles to its reaction in the metric of M (a block on a plane, a bead on a wire) Λ_k does
not hold λ_k, and the reaction is the ideal one: (39) of Udwadia 2005. Where it changes its own reaction,

    λ = p + r|λ|    has the one solution    λ = p/(1 − r sgn p)    while |r| < 1,

and none or two beyond, which is Painlevé's paradox. Reactions of several contacts that change each other in a circle
stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import sympy as sp
from sympy import ImmutableMatrix as Matrix

from dalembert.mechanics.algebra.cofactors import TooLarge
from dalembert.mechanics.algebra.splitting import Solver
from dalembert.mechanics.algebra.tidy import Budget, tidy, tidy_matrix
from dalembert.mechanics.explicit.signs import Signs
from dalembert.mechanics.page.printing import plain
from dalembert.mechanics.sample import SEED, ZERO, Sample, Sampler
from dalembert.mechanics.standard_form import StandardForm
from dalembert.model.language.symbols import Reaction, actual, multiplier


@dataclass(frozen=True)
class WorkWithoutReactions:
    """C with every reaction in it solved for, and remarks for the reader on the conditions under which that holds."""

    C: Matrix
    notes: tuple[str, ...] = ()


@dataclass
class _Reactions:
    """Values found so far, for λ and for |λ|."""

    signs: Signs
    values: dict[sp.Expr, sp.Expr] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def put(self, symbol: Reaction, value: sp.Expr, size: sp.Expr) -> None:
        self.values[sp.Abs(symbol)] = size
        self.values[symbol] = value

    def into(self, expression: sp.Expr) -> sp.Expr:
        """Moduli first: they hold the symbols."""
        moduli = {key: value for key, value in self.values.items() if not key.is_Symbol}
        return expression.xreplace(moduli).xreplace(self.values)


def solve_reactions(
    form: StandardForm, C: Matrix, solver: Solver, kept: list[int], signs: Signs, budget: Budget
) -> WorkWithoutReactions:
    """C with every reaction in it written out; `TooLarge` says why where that cannot be."""
    system = form.system
    names = [constraint.name for constraint in system.constraints]
    dropped = [name for k, name in enumerate(names) if k not in kept]
    forces = {
        actual(q): sp.Add(*(form.A[k, j] * multiplier(names[k]) for k in kept))
        for j, q in enumerate(system.coordinates)
    }
    C = C.xreplace(forces)
    lam = {multiplier(names[k]): k for k in kept}
    if dropped and C.atoms(Reaction):
        raise TooLarge(
            "the work of the constraints depends on their actual force, which redundant ones share: "
            f"{', '.join(map(repr, dropped))}"
        )
    # A one-sided constraint is shown while it holds, and pushes then.
    pushes = [multiplier(c.name) for c in system.constraints if c.one_sided]
    C = C.xreplace({sp.Abs(symbol): symbol for symbol in pushes})
    right = form.b.extract(kept, [0])
    _, total = solver(form.Q + C, right)
    rows = dict(zip(lam, total, strict=True))
    wanted = [symbol for symbol in lam if symbol in C.atoms(Reaction)]
    depends = _dependence(form, rows, wanted)
    found = _Reactions(signs)
    open_ = list(wanted)
    while open_:
        ready = next((k for k in open_ if not (depends[k] & set(open_)) - {k}), None)
        if ready is None:
            circle = ", ".join(repr(symbol.coordinate) for symbol in open_)
            raise TooLarge(
                f"the work of the constraints depends on their actual force: at {circle} it changes the reactions of "
                "the others"
            )
        absent = {s: sp.S.Zero for s in wanted if s not in depends[ready]}
        row = found.into(rows[ready].xreplace({sp.Abs(s): sp.S.Zero for s in absent} | absent))
        _solve(ready, tidy(row, budget), ready in pushes, found, budget)
        open_.remove(ready)
    shown = [signs.without_bars(tidy(found.into(entry), budget)) for entry in C]
    return WorkWithoutReactions(tidy_matrix(Matrix(shown), budget), tuple(found.notes))


def _solve(symbol: Reaction, row: sp.Expr, pushes: bool, found: _Reactions, budget: Budget) -> None:
    """λ = row, which may hold λ and |λ| itself, both at most linearly."""
    size = sp.Dummy("size", nonnegative=True)
    row = row.xreplace({sp.Abs(symbol): size})
    s, r = sp.diff(row, symbol), sp.diff(row, size)
    if (s.free_symbols | r.free_symbols) & {symbol, size} or (s != 0 and r != 0):
        raise TooLarge(f"the work of the constraints depends on their actual force: {symbol.name}")
    p = tidy(row.xreplace({symbol: sp.S.Zero, size: sp.S.Zero}), budget)
    modulus = p if pushes else found.signs.modulus(p)
    if s == 0 and r == 0:
        found.put(symbol, p, modulus)
        return
    share = tidy(s + r, budget)
    if s != 0:
        value = p / (1 - share)
        found.put(symbol, value, value if pushes else found.signs.modulus(value))
    else:
        side = sp.S.One if modulus == p else -sp.S.One if modulus == -p else sp.sign(found.signs.sign_core(p))
        whole = tidy(1 - share * side, budget)
        found.put(symbol, p / whole, modulus / whole)
    bound = "not 1" if s != 0 else "between -1 and 1"
    found.notes.append(
        f"the work of {symbol.coordinate!r} changes its own reaction: shown while {plain(share)} is {bound}; otherwise "
        "there may be no reaction that agrees with the law, or several (Painlevé)"
    )


def _dependence(
    form: StandardForm, rows: Mapping[Reaction, sp.Expr], wanted: list[Reaction]
) -> dict[Reaction, set[Reaction]]:
    """Which reactions each one depends on. What a short expression does not show is decided at random states on the
    constraints, for random parameters: a coupling that a zero among them hides is one all the same.
    """
    shown = {symbol: rows[symbol].atoms(Reaction) & set(wanted) for symbol in wanted}
    if not any(shown.values()):
        return shown
    sampler = Sampler(form)
    random = np.random.default_rng(SEED)
    sampler.p = random.uniform(0.5, 2.0, sampler.p.size)
    states = sampler.states(5)
    evaluate = sampler.function([rows[symbol] for symbol in wanted], wanted)
    found: dict[Reaction, set[Reaction]] = {symbol: set() for symbol in wanted}
    if len(states) < 3:
        return shown
    for j, symbol in enumerate(wanted):
        moves = np.zeros(len(wanted), dtype=bool)
        for state in states:
            moves |= _rows_changed_by(evaluate, state, random.uniform(-2.0, 2.0, (2, len(wanted))), j)
        for k, other in enumerate(wanted):
            if moves[k] and symbol in shown[other]:
                found[other].add(symbol)
    return found


def _rows_changed_by(evaluate, state: Sample, draws: np.ndarray, j: int) -> np.ndarray:  # type: ignore[no-untyped-def]
    """Of each row, whether it changes when reaction number j alone does."""
    other = draws[0].copy()
    other[j] = draws[1, j]
    one, two = evaluate(state, *draws[0]), evaluate(state, *other)
    return np.asarray(~(np.abs(one - two) <= ZERO * (np.abs(one) + np.abs(two) + 1.0)))

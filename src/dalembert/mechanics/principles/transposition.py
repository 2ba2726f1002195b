"""The transpositional relations: how δ and d/dt go together where the displaced states are to be possible ones, (31),
(33), (51) and (52) of Flannery 2011.

    displacements      (∂g_k/∂q̇_j) δq_j = 0  (28)                           (∂h_k/∂q̈_j) δq_j = 0  (48)
    relation           (∂g_k/∂q̇_j) [δq̇_j − (δq_j)˙] = g_kj δq_j  (31),      g_kj = d/dt ∂g_k/∂q̇_j − ∂g_k/∂q_j
    with δ and d/dt    δq̇_i = (δq_i)˙ for the independent ones,
    commuting where    δq̇_d − (δq_d)˙ = (G⁻¹)_dk g_kj δq_j for the dependent ones  (33)
    they may
    accelerations      (∂h_k/∂q̇_j) [δq̇_j − (δq_j)˙] + (∂h_k/∂q̈_j) [δq̈_j − (δq_j)¨] = Δh_k  (51),
                       Δh_k = [2 (∂h_k/∂q̈_j)˙ − ∂h_k/∂q̇_j] (δq_j)˙ + [(∂h_k/∂q̈_j)¨ − ∂h_k/∂q_j] δq_j  (38);
                       with δq̇_j = (δq_j)˙, δq̈_d − (δq_d)¨ = (H⁻¹)_dk Δh_k  (52)

The conditions (28) are Chetaev's. Where g_kj δq_j vanishes on all displacements, δ and d/dt commute and displaced
states are possible: integrable constraints, and only they; their rules (33) show 0. `system.displacements()` measures
it. These are relations between displacements, not equations of motion. In (38) the derivatives with respect to q̈ and q̇
are as written here; that is what (36) gives.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from dalembert.errors import DoesNotApply
from dalembert.mechanics.algebra.tidy import Budget
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import budget_for, is_long_model
from dalembert.mechanics.page.printing import plain
from dalembert.mechanics.principles.shared.basic_relations import basic_sections
from dalembert.mechanics.principles.shared.dependent_displacements import Dependent, dependent_of
from dalembert.mechanics.principles.shared.formulation import Solver, has_modes
from dalembert.mechanics.principles.shared.variations import condition, left_side, right_side
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.standard_form import is_long
from dalembert.model.constraints import Constraint
from dalembert.model.system import System

#: Says nothing about the motion, and can be read for any system with constraints.
RELATION = True
VELOCITIES = "(dg/dq') [delta q' - (delta q)'] = (d/dt dg/dq' - dg/dq) delta q, Flannery (31)"
ACCELERATIONS = "(dh/dq') [delta q' - (delta q)'] + (dh/dq'') [delta q'' - (delta q)''] = Delta h, Flannery (51)"
# Parts of a condition on the choice of dependent coordinates that fits in a title.
SHORT = 30
# Of models whose equations fill pages.
LEFT_OUT = "the model is long: (17)-(25), (37)-(45) are left out, and rules are not simplified on the constraints"


def applies(system: System) -> str:
    if not system.constraints:
        return "there are no constraints, so displacements are free"
    return "a relation between displacements, not an equation of motion: see system.displacements()"


def state_size(system: System) -> int:
    return 0


def prepare(system: System, sampler: Sampler) -> Solver:
    raise DoesNotApply(f"{system.name}: {applies(system)}")


def derive(system: System, dependent: Any = None) -> Equations:
    """dependent: the coordinates whose displacements follow from the others', as many as there are constraints; the
    first that do so at the initial state where none are given.
    """
    if has_modes(system) or not system.constraints:
        reason = has_modes(system) or "there are no constraints, so displacements are free"
        raise DoesNotApply(f"{system.name}: the form 'transposition' does not apply: {reason}", reason)
    budget, long = budget_for(system), is_long_model(system)
    bent = [c.level == "acceleration" for c in system.constraints]
    chosen = dependent_of(system, dependent, budget)
    sections = [
        Section("displacements, (28) and (48): Chetaev's conditions", tuple(_conditions(system))),
        *_dependent_sections(chosen, long),
        Section("relations, (31) and (51)", tuple(_relation(system, c, budget) for c in system.constraints)),
    ]
    if isinstance(chosen, Dependent):
        sections.append(
            Section("rules that make displaced states possible, (33) and (52)", tuple(chosen.rules(reduce=not long)))
        )
    sections += [] if long else basic_sections(system, budget)
    return Equations(
        system=system,
        form="transposition",
        explicit=False,
        reason="; ".join(
            [applies(system), *([chosen] if isinstance(chosen, str) else []), *([LEFT_OUT] if long else [])]
        ),
        title="; ".join(text for text, there in ((VELOCITIES, not all(bent)), (ACCELERATIONS, any(bent))) if there),
        sections=tuple(sections),
    )


def _conditions(system: System) -> list[Line]:
    return [Line(sp.S.Zero, (("", condition(system, c)),), c.name) for c in system.constraints]


def _dependent_sections(chosen: Dependent | str, long: bool) -> list[Section]:
    if isinstance(chosen, str):
        return []
    determinant = sp.S.One if long else chosen.determinant
    varies = not determinant.is_number and not is_long(determinant, SHORT)
    shown = sp.factor_terms(determinant).as_coeff_Mul()[1]
    where = f", where {plain(shown)} is not zero" if varies else ""
    found = [Section(f"dependent displacements, (27) and (47){where}", tuple(chosen.displacements()))]
    more = [] if long else [Section("dependent accelerations, (25) and (45)", tuple(chosen.accelerations()))]
    return found + more


def _relation(system: System, constraint: Constraint, budget: Budget) -> Line:
    return Line(left_side(system, constraint), (("", right_side(system, constraint, budget)),), constraint.name)

"""The certificate: what a computed motion should satisfy, measured on its own numbers at its output points.

Nothing here trusts the integrator or the solver: residuals come from the model's functions at the states of
the motion, the minimum of G from the null space of A (the solver works in its range), and the energy balance
from the work integrals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dalembert.kernel.ready.certify import MEASURED
from dalembert.kernel.ready.forces import Forces
from dalembert.model.friction.legs import needs_legs
from dalembert.motion.certificate.algebra import Data, at_points, data_along, is_minimum
from dalembert.motion.certificate.constraints import constraint_residuals
from dalembert.motion.certificate.determined import undetermined_loads
from dalembert.motion.certificate.energy import energy_residual, heat_residual, told_energy_off
from dalembert.motion.certificate.plain import certify_any_plain, measure_held
from dalembert.motion.certificate.ranks import ranks_agree
from dalembert.motion.certificate.repeat import repeat_and_consistency
from dalembert.motion.certificate.thresholds import thresholds
from dalembert.motion.certificate.told_events import told_events_off
from dalembert.motion.result.certificate import MEASURES, Certificate
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import Points

if TYPE_CHECKING:
    from dalembert.graph.contacts import ContactState
    from dalembert.motion.contacts.modes.contacts import Contacts
    from dalembert.motion.result.motion import Motion


def certify(
    motion: Motion,
    evaluation: Evaluation | None = None,
    contacts: Contacts | None = None,
    evaluated: Points | Forces | None = None,
) -> Certificate:
    """Measure a motion against its own system. evaluation, contacts: of that system, and what it has at the output
    points, where they are at hand.
    """
    limits = thresholds(motion.rtol, motion.timing.steps)
    evaluation = Evaluation(motion.system) if evaluation is None else evaluation
    if motion.system.definitions and (motion.system.nonideal or needs_legs(motion.system)):
        # Laws of friction are told by SymPy. A copy would have the certificate, which is made here.
        motion = replace(motion, system=motion.system.expanded, certificate=None, warnings=())  # type: ignore[arg-type]
    if contacts is None and needs_legs(motion.system):
        from dalembert.motion.contacts.modes.contacts import Contacts  # needs SymPy, which others do without

        contacts = Contacts(motion.system)
    data = data_along(motion, evaluation, evaluated)
    as_told = not told_energy_off(motion, evaluation, data.energy).any()
    if contacts is None and as_told and (plain := certify_any_plain(motion, evaluation, data)) is not None:
        return plain
    has_legs = motion.C is not None and contacts is not None
    held = measure_held(motion, evaluation, data) if has_legs and as_told else None
    states = None if data.closed is None else _states_of_contacts(motion, evaluation, data)
    if held is not None:
        ranks, unique = (int(held["rank_min"]), int(held["rank_max"])), True
        measured = {name: held[name] for name in MEASURED}
        if motion.heat and held["energy_size"] > 0.0:
            # No number where the heat is none.
            measured["energy"] = float(np.maximum(held["energy"], heat_residual(motion, states) / held["energy_size"]))
    else:
        points = at_points(motion, data)
        ranks, unique = points.ranks, points.unique
        measured = {
            **constraint_residuals(motion, evaluation, data, points.lengths),
            **points.measured,
            "energy": energy_residual(motion, evaluation, points, data.energy),
        }
    # Where a row nonlinear in q̇ vanishes, branches of the motion meet (`Evaluation.branching`).
    if evaluation.graph.curved:
        unique = unique and bool(np.any(data.A[:, list(evaluation.graph.curved)], axis=2).all())
    undetermined: tuple[str, ...] = ()
    if evaluation.graph.uses_actual or motion.system.contacts:
        undetermined = undetermined_loads(motion, evaluation, data.A, contacts)
        if motion.blows and contacts is not None:
            undetermined = tuple(dict.fromkeys((*undetermined, *_undetermined_in_blows(motion, contacts))))
        unique = unique and not undetermined
    if evaluation.graph.nonlinear and not is_minimum(motion, data):
        measured["gauss"] = float("inf")
    if has_legs and contacts is not None:
        from dalembert.motion.certificate.repeat_contacts import repeat_residual  # needs SymPy

        repeat, consistency = repeat_residual(motion, contacts, data.M, data.Q, limits["repeat"]), 0.0
    else:
        repeat, consistency = repeat_and_consistency(motion, evaluation, data.M, points, limits["repeat"])
    if motion.system.events:
        repeat = max(repeat, told_events_off(motion, evaluation, limits["repeat"]))
    if not ranks_agree(motion, data.M, data.A, ranks):
        measured["acceleration"] = float("inf")
    measured |= {
        "contact": 0.0 if states is None else _contact_residual(motion, data, states, contacts),
        "repeat": repeat,
        "consistency": consistency,
        "impact": _impact_residual(motion, contacts) if motion.blows or np.any(motion.impact_loss) else 0.0,
    }
    holds = unique and all(measured[name] <= limits[name] for name in MEASURES)
    certificate = Certificate.__new__(Certificate)  # as in `certify_plain`
    vars(certificate).update(
        measured, rank_min=ranks[0], rank_max=ranks[1], unique=unique, holds=bool(holds), thresholds=limits,
        undetermined=undetermined,
    )  # fmt: skip
    return certificate


# Contacts and impacts need SymPy, which other motions do without where their model was kept.


def _states_of_contacts(motion: Motion, evaluation: Evaluation, data: Data) -> ContactState:
    from dalembert.motion.certificate.friction_laws import states_of_contacts

    gaps = None
    if data.position is not None:
        constraints, rows = motion.system.constraints, evaluation.graph.position_rows
        gaps = data.position[:, [k for k, row in enumerate(rows) if constraints[row].one_sided]]
    return states_of_contacts(motion, gaps)


def _contact_residual(motion: Motion, data: Data, states: ContactState, contacts: Contacts | None) -> float:
    from dalembert.motion.certificate.friction_laws import contact_residual, speed_of_rest
    from dalembert.motion.certificate.left_rest import departed_early

    assert data.closed is not None
    found = contact_residual(motion, data.M, data.Q, data.closed, states)
    if contacts is None:
        return found
    return max(found, departed_early(motion, contacts, speed_of_rest(motion, data.M, data.Q)))


def _undetermined_in_blows(motion: Motion, contacts: Contacts) -> tuple[str, ...]:
    from dalembert.motion.certificate.shared_blows import undetermined_in_blows

    return undetermined_in_blows(motion.blows, contacts)


def _impact_residual(motion: Motion, contacts: Contacts | None) -> float:
    from dalembert.motion.certificate.impact_laws import impact_residual

    return impact_residual(motion, contacts)

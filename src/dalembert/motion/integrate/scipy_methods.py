"""The methods of the reference backend: SciPy's own classes, or one made from the tableau of a method."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.methods.table import Method
from dalembert.methods.tableau import padded

# As far as a mean of four components lets one of them go: those of two coordinates.
WORST = 2.0


def scipy_class(method: Method) -> Any:
    """A class with the arguments and attributes of SciPy's integrators."""
    from scipy import integrate

    if method.scipy is not None:
        return getattr(integrate, method.scipy)
    tableau = method.tableau
    assert tableau is not None, f"{method.name} does not run on the reference backend"
    # SciPy's pair 5(4) takes all that it knows of itself from these.
    stages = tableau.stages
    attributes = {
        "order": tableau.order,
        "error_estimator_order": tableau.falls - 1,
        "n_stages": stages,
        "A": np.array([padded(row, stages) for row in tableau.a]),
        "B": np.array(tableau.b),
        "C": np.array(tableau.c),
        "E": np.array(padded(tableau.estimates[0].weights, stages + 1)),
        "P": np.array(tableau.powers()),
    }
    return type(method.title, (integrate.RK45,), attributes)


def worst_norm(errors: Array) -> float:
    """Of errors in tolerances: their mean, or that of the component that errs most where that is far more."""
    return max(float(np.sqrt(np.mean(errors**2))), float(np.abs(errors).max()) / WORST)


def watching_each(base: Any) -> Any:
    """The same method, which lets no component of a step err by more than WORST tolerances. Their mean over thousands
    of components says nothing of the few that move.
    """

    def norm(self: Any, K: Array, h: float, scale: Array) -> float:
        mean = base._estimate_error_norm(self, K, h, scale)
        if hasattr(self, "E5"):
            fifth, third = (float(np.abs(np.dot(K.T, E) / scale).max()) for E in (self.E5, self.E3))
            most = abs(h) * fifth**2 / np.hypot(fifth, 0.1 * third) if fifth else 0.0
        else:
            most = float(np.abs(self._estimate_error(K, h) / scale).max())
        return max(mean, most / WORST)

    return type(base.__name__, (base,), {"_estimate_error_norm": norm})


class InsideStiff:
    """States inside a step of Radau IIA, as `da_radau_at` of kernel/runtime/steps/radau.h has them: the interpolant of
    the work, whose error nothing watches, also has the power at the start of the step.

    inside: SciPy's interpolant. rates: at the start. first: where the work begins.
    """

    def __init__(self, inside: Any, rates: Array, first: int) -> None:
        self.inside, self.first = inside, first
        self.excess = (inside.Q[first:, 0] - inside.h * rates[first:]) / 0.1  # by c₁c₂

    def __call__(self, t: float) -> Array:
        y, x = np.array(self.inside(t)), (t - self.inside.t_old) / self.inside.h
        y[self.first :] += self.excess * (x * (-0.1 + x * (0.45 + x * (-0.6 + 0.25 * x))))
        return y

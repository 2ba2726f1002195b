"""What pages of friction and `print(at())` say, beside what is so: bars that values decide, velocities that are zero
while something sticks, masses that cancel, constraints that are open.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy import sqrt, tan

import dalembert as da
from dalembert.errors import ModelError
from dalembert.mechanics.algebra.tidy import tidy

x, y, z, r, phi = da.coordinates("x y z r phi")
m, g, mu, theta, omega = da.parameters("m g mu theta omega")


def test_36_as_work_of_the_ideal_reaction_has_no_bars() -> None:
    """(36): |Q_i| = √(Q_ix² + Q_iy²) is m g cos θ for values given, and the page says what it took of them."""
    size, speed = sqrt(da.ideal(x) ** 2 + da.ideal(y) ** 2), sqrt(x.d**2 + y.d**2)
    work = da.Work({x: -mu * size * x.d / speed, y: -mu * size * y.d / speed}, constraint="plane")
    system = da.System(
        "block", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, potential=m * g * y,
        constraints={"plane": y - x * tan(theta)}, nonideal=[work],
        parameters={m: 2, g: 9.81, theta: 0.5, mu: 0.3}, initial={x: 0, y: 0, x.d: 1, y.d: tan(theta)},
    )  # fmt: skip
    page = system.equations()
    expected = -mu * m * g * sp.cos(theta) * sp.Matrix([x.d, y.d]) / speed
    assert sp.simplify(page.C - expected) == sp.zeros(2, 1)
    assert "g and cos(theta) are positive, as the parameters have it" in page.reason


def test_what_does_not_slide_has_no_velocity_while_it_sticks() -> None:
    """A bead in a tube that turns: it is driven, so φ̇ stays, but ṙ is zero, and with it the reaction 2 m φ̇ r ṙ."""
    system = da.System(
        "tube", coordinates=[r, phi], kinetic=m * (r.d**2 + r**2 * phi.d**2) / 2,
        constraints={"turn": phi - omega * da.t},
        nonideal=[da.Coulomb("turn", mu=mu, point=[r * sp.cos(phi), r * sp.sin(phi)])],
        parameters={m: 1.5, omega: 2, mu: 0.2},
        initial={r: 1, phi: 0, r.d: 0.3, phi.d: 2},
    )  # fmt: skip
    lines = {str(line.left): line.terms[0][1] for line in _section(system, "while sticking").lines}
    assert lines["F_max"] == 0
    outside = sp.Symbol("r", positive=True)  # the direction of sliding is that of the velocity, on either side
    assert sp.simplify((lines["F"] + m * r * phi.d**2).subs(r, outside)) == 0


def _section(system: da.System, title: str):  # type: ignore[no-untyped-def]
    return next(section for section in system.equations().sections if section.title == title)


def test_a_symbol_that_cancels_is_not_shown() -> None:
    """Multiplied out it is longer than with the factor m left in it."""
    fraction = z * (g * z - x.d**2 - y.d**2 - z.d**2) / (x**2 + y**2 + z**2)
    found = tidy((-g * m + m * fraction) / m)
    assert m not in found.free_symbols
    assert sp.simplify(found - (fraction - g)) == 0


def test_open_constraints_are_called_open() -> None:
    system = da.System(
        "puck", coordinates=[x, y], kinetic=m * (x.d**2 + y.d**2) / 2, potential=m * g * y,
        constraints=[da.Constraint("floor", y, one_sided=True)], parameters={m: 1, g: 9.81},
        initial={x: 0, y: 1, x.d: 1, y.d: 0},
    )  # fmt: skip
    above, on = system.at(), system.at({y: 0})
    np.testing.assert_array_equal(above.constraint_force, 0)
    assert "open, so that they do not act: floor" in str(above)
    assert "dependent" not in str(above)
    assert "gradient" not in str(above)
    assert "open" not in str(on)


def test_a_key_with_wrong_arguments_is_told_in_words() -> None:
    V = sp.Function("V")
    system = da.System("well", coordinates=[x], kinetic=m * x.d**2 / 2, potential=V(x))
    with pytest.raises(ModelError, match="V has one argument: the key V\\(x, y\\)"):
        system.replace(functions={V(x, y): x})

"""Classifications that need care: weak forces beside strong ones, short pulses, many parts, rods that depend on each
other, and what is not looked for.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.mechanics.classify import frobenius
from dalembert.mechanics.classify.classify import classify
from dalembert.mechanics.classify.conserve import MOST_SUMMED
from dalembert.mechanics.classify.problem import Problem
from dalembert.mechanics.pulses import FAR, Pulses
from dalembert.model.language.symbols import t

PULSE = "exp(-((t - 2)/0.004)^2)"


def row_of_masses(count: int, damping: float, heavy: float = 1e6) -> da.System:
    """A light mass with a dashpot, and heavy ones on stiff springs beside it."""
    q = da.coordinates(" ".join(f"q{k}" for k in range(count)))
    stiff = sum(heavy * (b - a) ** 2 / 2 for a, b in pairwise(q[1:]))
    return da.System(
        "row",
        coordinates=list(q),
        kinetic=sum((1 if k == 0 else heavy) * x.d**2 / 2 for k, x in enumerate(q)),
        potential=stiff + (q[0] - q[1]) ** 2 / 2,
        forces={q[0]: -damping * q[0].d},
        initial={x: 0.1 * k for k, x in enumerate(q)} | {x.d: 0 for x in q},
    )


@pytest.mark.parametrize("masses", [6, 20])
@pytest.mark.parametrize("damping", [0.1, 1e-12])
def test_a_weak_dashpot_takes_energy(masses: int, damping: float) -> None:
    """However small its power is beside those that springs hand to and fro; the momenta of the parts likewise."""
    found = classify(row_of_masses(masses, damping)).conservation
    assert found.energy is False
    assert found.quantities == ()


def total(kinetic: sp.Expr, velocities: tuple[sp.Symbol, ...]) -> sp.Expr:
    return sp.expand(sp.Add(*(sp.diff(kinetic, v) for v in velocities)))


@pytest.mark.parametrize("masses", [6, 20])
def test_sums_of_momenta_of_any_number_of_masses(masses: int) -> None:
    """Without the dashpot: Newton's third law."""
    system = row_of_masses(masses, 0.0)
    energy, momentum = classify(system).conservation.quantities
    assert energy.name == "energy"
    assert system.kinetic is not None
    assert sp.expand(momentum.expression - total(system.kinetic, system.velocities)) == 0


def test_what_is_not_looked_for_is_said() -> None:
    few, many, most = (classify(row_of_masses(k, 0.0)) for k in (8, 9, MOST_SUMMED + 1))
    assert not any("not looked for" in note for note in few.notes)
    assert any("not looked for: moments" in note and "sums" not in note for note in many.notes)
    assert any("not looked for: moments" in note and "sums of momenta" in note for note in most.notes)
    assert "not looked for" in most.conservation.text()
    assert [q.name for q in most.conservation.quantities] == ["energy"]


def test_a_pulse_in_a_constraint_is_seen() -> None:
    """z = e^(−((t−2)/0.004)²): it moves z, and with it the energy; x is free."""
    found = classify(
        da.System("pulse", coordinates="x z", kinetic="(x'^2 + z'^2)/2", constraints={"pulse": f"z - {PULSE}"})
    )
    (kind,) = found.constraints
    assert kind.rheonomic
    assert found.degrees_of_freedom == 1
    assert found.conservation.energy is False
    assert [q.name for q in found.conservation.quantities] == ["p_x"]


def test_a_pulse_in_a_force_and_in_a_velocity_constraint_is_seen() -> None:
    kinetic = "(x'^2 + y'^2 + z'^2)/2"
    pushed = classify(da.System("pushed", coordinates="x", kinetic="x'^2/2", forces={"x": PULSE}))
    assert pushed.conservation.energy is False
    assert pushed.conservation.quantities == ()
    led = da.System("led", coordinates="x y z", kinetic=kinetic, constraints={"led": f"z' - y*x'*{PULSE}"})
    (kind,) = classify(led).constraints
    # dω ∧ ω has the component e^… on x, y, z.
    assert kind.integrable is False


def test_a_rod_whose_length_jumps_has_states() -> None:
    """Its ends have speeds of hundreds under the pulse."""
    found = classify(
        da.System(
            "rod",
            coordinates="x y",
            kinetic="(x'^2 + y'^2)/2",
            constraints={"rod": f"x^2 + y^2 - (1 + {PULSE})^2"},
            initial={"x": 1, "y": 0, "x'": 0, "y'": 0},
        )
    )
    assert (found.degrees_of_freedom, found.conservation.energy) == (1, False)


def test_what_no_time_shows_is_left_open() -> None:
    """Pulses at places that move have no instants of their own."""
    system = da.System(
        "gate",
        coordinates="x",
        kinetic="x'^2/2",
        forces={"x": "exp(-((t - 2)/0.004)^2 - x^2)"},
        initial={"x": 1, "x'": 0},
    )
    found = classify(system).conservation
    assert found.energy is None
    assert "the force on x" in found.reason


def test_times_at_which_pulses_are_there() -> None:
    """One after the other where there are several."""
    x = sp.Symbol("x")
    two = Pulses([sp.exp(-(((t - 2) / 0.004) ** 2)), x / sp.cosh((t - 5) / 0.01)], {})
    times = [two.seen_near(0.3) for _ in range(4)]
    for time, instant, width in zip(times, (2.0, 5.0) * 2, (0.004, 0.01) * 2, strict=True):
        assert abs(time - instant) / width < np.sqrt(FAR)
    assert Pulses([sp.exp(-t), sp.sin(1000 * t)], {}).seen_near(0.3) == 0.3
    # The argument tends to −40, and has no zero: the way to it leads beyond all numbers. The other has no value at 0.
    assert Pulses([sp.exp(-12000 / (300 + 20 / (1 + t**2)))], {}).seen_near(0.3) == 0.3
    assert Pulses([sp.exp(-1 / t**2)], {}).seen_near(0.0) == 0.0


def test_parts_that_share_nothing_are_decided_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of z′ = y x′, six times, each bracket holds the variables of one part."""
    widths: list[int] = []
    closure = frobenius._Local.closure

    def counted(local: frobenius._Local) -> object:
        widths.append(len(local.base))
        return closure(local)

    monkeypatch.setattr(frobenius._Local, "closure", counted)
    q = da.coordinates(" ".join(f"x{k} y{k} z{k}" for k in range(6)))
    parts = [q[3 * k : 3 * k + 3] for k in range(6)]
    skates = {f"skate {k}": z.d - y * x.d for k, (x, y, z) in enumerate(parts)}
    a, b = da.coordinates("a b")
    system = da.System(
        "skates",
        coordinates=[*q, a, b],
        kinetic=sum(x.d**2 / 2 for x in (*q, a, b)),
        constraints={**skates, "rolling": a.d - 2 * b.d, "rod": q[0] ** 2 + a**2 - 1},
    )
    found = classify(system)
    assert [kind.integrable for kind in found.constraints] == [False] * 6 + [True, True]
    # Six skates take nothing; rolling and the rod one freedom of configuration each.
    assert (found.degrees_of_freedom, found.configuration_freedoms) == (12, 18)
    # x0 y0 z0 and a b are joined by the rod, on which one of them depends on the others.
    assert max(widths) <= 5


def test_rows_of_zeros_beside_parts() -> None:
    """They are combinations of any forms."""
    z = sp.symbols("z:6")
    zero = (sp.S.Zero,) * 6
    skate, rolling = (-z[1], sp.S.Zero, sp.S.One, *zero[:3]), (*zero[:3], z[3], z[4], sp.S.Zero)
    question = Problem(z, (), (skate, rolling, zero), (zero,), {})
    found = frobenius.integrable_part(question, [{x: 0.3 + 0.1 * k for k, x in enumerate(z)}])
    assert found is not None
    assert (found.forms, found.integrable, found.members, found.asked) == (2, 1, (False, True, True), (True,))


def test_a_braced_grid_of_rods() -> None:
    """A rigid body in the plane, of 5 × 5 joints: 56 rods, of which 47 are independent, in 50 coordinates."""
    side = 5
    q = da.coordinates(" ".join(f"x{i}{j} y{i}{j}" for i in range(side) for j in range(side)))
    at = {(i, j): q[2 * (side * i + j) : 2 * (side * i + j) + 2] for i in range(side) for j in range(side)}
    rods = {
        f"rod {i}{j}-{i + a}{j + b}": sum((p - r) ** 2 for p, r in zip(at[i, j], at[i + a, j + b], strict=True)) - a - b
        for i, j in at
        for a, b in ((1, 0), (0, 1), (1, 1))
        if (i + a, j + b) in at
    }
    system = da.System(
        "grid",
        coordinates=list(q),
        kinetic=sum(x.d**2 / 2 for x in q),
        potential=9.81 * sum(y for _, y in at.values()),
        constraints=rods,
        initial={x: place[k] for place, pair in at.items() for k, x in enumerate(pair)} | {x.d: 0 for x in q},
    )
    found = classify(system)
    assert (found.degrees_of_freedom, len(found.redundant)) == (3, len(rods) - 47)
    assert found.conservation.energy is True
    # Its centre, in the middle, and all together go on as they are in x.
    assert [q.name.count("p_") for q in found.conservation.quantities] == [0, 1, side**2]


def test_rods_that_hold_little_beside_one_that_holds_much() -> None:
    """The reaction on a pendulum of 1e-12 kg is far below what rounding leaves of that on a ton; it takes momentum."""
    light, heavy = da.coordinates("x y"), da.coordinates("X Y")
    system = da.System(
        "two pendulums",
        coordinates=[*light, *heavy],
        kinetic=1e-12 * sum(q.d**2 for q in light) / 2 + 1000 * sum(q.d**2 for q in heavy) / 2,
        potential=9.81 * (1e-12 * light[1] + 1000 * heavy[1]),
        constraints={"light": light[0] ** 2 + light[1] ** 2 - 1, "heavy": heavy[0] ** 2 + heavy[1] ** 2 - 1},
        initial=dict.fromkeys([q.d for q in (*light, *heavy)], 0)
        | {light[0]: 0.6, light[1]: 0.8, heavy[0]: 1, heavy[1]: 0},
    )
    found = classify(system).conservation
    assert found.energy is True
    assert not any(q.name.startswith("p_") for q in found.quantities)


@pytest.mark.parametrize(
    ("potential", "constraint"),
    [
        ("m*g*y", "y - 0.3*x + g*t^2/2 - 2*t"),
        ("m*g*y", "y + g*t^2/2 - 2*t"),
        ("k*(x^2 + y^2)/2", "y - 0.5*x - 0.2*sin(sqrt(k/m)*t)"),
    ],
    ids=["lift", "floor", "wire"],
)
def test_moving_constraints_that_hold_nothing(potential: str, constraint: str) -> None:
    """A lift in free fall, and a wire driven as what hangs on it moves anyway: no reaction, no power, only rounding."""
    system = da.System(
        "with it",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential=potential,
        constraints={"moves": constraint},
        parameters={"m": 1.3, "g": 9.81, "k": 2.7},
    )
    found = classify(system).conservation
    assert found.energy is True
    assert ("p_x" in [q.name for q in found.quantities]) == potential.startswith("m")

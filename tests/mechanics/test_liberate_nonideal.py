"""Nonideal constraints among particles that are freed: friction by hand, and beside the Cartesian system."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy as sp
from sympy import cos, sin

import dalembert as da

(alpha,) = da.coordinates("alpha")
m, a, g, c, mu = da.parameters("m a g c mu")
bob = da.Particle("bob", m, (a * sin(alpha), a * cos(alpha)), (0, m * g))


def pendulum(*laws: object, **changes: object) -> da.Particles:
    parts = {
        "coordinates": [alpha],
        "particles": [bob],
        "constraints": {"rod": bob.x**2 + bob.y**2 - a**2},
        "nonideal": laws,
        "parameters": {m: 2, a: 1.5, g: 9.81, c: 0.3, mu: 0.2},
        "initial": {alpha: 1, alpha.d: 0.5},
    }
    return da.Particles("pendulum", **{**parts, **changes})


def test_a_film_of_oil_by_hand():
    """a² m α̈ = −m g a sin α − c a² α̇; the rod pulls as without it."""
    freed = da.liberate(pendulum(da.Viscous("rod", c)))
    assert sp.simplify(freed.tangential[0] - (m * a**2 * alpha.dd + m * g * a * sin(alpha) + c * a**2 * alpha.d)) == 0
    assert sp.simplify(freed.generalized["rod"] + 2 * a * m * (a * alpha.d**2 + g * cos(alpha))) == 0
    now = pendulum(da.Viscous("rod", c)).system.at()
    assert freed.nonideal(now)["bob"] == pytest.approx(-0.3 * 1.5 * 0.5 * np.array([np.cos(1), -np.sin(1)]), rel=1e-12)


def test_work_across_the_constraint_changes_the_reaction():
    """C = (0, −c ẏ): its part along the rod is carried by it. R_Δ = −2am(aα̇² + g cos α) − C·l."""
    freed = da.liberate(pendulum(da.Work({bob.y: -c * bob.y.d}, "rod")))
    C = c * a * sin(alpha) * alpha.d
    assert sp.simplify(freed.steps.applied["rod"] - 2 * a * cos(alpha) * (m * g + C)) == 0
    assert sp.simplify(freed.generalized["rod"] + 2 * a * m * a * alpha.d**2 + 2 * a * cos(alpha) * (m * g + C)) == 0
    whole = freed.particles
    now, there = whole.system.at(), whole.cartesian().at()
    total = freed.reactions(now)["bob"] + freed.nonideal(now)["bob"]
    assert total == pytest.approx(there.ideal + there.nonideal, rel=1e-12)


def test_dry_friction_by_hand():
    """N = m(a α̇² + g cos α); a α̈ = −g sin α − μ |N|/m sgn α̇, printed while sliding."""
    system = pendulum(da.Coulomb("rod", mu))
    freed = da.liberate(system)
    line = freed.equations().sections[0].lines[0]
    N = m * (a * alpha.d**2 + g * cos(alpha))
    positive = {s: sp.Symbol(s.name, positive=True) for s in (m, a, g, mu, c)}
    found = line.terms[0][1].xreplace(positive)
    right = (-m * g * a * sin(alpha) - a * mu * sp.Abs(N) * sp.sign(alpha.d)).xreplace(positive)
    assert sp.simplify(found - right) == 0
    now = system.system.at()
    pull = 2 * (1.5 * 0.25 + 9.81 * np.cos(1))
    assert now.acceleration[0] == pytest.approx(-9.81 / 1.5 * np.sin(1) - 0.2 * pull / 2 / 1.5, rel=1e-12)
    assert freed.reactions(now)["bob"] == pytest.approx(-pull * np.array([np.sin(1), np.cos(1)]), rel=1e-12)
    assert freed.nonideal(now)["bob"] == pytest.approx(-0.2 * pull * np.array([np.cos(1), -np.sin(1)]), rel=1e-12)


def test_dry_friction_sticks_where_the_cartesian_system_does():
    system = pendulum(da.Coulomb("rod", mu))
    mine, other = system.system.simulate(3, samples=31), system.cartesian().simulate(3, samples=31)
    assert mine.certificate.holds
    assert [e["name"] for e in mine.events] == [e["name"] for e in other.events] == ["reversal", "reversal", "stick"]
    for one, two in zip(mine.events, other.events, strict=True):
        assert one["t"] == pytest.approx(two["t"], abs=1e-6)  # steps of both are allowed 1e-8 or so
    assert 1.5 * np.sin(mine["alpha"]) == pytest.approx(other["x_bob"], abs=1e-6)
    freed = da.liberate(system)
    assert freed.reactions(mine)["bob"] == pytest.approx(other.multipliers * 2 * other.q, abs=1e-5)
    # While it sticks, friction holds the weight's part along the circle.
    still = mine["alpha"][-1]
    held = 2 * 9.81 * np.sin(still) * np.array([np.cos(still), -np.sin(still)])
    assert freed.nonideal(mine)["bob"][-1] == pytest.approx(held, abs=1e-6)


@pytest.mark.parametrize(
    "law",
    [
        da.Work({bob.x: -c * bob.x.d * sp.Abs(da.ideal(bob.x))}),
        da.Work({bob.x: -c * bob.x.d * sp.Abs(da.actual(bob.y)), bob.y: sp.S(1) / 3}),
        da.Work({bob.y: -c * bob.y.d * da.multiplier("rod")}),
        da.Stribeck("rod", 0.1, 0.3, 0.5, regularize=1e-3),
    ],
    ids=["ideal", "actual", "multiplier", "regularised"],
)
def test_work_that_depends_on_reactions(law):
    """In q and the supplementary coordinates as in Cartesian ones."""
    system = pendulum(law)
    now, there = system.system.at(), system.cartesian().at()
    bend = np.array([np.cos(1), -np.sin(1)]) * 1.5 * now.acceleration[0] - np.array([np.sin(1), np.cos(1)]) * 1.5 * 0.25
    assert bend == pytest.approx(there.acceleration, rel=1e-9)  # reactions are found by iteration, to 1e-10
    assert now.acceleration[1] == pytest.approx(0, abs=1e-9)
    freed = da.liberate(system)
    total = freed.reactions(now)["bob"] + freed.nonideal(now)["bob"]
    assert total == pytest.approx(there.ideal + there.nonideal, rel=1e-8)
    assert freed.inverse(now)["rod"] == pytest.approx(there.multipliers[0], rel=1e-8)


def test_friction_on_a_curve_in_space():
    """A bead on a helix with dry friction, in one coordinate: by hand, and beside the Cartesian system."""
    (s,), (R, h) = da.coordinates("s"), da.parameters("R h")
    bead = da.Particle("bead", m, (R * cos(s), R * sin(s), -h * s), (0, 0, -m * g))
    system = da.Particles(
        "helix", coordinates=[s], particles=[bead],
        constraints={
            "cylinder": bead.x**2 + bead.y**2 - R**2,
            "screw": bead.x * sp.sin(bead.z / h) + bead.y * sp.cos(bead.z / h),
        },
        nonideal=[da.Coulomb(("cylinder", "screw"), mu)],
        parameters={m: 1, g: 9.81, R: 0.5, h: 0.4, mu: 0.15}, initial={s: 0.2, s.d: 1.5},
    )  # fmt: skip
    now, there = system.system.at(), system.cartesian().at()
    bend = np.array([-0.5 * np.sin(0.2), 0.5 * np.cos(0.2), -0.4])
    turn = np.array([-0.5 * np.cos(0.2), -0.5 * np.sin(0.2), 0]) * 1.5**2
    assert bend * now.acceleration[0] + turn == pytest.approx(there.acceleration, rel=1e-9)
    # By hand: the unit tangent is (−R sin, R cos, −h)/L; N² = (m R ṡ²)² + (m g R/L)², and along it g h/L − μ N/m.
    L = np.hypot(0.5, 0.4)
    N = np.hypot(0.5 * 1.5**2, 9.81 * 0.5 / L)
    assert now.acceleration[0] * L == pytest.approx(9.81 * 0.4 / L - 0.15 * N, rel=1e-9)
    assert np.linalg.norm(da.liberate(system).reactions(now)["bead"]) == pytest.approx(N, rel=1e-9)


def test_equilibrium_tells_the_reactions():
    """At rest the rod carries the weight; with friction, what of it lies along the rod."""
    hanging, standing = sorted(pendulum().system.equilibrium(starts=8), key=lambda e: abs(e["alpha"]))
    assert hanging.on_particles["bob"] == pytest.approx([0, -2 * 9.81], abs=1e-12)
    assert standing.on_particles["bob"] == pytest.approx([0, -2 * 9.81], abs=1e-11)
    assert "on (bob): (0, -19.62)" in str(hanging)
    held = pendulum(da.Coulomb("rod", mu)).system.equilibrium({"alpha": 0.1})[0]
    weight = 2 * 9.81 * np.cos(0.1)
    assert held.on_particles["bob"] == pytest.approx(-weight * np.array([np.sin(0.1), np.cos(0.1)]), rel=1e-9)
    with pytest.raises(da.ModelError, match="equilibrium"):
        da.liberate(pendulum(da.Coulomb("rod", mu))).at_rest()


def test_equilibria_of_a_rod_turned_inside_out_are_none():
    """x² + y² = a² also holds at minus the place; the angle alone says where the bob is."""
    found = pendulum(da.Coulomb("rod", 0.1)).system.equilibrium(starts=20)
    assert len(found) == 2
    for e in found:
        assert e["q_2"] == pytest.approx(0, abs=1e-9)
        along = -2 * 9.81 * np.cos(e["alpha"]) * np.array([np.sin(e["alpha"]), np.cos(e["alpha"])])
        assert e.on_particles["bob"] == pytest.approx(along, rel=1e-9)


def test_work_by_reactions_on_a_rod_that_is_stated_twice():
    """One supplementary coordinate is enough for two normals that are the same."""
    twice = {"rod": bob.x**2 + bob.y**2 - a**2, "again": 3 * bob.x**2 + 3 * bob.y**2 - 3 * a**2}
    law = da.Work({bob.x: -c * bob.x.d * sp.Abs(da.actual(bob.y))})
    once, again = pendulum(law), pendulum(law, constraints=twice)
    assert [q.name for q in again.system.coordinates] == ["alpha", "q_2"]
    assert again.system.at().acceleration == pytest.approx(once.system.at().acceleration, rel=1e-9)
    mine, other = (da.liberate(p).reactions(p.system.at())["bob"] for p in (once, again))
    assert other == pytest.approx(mine, rel=1e-9)


def test_a_system_keeps_its_particles_while_it_is_theirs():
    system = pendulum(da.Viscous("rod", c)).system
    changed = system.replace(parameters={"m": 5}, initial={"alpha": 0.3})
    assert float(changed.particles.parameters[m]) == 5
    assert float(changed.particles.initial[alpha]) == 0.3
    assert changed.particles.system.at().acceleration == pytest.approx(changed.at().acceleration)
    assert system.replace(forces={}).particles is None
    again = pickle.loads(pickle.dumps(system))
    assert again.particles.nonideal == system.particles.nonideal


@pytest.mark.parametrize(
    ("laws", "message"),
    [
        ([da.Work({"alpha": "1"})], "alpha is a generalized one"),
        ([da.Coulomb("rod", "alpha'")], "alpha is a generalized one"),
        ([da.Coulomb("rot", 0.1)], "no constraint 'rot'"),
        ([da.Work({"x_bob": "1/zz"})], "unknown name 'zz'"),
        ("friction", "a list of laws"),
    ],
)
def test_bad_laws_are_told(laws, message):
    with pytest.raises(da.ModelError, match=message):
        pendulum(nonideal=laws)

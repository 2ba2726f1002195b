"""The steps of liberation (Đukić 2012), equation by equation: as printed for the paper's examples, and as identities on
a double pendulum whose references are written out here.
"""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest
import sympy as sp
from sympy import cos, sin

import dalembert as da
from dalembert.mechanics.liberate.liberate import Liberation
from dalembert.mechanics.liberate.steps import Steps

m, a, g, l = da.parameters("m a g l")


def zero(expression: sp.Expr) -> bool:
    """Zero at two random places, in forty digits: what is zero there but not everywhere would be a miracle."""
    expression, draw = sp.sympify(expression), random.Random(7)
    for _ in range(2):
        at = {s: sp.Rational(draw.randint(300, 1700), 1000) for s in sorted(expression.free_symbols, key=str)}
        if abs(sp.N(expression.xreplace(at), 40)) > 1e-25:  # values are of the order of one to a hundred
            return False
    return True


def vanishes(matrix: sp.Matrix) -> bool:
    return all(map(zero, matrix))


def rate(expression: sp.Expr, *coordinates: sp.Symbol) -> sp.Expr:
    """d/dt, by the chain rule."""
    s = sp.Dummy("s", real=True)
    return sp.diff(expression.xreplace({da.t: s}), s).xreplace({s: da.t}) + sum(
        sp.diff(expression, q) * q.d + sp.diff(expression, q.d) * q.dd for q in coordinates
    )


@cache
def pendulum() -> Liberation:
    return da.liberate(da.library.liberated_pendulum())


@cache
def double_pendulum() -> Liberation:
    u, w = da.coordinates("u w")
    m1, m2, k = da.parameters("m1 m2 k")
    one = da.Particle("one", m1, (l * sin(u), l * cos(u)))
    two = da.Particle("two", m2, (l * sin(u) + k * sin(w), l * cos(u) + k * cos(w)))
    return da.liberate(
        da.Particles(
            "double pendulum",
            coordinates=[u, w],
            particles=[one, two],
            constraints={
                "upper": one.x**2 + one.y**2 - l**2,
                "lower": (two.x - one.x) ** 2 + (two.y - one.y) ** 2 - k**2,
            },
            potential=-m1 * g * one.y - m2 * g * two.y,
        )
    )  # fmt: skip


def deltas(steps: Steps) -> dict[str, sp.Symbol]:
    every = {s.name: s for v in steps.tangential_displacements.values() for s in v.free_symbols}
    every |= {s.name: s for v in steps.normal_displacements.values() for s in v.free_symbols}
    return {name.removeprefix("delta "): s for name, s in every.items() if name.startswith("delta ")}


# -- example 2, line by line


def test_pendulum_is_freed_along_its_rod():
    """(2.3), (2.4), (8.4)."""
    (alpha,), steps = da.coordinates("alpha"), pendulum().steps
    (q2,) = steps.supplementary
    assert q2.name == "q_2"  # n = 1, so that the first supplementary coordinate has number 2, as in the paper
    e = sp.Matrix([sin(alpha), cos(alpha)])
    assert steps.normals["rod"]["bob"] == 2 * a * e
    assert sp.expand(steps.liberated["bob"] - (a + 2 * a * q2) * e) == sp.zeros(2, 1)


def test_pendulum_has_b_of_four_a_squared():
    """(3.6), (3.7): b = 4a², left out in print, and its inverse."""
    assert pendulum().steps.b == sp.Matrix([[4 * a**2]])
    assert pendulum().steps.b_inverse == sp.Matrix([[1 / (4 * a**2)]])


def test_forces_and_energy_of_the_pendulum():
    """Q = −mga sin α, N = 2mga cos α, E_k = m/2 (a α̇)² + 2m (a α̇)² q_2."""
    (alpha,), steps = da.coordinates("alpha"), pendulum().steps
    assert zero(steps.forces[alpha] + m * g * a * sin(alpha))
    assert zero(steps.applied["rod"] - 2 * m * g * a * cos(alpha))
    assert zero(steps.kinetic - m * (a * alpha.d) ** 2 / 2)
    assert zero(steps.linear_kinetic - 2 * m * (a * alpha.d) ** 2 * steps.supplementary[0])


def test_reaction_of_the_pendulum_by_its_steps():
    """R_Δ, (R⁻¹)_Δ = R_Δ/(4a²), R = (R⁻¹) l."""
    (alpha,), steps = da.coordinates("alpha"), pendulum().steps
    pull = m * (a * alpha.d**2 + g * cos(alpha))
    assert zero(steps.generalized["rod"] + 2 * a * pull)
    assert zero(steps.inverse["rod"] + pull / (2 * a))
    assert vanishes(steps.on["bob"] + pull * sp.Matrix([sin(alpha), cos(alpha)]))
    assert vanishes(steps.by_constraint["rod"]["bob"] - steps.on["bob"])


# -- example 1


def test_a_surface_as_printed():
    """(8.1)–(8.3) and R₃ for a surface F(x, y, z) = 0 that is no sphere: gradients and their rates written out."""
    x, y, z = da.coordinates("x y z")
    c = da.parameters("c")[0]
    F = x**2 + c * y**2 + x * z**3 - z
    system = da.System(
        "surface", coordinates=[x, y, z], kinetic=m * (x.d**2 + y.d**2 + z.d**2) / 2, potential=m * g * z,
        constraints={"F": F}, parameters={m: 1, g: 9.81, c: 2},
    )  # fmt: skip
    steps = da.liberate(system)
    assert isinstance(steps, Steps)
    slopes = [F.diff(s) for s in (x, y, z)]
    rates = [rate(e, x, y, z) for e in slopes]
    (q3,) = steps.supplementary
    assert q3.name == "q_3"
    assert list(steps.normals["F"]["x, y, z"]) == slopes
    assert zero(steps.b[0] - sum(e**2 for e in slopes))
    assert zero(steps.b_inverse[0] * steps.b[0] - 1)
    turned = sum(s.d * e for s, e in zip((x, y, z), rates, strict=True))
    assert zero(steps.kinetic - m * (x.d**2 + y.d**2 + z.d**2) / 2)
    # (8.3) has the part with q̇₃ left out: ẋ·l is zero on the motion.
    on_surface = steps.linear_kinetic - m * q3.d * sum(s.d * e for s, e in zip((x, y, z), slopes, strict=True))
    assert zero(on_surface - turned * m * q3)
    assert zero(steps.applied["F"] + m * g * slopes[2])
    R3 = m * g * slopes[2] - m * turned
    assert zero(steps.generalized["F"] - R3)
    for found, slope in zip(steps.on["x, y, z"], slopes, strict=True):
        assert zero(found - R3 * slope / sum(e**2 for e in slopes))


# -- example 3


@cache
def rods() -> Steps:
    return da.liberate(da.library.hinged_rods())


def test_hinged_rods_are_freed_at_their_joints():
    """(8.6): the supplementary coordinates are those of the joints, their normals i and j, b the unit matrix."""
    assert [s.name for s in rods().supplementary] == ["x1", "y1", "x2", "y2"]
    assert rods().b == sp.eye(4) == rods().b_inverse
    assert all(sum(v.norm() for v in vectors.values()) == 1 for vectors in rods().normals.values())


def test_kinetic_energy_of_the_freed_rods():
    """(8.7), term by term as printed."""
    x1, y1, x2, y2 = da.coordinates("x1 y1 x2 y2")
    phi, psi = da.coordinates("phi psi")
    printed = m / 2 * l * (x1.d * phi.d * cos(phi) - y1.d * phi.d * sin(phi)) + m * l * (
        (x1.d + x2.d) * (phi.d * cos(phi) + psi.d / 2 * cos(psi))
        - (y1.d + y2.d) * (phi.d * sin(phi) + psi.d / 2 * sin(psi))
    )
    assert zero(rods().linear_kinetic - printed)


def test_virtual_work_on_the_freed_rods():
    """(8.5), (8.8), and δA^F with ½ m g l sin ψ, where the paper has m g l sin ψ."""
    (phi, psi), steps = da.coordinates("phi psi"), rods()
    assert list(steps.applied.values()) == [0, 2 * m * g, 0, m * g]
    d = {s.name.removeprefix("delta "): s for s in steps.virtual_work.applied.free_symbols if "delta" in s.name}
    right = 2 * m * g * d["y1"] + m * g * d["y2"] - m * g * sp.Rational(3, 2) * l * sin(phi) * d["phi"]
    right -= m * g * l / 2 * sin(psi) * d["psi"]
    assert zero(steps.virtual_work.applied - right)
    # Independently: what the weights of two uniform rods do, their centres at l/2 and l + l/2.
    height = l / 2 * cos(phi) + (l * cos(phi) + l / 2 * cos(psi))
    assert zero(steps.forces[psi] - m * g * sp.diff(height, psi))


def test_joint_forces_of_rods_made_of_particles():
    """(8.9) once more: each rod as three particles of its mass, centre and inertia, held by ten constraints."""
    system = da.library.liberated_rods().replace(initial={"phi'": 0.4, "psi'": -0.9})
    now = system.at()
    found = da.liberate(system).inverse(now)
    q, v = (np.concatenate([np.zeros(4), part]) for part in (now.q, now.v))
    printed = da.library.forces("hinged_rods")(da.library.hinged_rods(), q, v, np.array(0.0))
    for name in ("O x", "O y", "A x", "A y"):
        assert found[name] == pytest.approx(
            float(printed[f"multiplier {name}"]), rel=1e-11
        )  # a 10 × 10 system's rounding


# -- identities


def test_displacements_are_orthogonal():
    """(2.2), (2.5)–(2.8), (3.2), (3.3): Σ (δρ)_T·(δρ)_N = 0 for every δq, though not particle by particle."""
    steps = double_pendulum().steps
    T, N = steps.tangential_displacements, steps.normal_displacements
    assert zero(sum((T[name].T * N[name])[0] for name in T))
    assert not zero((T["one"].T * N["one"])[0])
    assert steps.tangency == sp.zeros(2, 2)
    d = deltas(steps)
    for name, rho in steps.liberated.items():
        both = [(q, d[q.name]) for q in (*steps.coordinates, *steps.supplementary)]
        moved = sum((rho.diff(q) * dq for q, dq in both), sp.zeros(2, 1))
        still = moved.subs(dict.fromkeys(steps.supplementary, 0))
        assert vanishes(still - T[name] - N[name])


def test_reactions_are_ideal_and_along_the_normals():
    """(3.1), (3.4): Σ R·∂r/∂q = 0; (3.5): R = (R⁻¹)_Δ l_Δ; (3.6)–(3.8): b = bᵀ, b b⁻¹ = 1, R = b (R⁻¹)."""
    steps = double_pendulum().steps
    for q in steps.coordinates:
        assert zero(sum((steps.on[name].T * r.diff(q))[0] for name, r in steps.positions.items()))
    for name in steps.positions:
        parts = sum((vectors[name] for vectors in steps.by_constraint.values()), sp.zeros(2, 1))
        assert vanishes(parts - steps.on[name])
    assert steps.b == steps.b.T
    assert vanishes(steps.b * steps.b_inverse - sp.eye(2))
    inverse = sp.Matrix(list(steps.inverse.values()))
    assert vanishes(steps.b * inverse - sp.Matrix(list(steps.generalized.values())))


def test_generalized_forces_are_slopes_of_the_potential():
    """(4.1)–(4.4): with Π at ρ, Q_α = −∂Π/∂q_α and N_Δ = −∂Π/∂q_{n+Δ} at q_{n+Δ} = 0."""
    freed = double_pendulum()
    steps = freed.steps
    m1, m2 = da.parameters("m1 m2")
    energy = -m1 * g * steps.liberated["one"][1] - m2 * g * steps.liberated["two"][1]
    still = dict.fromkeys(steps.supplementary, 0)
    for q in steps.coordinates:
        assert zero(steps.forces[q] + energy.diff(q).subs(still))
    for s, N in zip(steps.supplementary, steps.applied.values(), strict=True):
        assert zero(N + energy.diff(s).subs(still))


def test_kinetic_energy_is_that_of_the_free_particles():
    """(5.1)–(5.3): E_k = ½ Σ m ρ̇² has no terms but (E_k)_0 and Ẽ_k below the second order in q_{n+Δ}, q̇_{n+Δ}."""
    steps, small = double_pendulum().steps, sp.Symbol("small")
    every = (*steps.coordinates, *steps.supplementary)
    masses = dict(zip(("one", "two"), da.parameters("m1 m2"), strict=True))
    whole = sum(masses[name] * rate(entry, *every) ** 2 / 2 for name, rho in steps.liberated.items() for entry in rho)
    scaled = sp.expand(whole.subs({s: small * s for e in steps.supplementary for s in (e, e.d)}, simultaneous=True))
    assert zero(scaled.coeff(small, 0) - steps.kinetic)
    assert zero(scaled.coeff(small, 1) - steps.linear_kinetic)
    assert sp.degree(scaled, small) == 2
    by_velocities = sum(masses[name] * v.dot(v) / 2 for name, v in steps.velocities.items())  # (5.2)
    assert zero(by_velocities - whole)


def test_lagrange_operators_give_both_equations():
    """(7.1), (7.3), (7.4) by Lagrange's operator on (E_k)_0 + Ẽ_k, and Z_U = −Σ m r̈·∂ρ/∂q_U."""
    freed = double_pendulum()
    steps = freed.steps
    every = (*steps.coordinates, *steps.supplementary)
    energy = steps.kinetic + steps.linear_kinetic
    still = {symbol: 0 for s in steps.supplementary for symbol in (s, s.d, s.dd)}
    masses = dict(zip(("one", "two"), da.parameters("m1 m2"), strict=True))
    for U in every:
        operator = (rate(energy.diff(U.d), *every) - energy.diff(U)).subs(still)
        assert zero(steps.inertia[U] + operator)
        newton = sum(
            masses[name] * rate(rate(r, *steps.coordinates), *steps.coordinates) * rho.diff(U).subs(still)[k]
            for name, rho in steps.liberated.items()
            for k, r in enumerate(steps.positions[name])
        )
        assert zero(steps.inertia[U] + newton)
    for E, q in zip(freed.tangential, steps.coordinates, strict=True):
        assert zero(E + steps.inertia[q] + steps.forces[q])
    for s, R, N in zip(steps.supplementary, steps.generalized.values(), steps.applied.values(), strict=True):
        assert zero(steps.inertia[s] + N + R)


def test_virtual_works_add_up_to_nothing():
    """(6.1)–(6.4), (7.2): on the motion δA^I + δA^F + δA^R = 0 for every displacement, off it not."""
    freed = double_pendulum()
    steps = freed.steps
    u, w = steps.coordinates
    motion = sp.solve(list(freed.tangential), [u.dd, w.dd], dict=True)[0]
    assert zero(steps.virtual_work.total.subs(motion))
    assert not zero(steps.virtual_work.total)
    d = deltas(steps)
    across = sum(R * d[s.name] for R, s in zip(steps.generalized.values(), steps.supplementary, strict=True))
    assert zero(steps.virtual_work.reactions - across)
    # δA^R once more from its definition, Σ R_i·δρ_i.
    whole = sum(
        (steps.on[name].T * (steps.tangential_displacements[name] + steps.normal_displacements[name]))[0]
        for name in steps.on
    )
    assert zero(whole - steps.virtual_work.reactions)


def test_reactions_on_every_particle_by_newton():
    """(7.5): m_i r̈_i − F_i on the motion."""
    freed = double_pendulum()
    steps = freed.steps
    u, w = steps.coordinates
    motion = sp.solve(list(freed.tangential), [u.dd, w.dd], dict=True)[0]
    masses = dict(zip(("one", "two"), da.parameters("m1 m2"), strict=True))
    at = {u: 0.7, w: -1.1, u.d: 0.9, w.d: -0.4, l: 1.3, g: 9.81}
    at |= dict(zip(da.parameters("m1 m2 k"), (2, 0.6, 0.8), strict=True))
    for name, r in steps.positions.items():
        newton = masses[name] * r.applyfunc(lambda e: rate(rate(e, u, w), u, w)) - sp.Matrix([0, masses[name] * g])
        difference = (steps.on[name] - newton).subs(motion).subs(at)
        assert max(abs(float(e)) for e in difference) < 1e-12  # rounding of forces of about 20


# -- pages


def test_the_page_has_every_step():
    page = pendulum().steps.equations()
    titles = " ".join(section.title for section in page.sections)
    for number in (
        "2.3",
        "2.4",
        "2.7",
        "2.8",
        "3.6",
        "3.7",
        "3.8",
        "4.2",
        "4.3",
        "5.3",
        "6.4",
        "7.1",
        "7.3",
        "7.4",
        "7.5",
    ):
        assert f"({number})" in titles
    assert "b_11 = 4*a**2" in page.text()
    assert "~E_k = 2*a**2*m*alpha'**2*q_2" in page.text()
    assert r"\tilde E_k" in page.latex()
    assert r"\left(R^{-1}\right)_{1}" in page.latex()


def test_a_system_has_the_page_of_its_particles():
    system = da.library.liberated_pendulum()
    assert system.equations("liberation").text() == da.liberate(system).equations().text()


def test_names_that_the_model_has_are_not_taken():
    q_2 = da.parameters("q_2")[0]
    (alpha,) = da.coordinates("alpha")
    bob = da.Particle("bob", m, (q_2 * sin(alpha), q_2 * cos(alpha)))
    system = da.Particles("p", coordinates=[alpha], particles=[bob], constraints={"r": bob.x**2 + bob.y**2 - q_2**2})
    assert [s.name for s in da.liberate(system).steps.supplementary] == ["s_2"]


# -- rods in absolute coordinates


def absolute_rods() -> da.System:
    return da.System(
        "rods", coordinates="x1 y1 phi x2 y2 psi",
        kinetic="m*(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2 + m*l^2/24*(phi'^2 + psi'^2)", potential="-m*g*(y1 + y2)",
        constraints={
            "O x": "x1 - l/2*sin(phi)", "O y": "y1 - l/2*cos(phi)",
            "A x": "x2 - l/2*sin(psi) - x1 - l/2*sin(phi)", "A y": "y2 - l/2*cos(psi) - y1 - l/2*cos(phi)",
        },
        parameters={"m": 1.3, "l": 0.8, "g": 9.81},
    )  # fmt: skip


def test_angles_are_freed_as_lengths():
    """No term of b adds a square of metres to a number: with 12/l² for each angle, l has gone from it."""
    steps = da.liberate(absolute_rods())
    assert l not in steps.b.free_symbols
    assert steps.weight == (1, 1, 12 / l**2, 1, 1, 12 / l**2)
    page = absolute_rods().equations("liberation")
    assert "angles are freed as lengths" in page.reason
    assert len(page.text()) < 3000  # it was 51,480 characters


def test_reactions_of_absolute_rods_are_right():
    """The unsolved page, solved with numbers, gives the reactions of the fundamental equation, and so does the form."""
    system = absolute_rods()
    assert system.compare(["liberation"]).agree
    q = {"x1": 0.4 * np.sin(0.9), "y1": 0.4 * np.cos(0.9), "phi": 0.9, "psi": -0.4}
    q |= {"x2": 2 * q["x1"] + 0.4 * np.sin(-0.4), "y2": 2 * q["y1"] + 0.4 * np.cos(-0.4)}
    v = {"phi'": 0.7, "psi'": -1.2, "x1'": 0.4 * np.cos(0.9) * 0.7, "y1'": -0.4 * np.sin(0.9) * 0.7}
    v |= {"x2'": 2 * v["x1'"] + 0.4 * np.cos(-0.4) * -1.2, "y2'": 2 * v["y1'"] - 0.4 * np.sin(-0.4) * -1.2}
    now = system.at({**q, **v})
    steps = da.liberate(system)
    at = {s: now.q[k] for k, s in enumerate(system.coordinates)} | {
        s: now.v[k] for k, s in enumerate(system.velocities)
    }
    at |= {s: float(value) for s, value in system.parameters.items()}
    b = np.array(steps.b.subs(at).tolist(), dtype=float)
    R = np.array([float(e.subs(at)) for e in steps.generalized.values()])
    assert np.linalg.solve(b, R) == pytest.approx(now.multipliers, rel=1e-11)  # a well-conditioned 4 × 4 system


def test_a_disc_that_rolls_is_no_particle_of_two_metres():
    """x = R φ with inertia m R²/2: b = 1 + R²·2/R² = 3."""
    system = da.System(
        "disc", coordinates="x phi", kinetic="m*x'^2/2 + m*R^2/4*phi'^2", potential="-m*g*x*sin(s)",
        constraints={"roll": "x - R*phi"}, parameters={"m": 1, "R": 0.3, "g": 9.81, "s": 0.4},
    )  # fmt: skip
    assert da.liberate(system).b == sp.Matrix([[3]])
    assert system.compare(["liberation"]).agree


def test_a_long_chain_says_what_is_not_written_out():
    """Six links: no closed form of the motion or of b⁻¹, but every step before them."""
    n = 6
    links = {f"l{k}": f"(x{k} - x{k - 1})^2 + (y{k} - y{k - 1})^2 - 1" for k in range(2, n + 1)}
    system = da.System(
        "chain", coordinates=[f"{s}{k}" for k in range(1, n + 1) for s in "xy"],
        kinetic=" + ".join(f"(x{k}'^2 + y{k}'^2)*m{k}/2" for k in range(1, n + 1)),
        constraints={"l1": "x1^2 + y1^2 - 1", **links}, parameters={f"m{k}": 1 + k / 7 for k in range(1, n + 1)},
    )  # fmt: skip
    steps = da.liberate(system)
    assert steps.b_inverse is None
    assert steps.b[0, 2] == 0 != steps.b[0, 1]
    assert "coupled equations" in steps.note
    assert "R_6 = " in str(steps)


def test_reactions_of_systems_in_numbers():
    """By hand: R = -m (g cos + v^2/r) along the rod of a pendulum; R_r = -m (r theta'^2 + g cos) of one in polar
    coordinates, with a constraint written twice as large.
    """
    given = da.library.pendulum()
    motion, freed = given.simulate(2.0, samples=21), da.liberate(given)
    x, y = motion["x"], motion["y"]
    speed = motion["x'"] ** 2 + motion["y'"] ** 2
    expected = ((9.81 * y - speed) * np.array([x, y])).T  # m = r = 1, y up
    # The constraint holds to rounding only, the closed form supposes that it holds.
    np.testing.assert_allclose(freed.reactions(motion)["x, y"], expected, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(freed.reactions(given.at())["x, y"], expected[0], rtol=1e-12, atol=1e-12)
    r, theta = da.coordinates("r theta")
    polar = da.System(
        "polar", coordinates=[r, theta], kinetic=3 * (r.d**2 + r**2 * theta.d**2) / 2, potential=-30 * r * cos(theta),
        constraints={"rod": 2 * r - 4}, initial={r: 2, theta: 0.5, r.d: 0, theta.d: 0.4},
    )  # fmt: skip
    found = da.liberate(polar)
    assert found.reactions(polar.at())["r"] == pytest.approx([-3 * (2 * 0.16 + 10 * np.cos(0.5))], rel=1e-12)
    for wrong in (None, given.at()):
        with pytest.raises(da.ModelError, match="of this system, in r, theta, is wanted"):
            found.reactions(wrong)
    own = da.library.liberated_pendulum()
    again = da.liberate(own)
    np.testing.assert_array_equal(again.steps.reactions(own.at())["bob"], again.reactions(own.at())["bob"])


def test_forces_along_the_velocity_leave_equilibrium_out():
    """At rest v/|v| is 0/0: the page had no text, and ended in an error of what writes numbers."""
    bead = da.System(
        "bead",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="m*g*y",
        constraints={"wire": "y - x^2"},
        nonideal=[da.Work({q: f"-k*{q}'/sqrt(x'^2 + y'^2)" for q in "xy"}, constraint="wire")],
        parameters={"m": 1, "g": 9.81, "k": 0.2},
    )
    page = da.liberate(bead).equations()
    assert "equilibrium is left out" in page.reason
    assert "nan" not in page.text()
    assert not any(section.title.startswith("equilibrium") for section in page.sections)
    # Without that force there is one.
    assert any(s.title.startswith("equilibrium") for s in da.liberate(bead.replace(nonideal=[])).equations().sections)

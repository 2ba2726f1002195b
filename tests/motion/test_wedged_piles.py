"""Discs wedged between walls, and in grooves: by all laws of impact, with friction that may hold more than it rubs.

What they must obey is looked at from outside, as in `test_piles.py`. Each seed was refused, or failed its certificate.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_piles import G, discs, overlap, pile

import dalembert as da
from dalembert.motion.contacts.impacts.blow import NEWTON, STRONGE
from dalembert.motion.contacts.impacts.together import makes_energy, together


def wedged(seed: int, kind: str) -> da.System:
    """Two to five discs above a groove, or between walls as far apart as one to three of them are wide."""
    rng = np.random.default_rng([177, seed])
    count = int(rng.integers(2, 6))
    mu, e = rng.uniform(0.05, 0.9), float(rng.choice([0, 0.2, 0.5, 0.8]))
    law, order = (str(rng.choice(names)) for names in (["newton", "poisson", "stronge"], ["together", "sequence"]))
    radii = [float(rng.uniform(0.2, 0.5)) for _ in range(count)]
    if rng.random() < 0.3:
        radii = [0.3] * count
    width = float(rng.uniform(1.02, 2.6) * max(radii))
    if rng.random() < 0.2:
        width = 2.0 * max(radii)
    values = {"g": G, "W": width, "mu": mu, "mus": mu * float(rng.choice([1.0, 1.3, 2.0]))}
    values |= {f"r{k}": r for k, r in enumerate(radii)}
    values |= {f"m{k}": float(rng.uniform(0.5, 2)) for k in range(count)}
    slopes = {"floor": 0.0}
    if kind == "groove":
        slopes = {"left": float(rng.uniform(0.3, 1.2)), "right": -float(rng.uniform(0.3, 1.2))}
        if rng.random() < 0.2:
            slopes["right"] = -slopes["left"]
    for name, slope in slopes.items():
        values |= {f"s{name}": float(np.sin(slope)), f"c{name}": float(np.cos(slope))}
    start, height = {}, 0.0
    for k, r in enumerate(radii):
        height += 1.02 * r + 0.25
        room = max(min(0.3, width - r - 0.01), 0.0) if kind == "box" else 0.3
        start[f"x{k}"], start[f"y{k}"] = float(rng.uniform(-room, room)), height + (1.2 if kind == "groove" else 0.35)
        if rng.random() < 0.1:
            start[f"x{k}"] = 0.0
        height += r
        moves = float(rng.random() < 0.5)
        start |= {f"p{k}": 0.0, f"x{k}'": moves * float(rng.uniform(-1, 1)), f"y{k}'": 0.0}
        start[f"p{k}'"] = moves * float(rng.uniform(-5, 5))
    return pile(f"{kind} {seed}", values, start, e, law, order)


def require_lawful(motion: da.Motion) -> None:
    assert motion.certificate.holds, motion.certificate
    assert overlap(motion) < 1e-8  # the tolerance, of lengths of about one
    won = np.diff(motion.energy)
    assert won.max() < 1e-6 * np.ptp(motion.energy)  # a hundred tolerances: each of some hundred legs may err by one
    limit = {symbol.name: float(value) for symbol, value in motion.system.parameters.items()}["mus"]
    for name, own in motion.contacts.items():
        assert (own.friction <= limit * own.normal + 1e-6).all(), name
        assert (own.normal >= -1e-9).all(), name


@pytest.mark.parametrize(
    ("kind", "seed", "duration"),
    [
        ("box", 14, 0.7),  # slips of 1e-5 of the velocities would have had to go on in spite of what braces them
        ("box", 5, 1.0),  # the same, of contacts that blows in sequence leave slipping by 1e-9
        ("box", 1, 2.4),  # slips as slow had several ways to end
        ("groove", 2, 1.6),  # Stronge's law, by two contacts that give each other back what they took
        ("groove", 5, 3.0),  # a contact that a blow had met was said to fly
        ("groove", 19, 1.4),  # slipped on where static friction could hold it
    ],
)
def test_wedged_piles(kind, seed, duration):
    require_lawful(wedged(seed, kind).simulate(duration, rtol=1e-8, samples=101))


def test_what_is_held_by_others_does_not_slip():
    """A contact had almost stopped when all others did: it was said to slip, and stood."""
    motion = discs(204, "groove").simulate(1.22, rtol=1e-8, samples=123)
    require_lawful(motion)
    for name, own in motion.contacts.items():
        if name in ("right1", "right2", "d12"):
            assert (own.state[motion.t > 1.18] == "stick").all()
    stands = [motion[f"{q.name}'"][motion.t > 1.18] for q in motion.system.coordinates[:9]]  # the discs 0, 1 and 2
    assert np.abs(stands).max() < 1e-14 * np.abs(motion.v).max()


# -- a catch: a blow without a collision


def slow_rod(speed: float) -> da.System:
    """A rod on a rough floor (μ = 2) in Painlevé's paradox, 1 + 3 cosθ (cosθ − μ sinθ) < 0, its foot slipping left."""
    th = 1.0
    foot = ("x - cos(a)", "y - sin(a)")
    return da.System(
        "rod",
        coordinates=["x", "y", "a"],
        kinetic="(x'^2 + y'^2)/2 + a'^2/6",
        potential="g*y",
        constraints={"floor": "y - sin(a) >= 0"},
        nonideal=[da.Coulomb("floor", mu=2, point=foot)],
        parameters={"g": G},
        initial={"x": np.cos(th), "y": np.sin(th), "a": th, "x'": -speed, "y'": 0.0, "a'": 0.0},
    )


def test_a_slip_too_slow_to_be_seen_is_caught_in_the_paradox():
    """Nothing approaches, and no reaction balances: the one way out is impulses that stop the foot at once, G p = Δu
    with G of the rod by hand. Faster slips are told to have no answer, as before.
    """
    speed, th = 1e-6, 1.0
    motion = slow_rod(speed).simulate(0.01, rtol=1e-8, samples=11)
    assert motion.certificate.holds, motion.certificate
    (catch,) = motion.blows
    s, c = np.sin(th), np.cos(th)
    G_foot = np.array([[1 + 3 * c**2, -3 * s * c], [-3 * s * c, 1 + 3 * s**2]])  # normal, then along the floor
    p = np.linalg.solve(G_foot, [0.0, speed])
    assert 0 < p[1] < 2 * p[0]  # it pushes, and friction can hold it
    (floor,) = catch.contacts
    np.testing.assert_allclose([floor.normal, *floor.friction], p, rtol=1e-9)
    assert catch.loss == pytest.approx(p[1] * speed / 2, rel=1e-9)
    assert str(motion.contacts["floor"].state[0]) == "stick"
    with pytest.raises(da.InconsistentConstraints, match="Painlevé"):
        slow_rod(0.5).simulate(0.01)


# -- Stronge's law for several contacts


@pytest.mark.parametrize(
    ("G", "u", "mu", "static", "e"),
    [
        # Normal and tangent of two contacts: each swings about what it is to give back, the more the other does.
        (
            [
                [0.5338407, 0.0, -0.5044919, 0.1745676],
                [0.0, 1.601522, 0.1745676, -0.5631895],
                [-0.5044919, 0.1745676, 1.975363, 0.0],
                [0.1745676, -0.5631895, 0.0, 5.926088],
            ],
            [-2.8607, 0.0, -5.8208, 6.3284],
            0.1783108,
            0.23180404,
            [0.8, 0.8],
        ),
        # Friction of the first falls where it begins to slip: what comes back jumps from less to more than is wanted.
        (
            [
                [0.6744897, 0.0, -0.5847095, 0.3362308],
                [0.0, 2.023469, 0.3362308, -0.7642699],
                [-0.5847095, 0.3362308, 1.23416, 0.0],
                [0.3362308, -0.7642699, 0.0, 3.702481],
            ],
            [0.0, 0.0, -0.0624050907, -0.327372954],
            0.845086,
            1.690172,
            [0.0, 0.5],
        ),
    ],
)
def test_stronge_gives_back_e_squared_of_the_work_of_each(G, u, mu, static, e):
    G, u = np.array(G), np.array(u)
    shock = together(G, u, [1, 1], np.full(2, mu), np.full(2, static), np.array(e), STRONGE)
    middle, end = u + G @ shock.compression, u + G @ shock.total
    back = shock.total - shock.compression
    for k, at in enumerate((0, 2)):
        took = shock.compression[at] * (u[at] + middle[at]) / 2
        gave = back[at] * (middle[at] + end[at]) / 2
        assert gave == pytest.approx(-(e[k] ** 2) * took, rel=1e-9, abs=1e-12)
        assert abs(back[at + 1]) <= static * back[at] + 1e-12
        if abs(end[at + 1]) > 1e-9:
            assert back[at + 1] == pytest.approx(-mu * back[at] * np.sign(end[at + 1]), rel=1e-9, abs=1e-12)


def test_what_gives_nothing_back_ends_with_its_compression():
    """What is left of velocities is rounding then, of which braced contacts make impulses out of all proportion."""
    G = np.array(
        [
            [1.082701, 0.0, 0.04888116, 1.081597, -1.080876, 0.06284059],
            [0.0, 3.248104, -1.081597, 2.214284, 0.06284059, -1.084526],
            [0.04888116, -1.081597, 1.082701, 0.0, -0.1115753, -1.076937],
            [1.081597, 2.214284, 0.0, 3.248104, -1.076937, -2.053827],
            [-1.080876, 0.06284059, -0.1115753, -1.076937, 1.751709, 0.0],
            [0.06284059, -1.084526, -1.076937, -2.053827, 0.0, 5.255126],
        ]
    )
    u, mu = np.array([0.0, 0.0, 0.0, 0.0, -8.43222573e-05, -1.92815922e-04]), np.full(3, 0.7327)
    shock = together(G, u, [1, 1, 1], mu, 2 * mu, np.zeros(3), STRONGE)
    np.testing.assert_array_equal(shock.total, shock.compression)


def test_restitution_that_would_make_energy_may_jump_over_what_loses_none():
    """Of three contacts of a pile (μ = 1.2) one strikes, and leaves the two others at rest. From a restitution on they
    join in, with impulses twice as large: less loses energy, more makes some, and none leaves it as it was.
    """
    G = np.array(
        [
            [0.2145034494, 0.0, 0.0, 0.0, -0.1796746531, 0.1171697439],
            [0.0, 0.6435103483, 0.0, 0.0, 0.1171697439, -0.2493322458],
            [0.0, 0.0, 1.478942124, 0.0, -0.2781151213, -1.452556982],
            [0.0, 0.0, 0.0, 4.436826373, -1.452556982, -2.679769127],
            [-0.1796746531, 0.1171697439, -0.2781151213, -1.452556982, 1.693445574, 0.0],
            [0.1171697439, -0.2493322458, -1.452556982, -2.679769127, 0.0, 5.080336721],
        ]
    )
    u, sizes, mu = np.array([0.0, 0.0, -6.525830274e-03, 6.300093937e-03, 0.0, 0.0]), [1, 1, 1], np.full(3, 1.2)
    shock = together(G, u, sizes, mu, mu, np.array([0.0, 0.7, 0.0]), NEWTON)
    gained = shock.total @ (u + G @ shock.total / 2)
    assert shock.limited
    assert shock.e[1] == pytest.approx(0.6807324, rel=1e-6)
    assert gained < -0.1 * np.abs(shock.total) @ np.abs(G @ shock.total)  # a tenth of what is exchanged
    assert makes_energy(G, u, sizes, mu, mu, shock.e * (1 + 1e-6), NEWTON)
    assert not makes_energy(G, u, sizes, mu, mu, shock.e * (1 - 1e-6), NEWTON)

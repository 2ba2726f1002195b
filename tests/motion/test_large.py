"""Large systems, solved by elimination in linear time: right, certified, and a wrong one is caught."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg
import sympy as sp
from large_systems import (
    acceleration_of_bodies,
    chain,
    chain_by_velocities,
    chain_in_space,
    net,
    plain_bodies,
    plain_chain,
    rods,
    tree,
)

import dalembert as da
from dalembert.errors import UndefinedModel
from dalembert.graph.structure.eliminate import solution_of
from dalembert.graph.structure.equations import ACCELERATIONS, equations_of
from dalembert.graph.structure.read import structured_of
from dalembert.motion.large import simulate as simulation
from dalembert.motion.large import size as module
from dalembert.motion.large.ahead import look_ahead
from dalembert.motion.large.model import LargeModel, large_model
from dalembert.motion.large.state import LargeState
from dalembert.motion.prepare import settings_of_system
from dalembert.motion.result import between_outputs
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Systems of a few coordinates take the way of large ones: what is right does not depend on the size."""
    monkeypatch.setattr(module, "LARGE", 4)


def model_of(system: da.System) -> LargeModel:
    model = large_model(system, "auto", "auto")
    assert model is not None
    return model


def state_of(system: da.System) -> LargeState:
    return LargeState(system, model_of(system), system.parameter_values())


def some_state(system: da.System, at: LargeState, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Near the initial state, on the constraints, with velocities."""
    rng = np.random.default_rng(seed)
    q, _, _ = system.initial_values()
    return at.return_to_constraints(q + 0.05 * rng.normal(size=q.size), rng.normal(size=q.size), 0.0)


SYSTEMS = [chain(9), chain(9, force=True), rods(7), net(3), net(5), chain_in_space(5), chain_in_space(5, held=True)]
SYSTEMS += [chain_by_velocities(9), plain_chain(9)]
SYSTEMS += [tree(9, seed) for seed in range(3)]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
def test_accelerations_and_multipliers_are_those_of_the_fundamental_equation(system: da.System):
    at = state_of(system)
    q, v = some_state(system, at, 1)
    a, multipliers = at.solve(q, v, 0.0)
    dense = Evaluation(system).solve(q, v, 0.0)  # by dense matrices, with their singular values
    # Rounding times the condition of M, which is a few hundred here.
    assert a[: at.n] == pytest.approx(dense.acceleration, rel=1e-11, abs=1e-11 * np.abs(dense.acceleration).max())
    assert multipliers == pytest.approx(dense.multipliers, rel=1e-10, abs=1e-11)


def test_sums_written_plainly_are_seen_as_definitions():
    system = plain_bodies(8)
    at = state_of(system)
    assert at.nz > at.n, "sums of velocities became quantities"
    rng = np.random.default_rng(2)
    q, v = rng.uniform(-1, 1, 8), rng.normal(size=8)
    expected = acceleration_of_bodies(q, v)
    assert at.solve(q, v, 0.0)[0][:8] == pytest.approx(expected, rel=1e-11, abs=1e-11 * np.abs(expected).max())


def test_velocities_that_are_defined_are_quantities():
    at = state_of(chain_by_velocities(9))
    assert at.nz == 9 + 3 * 9, "what is turned, along and up; what is the rate of nothing is written out"


def test_an_energy_may_be_given_by_parts():
    system = chain(12)
    parts = da.definitions(" ".join(f"T{k}" for k in range(4)))
    sums = [sp.Add(*system.kinetic.args[k::4]) for k in range(4)]
    by_parts = {parts[0]: sums[0], **{parts[k]: parts[k - 1] + sums[k] for k in range(1, 4)}}
    given = {sp.Symbol(name): value for name, value in system.definitions.items()} | by_parts
    other = state_of(system.replace(definitions=given, kinetic=parts[3]))
    q, v = some_state(system, other, 3)
    assert other.solve(q, v, 0.0)[0][:12] == pytest.approx(state_of(system).solve(q, v, 0.0)[0][:12], rel=1e-13)


def test_steps_do_not_grow_faster_than_the_chain_and_the_source_does_not_grow():
    from dalembert.kernel.rolled.source import rolled_source

    parts = [structured_of(chain(links)) for links in (40, 80)]
    programs = [solution_of(equations_of(made, ACCELERATIONS), made.coordinates).program for made in parts if made]
    assert len(programs[1].steps) == 2 * len(programs[0].steps)
    texts = [rolled_source({"accelerations": program}).text for program in programs]
    assert len(texts[1]) < 1.05 * len(texts[0]), "only numbers of rounds and places differ"


@pytest.mark.parametrize("system", [chain(6), chain(6, force=True), rods(5), net(3)], ids=lambda s: s.name)
def test_motion_and_forces_are_those_of_the_small_way(system: da.System, monkeypatch: pytest.MonkeyPatch):
    large = system.simulate(0.5, samples=6, rtol=1e-9)
    monkeypatch.setattr(module, "LARGE", 1000)
    small = system.simulate(0.5, samples=6, rtol=1e-9)
    assert large.certificate.holds, large.certificate.text()
    assert small.certificate.holds
    for name in ("q", "v", "a", "impressed", "inertial", "ideal", "nonideal", "multipliers", "energy", "work"):
        ours, theirs = getattr(large, name), getattr(small, name)
        # Two integrations at rtol 1e-9, over half a second of motions whose errors grow some hundredfold.
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-6 * max(np.abs(theirs).max(initial=0.0), 1.0)), name


def test_two_formulations_of_one_chain_agree():
    """Angles with definitions, and Cartesian coordinates with constraints: nothing in common but the chain."""
    links = 70
    free, held = chain(links).simulate(0.3, samples=4), rods(links).simulate(0.3, samples=4)
    assert free.certificate.holds, free.certificate.text()
    assert held.certificate.holds, held.certificate.text()
    x = np.cumsum(np.sin(free.q), axis=1)
    assert held.q[:, ::2] == pytest.approx(x, abs=1e-7)  # rtol 1e-9, a chain of length 70


def test_a_hanging_chain_is_a_catenary():
    """At rest between two points: tan of the angles falls evenly, and the multipliers are the tensions."""
    links, pull = 40, 6.0
    m, g = 1.3, 9.81
    angle = np.arctan((m * g * (links - 1) / 2 - m * g * np.arange(links)) / pull)  # of each link above the horizontal
    at = np.stack([np.cumsum(np.cos(angle)), -np.cumsum(np.sin(angle))], axis=1)
    system = rods(links)
    ends = {f"end {name}": system.coordinates[2 * links - 2 + k] - at[-1, k] for k, name in enumerate("xy")}
    constraints = {c.name: c.expression for c in system.constraints} | ends
    hung = system.replace(constraints=constraints, initial=dict(zip(system.coordinates, at.ravel(), strict=True)))
    state = state_of(hung)
    q, v, _ = hung.initial_values()
    a, multipliers = state.solve(q, v, 0.0)
    assert np.abs(a).max() < 1e-9  # rounding of forces of some hundred newtons
    # The force of a rod on its outer end is λ ∂φ/∂q = 2 λ (its direction), of length 1: tension T gives λ = −T/2.
    assert -2 * multipliers[:links] == pytest.approx(pull / np.cos(angle), rel=1e-10)
    motion = hung.simulate(0.3, samples=4)
    assert motion.certificate.holds, motion.certificate.text()
    assert np.abs(motion.q - motion.q[0]).max() < 1e-9, "it stays"


def test_a_folded_chain_falls_faster_than_free_fall():
    """One end is let go beside the other: v² = g x (2L − x)/(L − x) after a fall of x (energy, L the length)."""
    missed = []
    for links in (32, 128):
        system = chain(links).replace(parameters={"l": 1 / links, "m": 1 / links})
        angles = np.where(np.arange(links) < links // 2, 0.02, np.pi - 0.02)
        folded = system.replace(initial=dict(zip(system.coordinates, angles, strict=True)))
        motion = folded.simulate(times=np.linspace(0, 0.36, 12), rtol=1e-6)
        assert motion.certificate.holds, motion.certificate.text()
        y, speed = motion[f"y{links - 1}"], abs(motion[f"y{links - 1}'"][-1])
        fallen = y[0] - y[-1]
        assert speed > 1.2 * np.sqrt(2 * 9.81 * fallen), "faster than a stone"
        missed.append(abs(speed / np.sqrt(9.81 * fallen * (2 - fallen) / (1 - fallen)) - 1))
    # The bend is some links wide and takes some of the energy: the less, the more links there are.
    assert missed[1] < 0.6 * missed[0]
    assert missed[1] < 0.025


@pytest.mark.parametrize("wrong", ["a", "ideal", "energy", "q"])
def test_a_wrong_number_is_caught(wrong: str, monkeypatch: pytest.MonkeyPatch):
    """Each array is changed by 1e-4 before it is certified."""
    certify = simulation.certify_large

    def changed(motion: da.Motion, *rest: object) -> da.Certificate:
        array = getattr(motion, wrong).copy()
        array[-1] += 1e-4 * np.abs(array).max()
        return certify(replace(motion, **{wrong: array}), *rest)  # type: ignore[arg-type]

    system = rods(5)
    assert system.simulate(0.5, samples=6).certificate.holds
    monkeypatch.setattr(simulation, "certify_large", changed)
    assert not system.simulate(0.5, samples=6).certificate.holds


def test_a_wrong_elimination_is_caught(monkeypatch: pytest.MonkeyPatch):
    """A solver that errs by a millionth, in the motion as in the forces: the certificate knows nothing of it."""
    right = LargeState.solve

    def wrong(self: LargeState, q: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        a, multipliers = right(self, q, v, t)
        return a * (1 + 1e-6), multipliers

    monkeypatch.setattr(LargeState, "solve", wrong)
    found = chain(6).simulate(0.5, samples=6).certificate
    assert not found.holds
    assert {"forces", "gauss"} <= set(found.failures)


def test_what_does_not_fit_takes_the_small_way():
    system = rods(5)
    kinked = chain(6).replace(forces={"a0": "-abs(a0)"})
    assert large_model(kinked, "auto", "auto") is None
    assert large_model(system, "stiff", "auto") is None
    assert large_model(system, "auto", "reference") is None


def test_dry_friction_takes_the_small_way():
    """Two blocks side by side, of which one rubs: it loses μ g of its speed in a unit of time."""
    system = da.System(
        "blocks",
        coordinates="x0 y0 x1 y1",
        kinetic="(x0'^2 + y0'^2 + x1'^2 + y1'^2)/2",
        potential="g*(y0 + y1)",
        constraints={"rough": "y0 = 0", "smooth": "y1 = 0"},
        nonideal=[da.Coulomb("rough", "mu", point=("x0", "y0"))],
        parameters={"g": 9.81, "mu": 0.5},
        initial={"x0": 0, "y0": 0, "x1": 0, "y1": 0, "x0'": 1, "y0'": 0, "x1'": 1, "y1'": 0},
    )
    motion = system.simulate(0.1, samples=2)
    assert motion["x0'"][-1] == pytest.approx(1 - 0.5 * 9.81 * 0.1, rel=1e-9)
    assert motion["x1'"][-1] == pytest.approx(1, rel=1e-12)
    assert motion.contacts["rough"].state[-1] == "slip"


def test_a_start_off_the_constraints_is_refused():
    """The worst first; eight digits are enough, as for small systems, and 1e-6 is not."""
    with pytest.raises(da.InconsistentState, match=r"(?s)constraint 1, 'rod 0', is violated in position: residual 3\."):
        rods(5).replace(initial={"x0": 2.0}).simulate(0.1)
    x0 = float(rods(5).initial_values()[0][0])
    rods(5).replace(initial={"x0": x0 * (1 + 1e-9)}).simulate(0.1, samples=2)
    with pytest.raises(da.InconsistentState, match="'rod 1', is violated in position"):
        rods(5).replace(initial={"x0": x0 * (1 + 1e-6)}).simulate(0.1)


def test_definitions_that_hold_the_time_take_the_small_way():
    """Their E = q̇·∂L/∂q̇ − L is another than the sum over all rates: here T is m (a'² l² + 2 l a' u cos a + u²)/2, and E
    has −m u²/2 where the sum has +m u²/2.
    """
    (tip,), a = da.definitions("tip"), da.coordinates(" ".join(f"a{k}" for k in range(5)))
    system = da.System(
        "driven",
        coordinates=list(a),
        definitions={tip: sp.sin(a[0]) + 2 * da.t},
        kinetic=tip.d**2 / 2 + sp.Add(*(q.d**2 / 2 for q in a)),
        initial=dict.fromkeys(a, 0.3) | {q.d: 0 for q in a},
    )
    motion = system.simulate(0.2, samples=3)
    assert motion.energy[0] == pytest.approx(-2.0)
    assert motion.certificate.holds


@pytest.mark.parametrize(("width", "samples"), [(0.02, 3), (0.004, 21)])
def test_a_short_pulse_in_time_is_not_stepped_over(width: float, samples: int):
    """Between few outputs, while the chain is at rest: it gives its momentum, A √π width, to the whole chain."""
    q = da.coordinates("q0 q1 q2 q3 q4 q5")
    springs = sp.Add(*((after - before) ** 2 / 2 for before, after in pairwise(q)))
    system = da.System(
        "struck",
        coordinates=q,
        kinetic=sp.Add(*(x.d**2 / 2 for x in q)),
        potential=springs,
        forces={q[-1]: 5 * sp.exp(-(((da.t - 7.3) / width) ** 2))},
        initial={symbol: 0 for x in q for symbol in (x, x.d)},
    )
    model_of(system)
    motion = system.simulate(20, samples=samples)
    # The error of the steps over the pulse is that of the tolerance, 1e-9, and a few of them.
    assert motion.v[-1].sum() == pytest.approx(5 * np.sqrt(np.pi) * width, rel=1e-7)
    assert motion.certificate.holds


def test_rounding_in_accelerations_is_no_pulse():
    """Some masses hardly move while others do; rounding of the fast ones is in all of them, and bounds no step."""
    still = chain(12).replace(forces={"a11": "30*cos(3*t)"}, initial={f"a{k}": 0 for k in range(12)})
    at = state_of(still)
    settings = settings_of_system(still, 1.0, None, {"samples": 3})
    assert look_ahead(at, settings, State(*still.initial_values())).pace is None


def dashpots(count: int) -> tuple[da.System, np.ndarray]:
    """Masses in a row, joined by weak springs and strong dashpots, and the matrix of their motion."""
    q, strong = da.coordinates(" ".join(f"q{k}" for k in range(count))), 2000.0
    stretched = [after - before for before, after in pairwise([sp.S(0), *q])]
    rates = [after - before for before, after in pairwise([sp.S(0), *(x.d for x in q)])]
    system = da.System(
        "dashpots",
        coordinates=q,
        kinetic=sp.Add(*(x.d**2 / 2 for x in q)),
        potential=sp.Add(*(s**2 / 2 for s in stretched)),
        forces={x: strong * (after - before) for x, before, after in zip(q, rates, [*rates[1:], 0], strict=True)},
        initial={x: 0.1 * k for k, x in enumerate(q)} | {x.d: 0 for x in q},
    )
    K = 2 * np.eye(count) - np.eye(count, k=1) - np.eye(count, k=-1)
    K[-1, -1] = 1.0
    return system, np.block([[np.zeros((count, count)), np.eye(count)], [-K, -strong * K]])


def test_a_stiff_motion_is_left_to_the_small_way():
    system, A = dashpots(5)
    model_of(system)
    motion = system.simulate(2, rtol=1e-7, samples=3)
    assert motion.method == "Radau"
    exact = scipy.linalg.expm(2 * A) @ np.concatenate(system.initial_values()[:2])
    assert motion.q[-1] == pytest.approx(exact[:5], rel=1e-5)  # a hundred tolerances, for some dozens of steps


def test_a_larger_stiff_motion_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("dalembert.motion.large.steps.MOST_COORDINATES", 4)
    monkeypatch.setattr("dalembert.motion.large.steps.STIFF_WORTH", 64)
    system, _ = dashpots(5)
    (warning,) = system.simulate(0.2, rtol=1e-7, samples=3).warnings
    assert "steps are as short as stability asks" in warning


def test_where_a_motion_ends_and_what_has_no_value():
    """x'' = −1/x² from rest at 1 ends at t = π/√8; the others move on. A pole at the start is told as one."""
    x = da.coordinates("x0 x1 x2 x3")
    kinetic = sp.Add(*(q.d**2 / 2 for q in x))
    falling = da.System(
        "falling",
        coordinates=x,
        kinetic=kinetic,
        potential=-1 / x[0] + sp.Add(*(q**2 / 2 for q in x[1:])),
        initial={symbol: value for q in x for symbol, value in ((q, 1), (q.d, 0))},
    )
    model_of(falling)
    with pytest.raises(da.MotionFailed, match=r"beyond t = 1\.1107"):
        falling.simulate(2, samples=3)
    with pytest.raises(da.UndefinedModel, match="Look for a division by zero"):
        falling.replace(potential=1 / (x[0] - 1)).simulate(2, samples=3)


@pytest.mark.parametrize("folded", [False, True])
def test_rods_that_hang_at_rest_hold(folded: bool):
    """Straight down, or folded back up: velocities are rounding, and measured against what the forces would do."""
    links = 40
    system = rods(links)
    up = [1.0 if folded and k >= links // 2 else -1.0 for k in range(links)]
    places = np.stack([np.zeros(links), np.cumsum(up)], axis=1)
    hung = system.replace(initial=dict(zip(system.coordinates, places.ravel(), strict=True)))
    motion = hung.simulate(1.0, samples=5)
    assert np.abs(motion.q - places.ravel()).max() < 1e-12  # rounding, in equilibrium
    assert motion.certificate.holds, motion.certificate.text()


@pytest.mark.parametrize("count", [64, 512])
def test_one_mass_that_moves_among_many_that_rest(count: int):
    """The tolerance is that of the mass that moves, however many do not: no mean over all of them."""
    q = da.coordinates(" ".join(f"q{k}" for k in range(count)))
    system = da.System(
        "one of many",
        coordinates=q,
        kinetic=sp.Add(*(x.d**2 / 2 for x in q)),
        potential=sp.Add(*(2 * x**2 for x in q)),
        initial={symbol: 0 for x in q for symbol in (x, x.d)} | {q[0]: 1},
    )
    motion = system.simulate(50, samples=26, rtol=1e-6)
    # Some hundred steps of at most two tolerances each, all the same way.
    assert motion["q0"] == pytest.approx(np.cos(2 * motion.t), abs=1e-4)
    assert motion.timing.steps < 200


def test_forces_that_change_slowly_bound_no_step_of_a_net():
    """Rods of a net depend on each other. Off their constraints, accelerations are rounding, and look like pulses."""
    side = 6
    x = np.array(da.coordinates(" ".join(f"{c}{k}" for k in range(side**2) for c in "xyz")), dtype=object)
    x, each = x.reshape(side, side, 3), range(side)
    joined = [(x[i, j], x[i + 1, j]) for i in each[:-1] for j in each] + [
        (x[i, j], x[i, j + 1]) for i in each for j in each[:-1]
    ]
    held = {f"held {j} {c}": x[0, j, c] - (j if c == 1 else 0) for j in each for c in range(3)}
    system = da.System(
        "net",
        coordinates=list(x.ravel()),
        kinetic=sp.Add(*(q.d**2 / 2 for q in x.ravel())),
        potential=sp.Add(*(9.81 * q for q in x[:, :, 2].ravel())),
        forces={q: 0.7 * sp.sin(4 * da.t + k) for k, q in enumerate(x[:, :, 2].ravel())},
        constraints={f"rod {k}": sum((a - b) ** 2) - 1 for k, (a, b) in enumerate(joined)} | held,
        initial={q: value for i in each for j in each for q, value in zip(x[i, j], (i, j, 0), strict=True)}
        | {q.d: 0 for q in x.ravel()},
    )
    motion = system.simulate(0.5, samples=6)
    assert motion.timing.steps < 60  # 19; a step for each sample were 512
    assert motion.certificate.holds, motion.certificate.text()


def test_a_potential_without_a_value_at_the_start_is_told():
    q = da.coordinates(" ".join(f"q{k}" for k in range(64)))
    system = da.System(
        "logarithms",
        coordinates=q,
        kinetic=sp.Add(*(x.d**2 / 2 for x in q)),
        potential=sp.Add(*(sp.log(x) for x in q)),
        initial=dict.fromkeys(q, 1) | {x.d: 0 for x in q} | {q[3]: -1},
    )
    with pytest.raises(UndefinedModel, match="potential"):
        system.simulate(0.5)


def test_states_between_outputs_come_by_the_large_way():
    """The whole equations of 70 links take longer to make than all of the motion; nothing makes them."""
    coarse, fine = (chain(70).simulate(0.3, samples=n) for n in (3, 13))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(between_outputs, "Evaluation", None)
        found = [coarse(t)["a69"] for t in fine.t]
    assert found == pytest.approx(fine["a69"], abs=1e-7)  # two runs at rtol 1e-9

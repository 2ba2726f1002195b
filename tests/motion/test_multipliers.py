"""The multiplier of one constraint as a number, in work expressions and in event functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad, solve_ivp

import dalembert as da
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.graph import graph_of
from dalembert.kernel.build import find_compiler
from dalembert.model.language.symbols import Reaction

x, y, z = da.coordinates("x y z")
m, g, r, c, d, mu = da.parameters("m g r c d mu")
compiled = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
BACKENDS = ["reference", pytest.param("native", marks=compiled)]
# One state is a handful of roundings.
ROUNDING = 1e-12


def pendulum(**changes: Any) -> da.System:
    """A particle on a rod or a string, thrown sideways at the lowest point."""
    parts: dict[str, Any] = {
        "coordinates": [x, y],
        "kinetic": m * (x.d**2 + y.d**2) / 2,
        "potential": m * g * y,
        "constraints": {"taut string": (x**2 + y**2 - r**2) / 2},
        "parameters": {m: 1.3, g: 9.81, r: 0.7},
        "initial": {x: 0, y: -0.7, x.d: 5, y.d: 0},
    }
    return da.System("pendulum", **{**parts, **changes})


def coupled(work: Any, **changes: Any) -> da.System:
    """2ẍ + ÿ = 3 + C and ẍ + 2ÿ = −5 + λ with y held: λ = 6.5 + C/2."""
    parts: dict[str, Any] = {
        "coordinates": [x, y],
        "mass": [[2, 1], [1, 2]],
        "forces": {x: 3, y: -5},
        "constraints": {"floor": y},
        "nonideal": [da.Work({x: work})],
        "parameters": {mu: 0.4},
        "initial": {x: 0, y: 0, x.d: 1, y.d: 0},
    }
    return da.System("coupled", **{**parts, **changes})


class TestSymbol:
    @pytest.mark.parametrize("name", ["rod", "upper rod", "a_1", "rod (upper)", "no. 3: x = y"])
    def test_kind_and_name(self, name: str) -> None:
        symbol = da.multiplier(name)
        assert (symbol.kind, symbol.coordinate) == ("multiplier", name)
        assert symbol == Reaction.of("multiplier", name)
        assert symbol != Reaction.of("actual", name)

    def test_latex(self) -> None:
        assert sp.latex(da.multiplier("upper rod_1")) == r"\lambda_{\text{upper rod\_1}}"

    def test_a_constraint_that_is_not_there(self) -> None:
        with pytest.raises(da.ModelError, match=r"'flor' is not a constraint\. Did you mean 'floor'"):
            coupled(-mu * da.multiplier("flor"))
        with pytest.raises(da.ModelError, match="event 'off': multiplier\\(x\\): 'x' is not a constraint"):
            pendulum(events={"off": da.multiplier("x")})

    def test_other_reactions_are_no_events(self) -> None:
        with pytest.raises(da.ModelError, match="constraint forces cannot appear"):
            pendulum(events={"off": da.actual(x)})

    def test_in_no_other_place(self) -> None:
        with pytest.raises(da.ModelError, match="work expression only"):
            pendulum(forces={x: da.multiplier("taut string")})

    def test_structure(self) -> None:
        """Systems that differ in whose multiplier is meant share neither graph nor kernel."""
        rows = {"one": y, "two": z}
        parts = {"coordinates": [x, y, z], "mass": [[2, 1, 1], [1, 2, 0], [1, 0, 2]], "constraints": rows}
        works = [coupled(-mu * da.multiplier(name), **parts, initial={}) for name in rows]
        assert works[0].structure != works[1].structure
        free = {**parts, "nonideal": []}
        events = [coupled(0, **free, events={"off": da.multiplier(name)}, initial={}) for name in rows]
        assert events[0].structure != events[1].structure

    def test_graph(self) -> None:
        system = coupled(
            -mu * da.multiplier("floor") ** 2 + da.actual(y), events={"off": x - 3 * da.multiplier("floor")}
        )
        graph = graph_of(system)
        C, by_force, by_multipliers = Evaluator(graph.work)([0, 0], [1, 0], 0, [0.4], [0, 0], [0, 7], [5])
        np.testing.assert_allclose(C, [-10 + 7, 0])
        np.testing.assert_allclose(by_force, [[0, 1], [0, 0]])
        np.testing.assert_allclose(by_multipliers[:, 0] if by_multipliers.ndim == 2 else by_multipliers, [-4, 0])
        value, scale = Evaluator(graph.events)([2, 0], [1, 0], 0, [0.4], np.zeros(4), [5], [6])
        np.testing.assert_allclose([value[0], scale[0]], [2 - 15, 2 + 18])
        assert graph.uses_actual
        assert graph.events_use_multipliers


class TestWork:
    @pytest.mark.parametrize("size", [0.0, 0.4, 1.0, -0.5])
    def test_at_a_state(self, size: float) -> None:
        now = coupled(-mu * da.multiplier("floor"), parameters={mu: size}).at()
        lam = 6.5 / (1 + size / 2)
        np.testing.assert_allclose(now.multipliers, [lam], rtol=ROUNDING)
        np.testing.assert_allclose(now.acceleration, [(3 - size * lam) / 2, 0], rtol=ROUNDING, atol=ROUNDING)

    def test_redundant_constraints_share_the_force(self) -> None:
        """The smallest multipliers of rows of unit length: λ₁ + 2 λ₂ = f with λ₁ = 2 λ₂, so λ₁ = f/2."""
        doubled = coupled(-2 * mu * da.multiplier("floor"), constraints={"floor": y, "again": 2 * y})
        once = coupled(-mu * da.multiplier("floor"))
        np.testing.assert_allclose(doubled.at().multipliers, 6.5 / 1.2 * np.array([1 / 2, 1 / 4]), rtol=ROUNDING)
        np.testing.assert_allclose(doubled.at().acceleration, once.at().acceleration, rtol=ROUNDING, atol=ROUNDING)

    def test_singular_mass(self) -> None:
        """y carries no mass: λ = 5, and C = −0.4 · 5 along x."""
        now = coupled(-mu * da.multiplier("floor"), mass=[[2, 0], [0, 0]]).at()
        np.testing.assert_allclose(now.multipliers, [5], rtol=ROUNDING)
        np.testing.assert_allclose(now.acceleration, [0.5, 0], rtol=ROUNDING, atol=ROUNDING)

    def test_singular_is_told_from_not_found(self) -> None:
        """λ = 6.5 + λ, and λ²/2 − λ + 16.5 = 0."""
        with pytest.raises(da.InconsistentConstraints, match=r"no constraint force agrees with the work .* singular"):
            coupled(2 * da.multiplier("floor")).at()
        with pytest.raises(da.InconsistentConstraints, match="no constraint force found"):
            coupled(20 + da.multiplier("floor") ** 2).at()

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_a_motion_into_the_singularity(self, backend: str) -> None:
        """λ = 6.5/(1 − t): the velocity is finite up to t = 1, where no force agrees any more."""
        system = coupled(2 * da.t * da.multiplier("floor"))
        with pytest.raises(da.MotionFailed, match="no constraint force agrees with the work") as caught:
            # Steps shrink towards the singularity: fewer at a loose tolerance, which the slow backend is glad of.
            system.simulate(2, samples=201, backend=backend, rtol=1e-4)
        assert caught.value.motion is not None
        assert 0.98 < caught.value.motion.t[-1] < 1

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_pendulum_with_friction_by_its_tension(self, backend: str) -> None:
        """C = λ (c q̇ + d q): along the rod (1 + d) λ = −T/r, across it θ̈ = −g/r sinθ + c λ θ̇/m."""
        lam = da.multiplier("taut string")
        system = pendulum(
            nonideal=[da.Work({x: lam * (c * x.d + d * x), y: lam * (c * y.d + d * y)}, constraint="taut string")],
            parameters={m: 1.3, g: 9.81, r: 0.7, c: 0.02, d: 0.3},
        )

        def tension(theta: Any, rate: Any) -> Any:
            return -1.3 * (rate**2 + 9.81 / 0.7 * np.cos(theta)) / 1.3

        def reduced(_: float, s: np.ndarray) -> list[float]:
            return [s[1], -9.81 / 0.7 * np.sin(s[0]) + 0.02 * tension(*s) * s[1] / 1.3]

        motion = system.simulate(2, samples=21, rtol=1e-10, backend=backend)
        exact = solve_ivp(reduced, (0, 2), [0, 5 / 0.7], "DOP853", motion.t, rtol=1e-12, atol=1e-12).y
        # A few hundred tolerances over a few swings.
        np.testing.assert_allclose(motion["x"], 0.7 * np.sin(exact[0]), atol=1e-7)
        np.testing.assert_allclose(motion["multiplier taut string"], tension(*exact), atol=1e-5)
        assert motion.certificate.holds


class TestEvents:
    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("method", ["dop853", "dopri5", "stiff"])
    def test_a_string_goes_slack(self, backend: str, method: str) -> None:
        """T = m (v²/r + g cosθ), v² = v₀² − 2 g r (1 − cosθ): T = 0 at cosθ = (2 g r − v₀²)/(3 g r)."""
        slack = da.Event(da.multiplier("taut string"), terminal=True)
        motion = pendulum(events={"slack": slack}).simulate(3, samples=31, rtol=1e-10, backend=backend, method=method)
        assert motion.ended_by == "slack"
        (event,) = motion.events
        assert event["direction"] == "rising"
        cosine = (2 * 9.81 * 0.7 - 25) / (3 * 9.81 * 0.7)
        # The energy is kept to a few hundred tolerances.
        np.testing.assert_allclose(event["state"]["y"], -0.7 * cosine, rtol=1e-7)
        np.testing.assert_allclose(motion["multiplier taut string"][-1], 0, atol=1e-9)
        assert (motion["multiplier taut string"][:-1] < 0).all()

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_a_particle_leaves_a_sphere(self, backend: str) -> None:
        """From the top with v₀: r φ̇² = v₀²/r + 2 g (1 − cosφ), and N = 0 at cosφ = 2/3 + v₀²/(3 g r)."""
        system = da.System(
            "sphere",
            coordinates=[x, y, z],
            kinetic=m * (x.d**2 + y.d**2 + z.d**2) / 2,
            potential=m * g * z,
            constraints={"sphere": x**2 + y**2 + z**2 - r**2},
            parameters={m: 2, g: 9.81, r: 1.5},
            initial={x: 0, y: 0, z: 1.5, x.d: 0.03, y.d: 0.04, z.d: 0},
            events={"leaves": da.Event(da.multiplier("sphere"), direction="falling", terminal=True)},
        )
        speed = 0.05
        last = np.arccos(2 / 3 + speed**2 / (3 * 9.81 * 1.5))

        def slowness(angle: float) -> float:
            return 1 / np.sqrt((speed / 1.5) ** 2 + 4 * 9.81 / 1.5 * np.sin(angle / 2) ** 2)

        time = quad(slowness, 0, last, epsabs=0, epsrel=1e-13)[0]
        motion = system.simulate(5, samples=51, rtol=1e-11, backend=backend)
        (event,) = motion.events
        # The start is next to an equilibrium: errors grow e^(√(g/r) t), about a hundredfold.
        np.testing.assert_allclose(event["t"], time, rtol=1e-8)
        np.testing.assert_allclose(event["state"]["z"], 1.5 * np.cos(last), rtol=1e-8)

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_a_multiplier_that_is_zero_gives_no_events(self, backend: str) -> None:
        """Nothing pulls the particle off its plane: what rounding leaves of λ is no passage."""
        system = da.System(
            "plane",
            coordinates=[x, y, z],
            mass=[[2, 0.3, 0.1], [0.3, 1, -0.2], [0.1, -0.2, 3]],
            # The acceleration they ask for is along the plane x + 2y − z = 0 already.
            forces={x: 2.6 * sp.cos(3 * x), y: 0.7 * sp.cos(3 * x), z: 8.9 * sp.cos(3 * x)},
            constraints={"plane": x + 2 * y - z},
            initial={x: 0, y: 0, z: 0, x.d: 1, y.d: 1, z.d: 3},
            events={"off": da.multiplier("plane")},
        )
        assert system.simulate(5, samples=11, backend=backend).events == ()

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_redundant_constraints_share_the_force(self, backend: str) -> None:
        """λ + 2 λ' = −T/r with λ = 2 λ' at rows of unit length: λ is half of what one row alone would have."""
        lam = da.multiplier("taut string")
        rows = {"again": x**2 + y**2 - r**2, "taut string": (x**2 + y**2 - r**2) / 2}
        one = pendulum(events={"half": lam + 40}).simulate(1, samples=5, rtol=1e-10, backend=backend)
        two = pendulum(constraints=rows, events={"half": lam + 20})
        two = two.simulate(1, samples=5, rtol=1e-10, backend=backend)
        assert one.events
        # Times of passages differ by what the two integrations do.
        np.testing.assert_allclose([e["t"] for e in two.events], [e["t"] for e in one.events], atol=1e-8)

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_with_work_that_depends_on_the_force(self, backend: str) -> None:
        """λ = (6.5 − x)/1.2 with a force −2x on x passes zero at x = 6.5."""
        system = coupled(
            -mu * da.multiplier("floor"),
            forces={x: 3 - 2 * x, y: -5},
            initial={x: 0, y: 0, x.d: 9, y.d: 0},
            events={"off": da.Event(da.multiplier("floor"), terminal=True)},
        )
        motion = system.simulate(5, samples=11, rtol=1e-10, backend=backend)
        assert motion.ended_by == "off"
        np.testing.assert_allclose(motion["x"][-1], 6.5, rtol=1e-9)

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_with_a_row_nonlinear_in_the_accelerations(self, backend: str) -> None:
        """ẍ = 2 by ẍ² = 4, m = 1, force 3 − t on x: 2 = 3 − t + 4 λ, so λ = 0 at t = 1."""
        system = da.System(
            "s",
            coordinates=[x, y],
            kinetic=(x.d**2 + y.d**2) / 2,
            forces={x: 3 - da.t},
            constraints={"size": x.dd**2 - 4, "floor": y},
            initial={x: 0, y: 0, x.d: 0, y.d: 0},
            events={"even": da.multiplier("size")},
        )
        (event,) = system.simulate(2, samples=5, backend=backend).events
        np.testing.assert_allclose(event["t"], 1, rtol=1e-12)

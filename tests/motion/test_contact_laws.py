"""What C measures at the points of a motion with contacts is what NumPy measures there, of right motions and wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.build import find_compiler
from dalembert.motion.certificate import certify as certifying
from dalembert.motion.certificate import friction_heat, friction_laws, held_friction
from dalembert.motion.certificate.certify import certify
from dalembert.motion.contacts.decide.cone_programs import Entries, Programme

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no compiler")

# Sums in another order: what is rounding may differ by as much, and what is not by this share.
ROUNDING, SHARE = 1e-12, 1e-9


def puck() -> da.System:
    """On three feet, thrown and spun, until it rests: six directions of friction hold three coordinates."""
    feet = [(0.4 * np.cos(a), 0.4 * np.sin(a)) for a in np.arange(3) * 2 * np.pi / 3]
    across = [(f"({p}*cos(th) - {q}*sin(th))", f"({p}*sin(th) + {q}*cos(th))") for p, q in feet]
    return da.System(
        "puck",
        coordinates="x y z a b th",
        kinetic="(x'^2 + y'^2 + z'^2)/2 + 0.03*(a'^2 + b'^2)/2 + 0.1*th'^2/2",
        potential="9.81*z",
        constraints={f"foot{k}": f"z + a*{dx} + b*{dy} = 0" for k, (dx, dy) in enumerate(across)},
        nonideal=[
            da.Coulomb(f"foot{k}", 0.3, point=(f"x + {dx}", f"y + {dy}", f"z + a*{dx} + b*{dy}"))
            for k, (dx, dy) in enumerate(across)
        ],
        initial={"th": 0.2, "x'": 1.0, "y'": 0.3, "th'": 2.0} | dict.fromkeys(("x", "y", "z", "a", "b"), 0.0)
        | dict.fromkeys(("z'", "a'", "b'"), 0.0),
    )  # fmt: skip


def slope() -> da.System:
    """A particle on a tilted plane, stuck: three components of which two are directions."""
    return da.System(
        "particle on a slope",
        coordinates="x y z",
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        potential="9.81*z",
        constraints={"plane": "z - 0.2*x - 0.1*y = 0"},
        nonideal=[da.Coulomb("plane", 0.4, point=("x", "y", "z"))],
        initial=dict.fromkeys(("x", "y", "z", "x'", "y'", "z'"), 0.0),
    )


def linked() -> da.System:
    """Blocks at rest that are pulled until one sets off; the contact of one joins three of them."""
    each = range(4)
    return da.System(
        "linked blocks",
        coordinates=[f"{q}{k}" for k in each for q in "xy"],
        kinetic=" + ".join(f"(x{k}'^2 + y{k}'^2)/2" for k in each),
        potential=" + ".join(f"9.81*y{k}" for k in each),
        forces={"x0": "0.5", "x1": "-0.2", "x2": "4*t", "x3": "0.3"},
        constraints={f"ground{k}": f"y{k} = 0" for k in each},
        nonideal=[
            da.Coulomb("ground0", 0.3, point=("x0", "y0")),
            da.Coulomb("ground1", 0.4, point=("x1", "y1")),
            da.Coulomb("ground2", 0.2, point=("x2", "y2")),
            da.Coulomb("ground3", 0.5, slide=("x0' - x1' + x3'",)),
        ],
        initial={f"{q}{k}{mark}": 0.0 for k in each for q in "xy" for mark in ("", "'")},
    )


@pytest.fixture(scope="module")
def motions() -> dict[str, da.Motion]:
    names = ("thrown_block", "stick_slip", "stacked_blocks", "bouncing_ball", "leaving_sphere", "rough_incline")
    found = {name: da.library.get(name).simulate(rtol=1e-8, samples=101, backend="native") for name in names}
    found["puck"] = puck().simulate(0.6, samples=31, backend="native")
    found["slope"] = slope().simulate(0.3, samples=11, backend="native")
    found["linked"] = linked().simulate(1.0, samples=31, backend="native")
    return {name: motion for name, motion in found.items() if motion.C is not None}


def _bent(history: Any, **fields: Callable[[np.ndarray], np.ndarray]) -> Any:
    return replace(history, **{name: change(getattr(history, name)) for name, change in fields.items()})


def _of_contacts(motion: da.Motion, **fields: Callable[[np.ndarray], np.ndarray]) -> da.Motion:
    return replace(motion, contacts={name: _bent(one, **fields) for name, one in motion.contacts.items()})


def _counted(measure: Callable[..., Any], found: list[bool]) -> Callable[..., Any]:
    """The same, noting whether it has served."""

    def counted(*given: Any) -> Any:
        value = measure(*given)
        found.append(value is not None)
        return value

    return counted


def _broken(values: np.ndarray) -> np.ndarray:
    found = values.copy()
    found.flat[found.size // 2] = np.nan
    return found


WRONG: dict[str, Callable[[da.Motion], da.Motion]] = {
    "as it is": lambda motion: motion,
    "other friction": lambda motion: replace(motion, C=1.01 * motion.C),
    "more friction than the cone has": lambda motion: replace(motion, C=9.0 * motion.C + 1e-3),
    "other multipliers": lambda motion: replace(motion, multipliers=motion.multipliers - 1e-3),
    "other velocities": lambda motion: replace(motion, v=motion.v + 1e-4),
    "other places": lambda motion: replace(motion, q=motion.q - 1e-3),
    "other accelerations": lambda motion: replace(motion, a=1.001 * motion.a + 1e-3),
    "told another reaction": lambda motion: _of_contacts(motion, normal=lambda x: 1.001 * x),
    "told another friction": lambda motion: _of_contacts(motion, friction=lambda x: x + 1e-3),
    "told to stick": lambda motion: _of_contacts(motion, state=lambda x: np.full_like(x, "stick")),
    "told to slip": lambda motion: _of_contacts(motion, state=lambda x: np.full_like(x, "slip")),
    "told to be open": lambda motion: _of_contacts(motion, state=lambda x: np.full_like(x, "open")),
    "no number": lambda motion: replace(motion, multipliers=_broken(motion.multipliers)),
    "no number told": lambda motion: _of_contacts(motion, normal=_broken),
    "other works": lambda motion: replace(motion, work=motion.work + 1e-3 * motion.t[:, None]),
    "other heat": lambda motion: replace(motion, heat={name: 1.01 * x for name, x in motion.heat.items()}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_c_and_numpy_measure_the_same(wrong, motions, monkeypatch):
    measured: list[bool] = []
    monkeypatch.setattr(certifying, "measure_held", _counted(certifying.measure_held, measured))
    for name, motion in motions.items():
        other = WRONG[wrong](motion)
        measured.clear()
        by_c = certify(other)
        # It serves where there are numbers, and the energy told is that of the states.
        assert measured == [True] or wrong in ("no number", "other velocities", "other places")
        with monkeypatch.context() as without:
            without.setattr(friction_laws, "look_at_laws", lambda *_: None)
            without.setattr(certifying, "measure_held", lambda *_: None)
            without.setattr(friction_heat, "integrals_missed", lambda *_: None)
            by_numpy = certify(other)
        for measure in ("position", "velocity", "acceleration", "forces", "virtual_work", "gauss", "energy", "contact"):
            one, two = getattr(by_c, measure), getattr(by_numpy, measure)
            assert one == pytest.approx(two, rel=SHARE, abs=ROUNDING, nan_ok=True), (name, measure)
        assert (by_c.holds, by_c.failures, by_c.unique) == (by_numpy.holds, by_numpy.failures, by_numpy.unique), name
        assert (by_c.rank_min, by_c.rank_max) == (by_numpy.rank_min, by_numpy.rank_max), name


def _once(column: np.ndarray, k: int, share: float) -> np.ndarray:
    found = column.copy()
    found[k] *= share
    return found


@pytest.mark.parametrize("numpy_alone", [False, True])
@pytest.mark.parametrize("k", range(0, 41, 5))
def test_held_friction_told_wrong_at_one_output_is_seen(k, numpy_alone, monkeypatch):
    """In a plane, whichever output it is: twelve of them were looked at once."""
    if numpy_alone:
        monkeypatch.setattr(friction_laws, "look_at_laws", lambda *_: None)
    motion = slope().simulate(0.3, samples=41, backend="native")
    assert certify(motion).holds
    wrong = certify(_of_contacts(motion, friction=lambda x: _once(x, k, 1.01)))
    assert wrong.failures == ("contact",)
    # A hundredth of the friction, √(0.2² + 0.1²) of the reaction's part along the vertical, beside the reaction.
    assert wrong.contact == pytest.approx(0.01 * np.hypot(0.2, 0.1), rel=1e-6)


def test_friction_among_many_contacts_is_seen_where_one_is_told_wrong(motions):
    """Beside others that hold as they say, and of one that no other shares coordinates with."""
    motion = motions["linked"]
    assert certify(motion).holds
    sticks = motion.contacts["ground2"].state == "stick"
    assert sticks.any()
    assert not sticks.all()
    first = int(np.flatnonzero(sticks)[3])
    one = replace(motion.contacts["ground2"], friction=_once(motion.contacts["ground2"].friction, first, 1.02))
    wrong = certify(replace(motion, contacts={**motion.contacts, "ground2": one}))
    assert wrong.failures == ("contact",)


def test_forces_that_are_determined_need_no_programme():
    """Equations that leave one choice say how deep it lies, as the programme finds it: to what that is solved to."""
    random = np.random.default_rng(4)
    for _ in range(20):
        E, x, G = random.normal(size=(4, 4)), random.normal(size=4), random.normal(size=(5, 4))
        h = np.array([3.0, 0.1, 0.2, 2.0, -0.3])
        programme = Programme(Entries.of(G), h, [3, 2], np.array([1.0, 2.0]), Entries.of(E), E @ x)
        found = programme.deepest(most=5.0)
        assert found is not None
        assert programme.depth_at(x, most=5.0) == pytest.approx(found.depth, abs=1e-7)


def test_points_inside_their_cones_need_no_second_look(motions, monkeypatch):
    """Nor do those at which nothing rests; what is beyond a limit does."""
    asked: list[int] = []
    honest = held_friction.beyond_limits

    def counted(units: np.ndarray, *rest: Any) -> np.ndarray:
        asked.append(len(units))
        return honest(units, *rest)

    monkeypatch.setattr(friction_laws, "beyond_limits", counted)
    assert certify(motions["slope"]).contact <= 1e-9
    assert certify(motions["puck"]).contact <= 1e-6
    assert not asked
    assert certify(WRONG["more friction than the cone has"](motions["slope"])).contact > 1e-2
    assert asked == [11]

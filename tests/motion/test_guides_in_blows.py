"""Friction of two-sided guides within a blow: closed forms, a smoothed reference, certificate, records."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.errors import InconsistentConstraints
from dalembert.motion.certificate.impact_laws import impact_residual
from dalembert.motion.contacts.impacts.blow_values import Meeting
from dalembert.motion.contacts.impacts.guides import Guide
from dalembert.motion.contacts.impacts.impact_on_arrays import strike

LAWS = ("newton", "poisson", "stronge")
# A flight along a straight line is exact to rounding, and so are blows of straight pieces.
EXACT = 1e-12


def bead(slope, mu, e, law="newton", **changes):
    """A bead on a wire along x, against a stop whose normal is turned by `slope` from the wire."""
    given = {
        "coordinates": "x y",
        "kinetic": "m*(x'^2 + y'^2)/2",
        "constraints": [
            da.Constraint("wire", "y"),
            da.Constraint("stop", "(1 - x)*cos(b) - y*sin(b)", one_sided=True, restitution=e, impact=law),
        ],
        "nonideal": [da.Coulomb("wire", mu=mu)],
        "parameters": {"m": 1.5, "b": slope},
        "initial": {"x": 0, "y": 0, "x'": 2, "y'": 0},
    }
    return da.System("bead", **given | changes)


def after_the_stop(slope, mu, e, law, speed=2.0):
    """dv/dp = −(cos ± μ sin)/m while the bead goes on, and while it comes back."""
    on, back = np.cos(slope) + mu * abs(np.sin(slope)), np.cos(slope) - mu * abs(np.sin(slope))
    return -e * speed * {"newton": 1.0, "poisson": back / on, "stronge": np.sqrt(back / on)}[law]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("slope", [0.3, -0.9])
def test_a_bead_strikes_an_oblique_stop(slope, law):
    motion = bead(slope, 0.4, 0.7, law).simulate(1, samples=5, backend="reference")
    (blow,) = motion.blows
    want = after_the_stop(slope, 0.4, 0.7, law)
    assert blow.after == pytest.approx([want, 0.0], abs=EXACT)
    assert blow.loss == pytest.approx(0.75 * (4 - want**2), rel=EXACT)
    (wire,) = blow.guides
    assert wire.state == "reversal"
    assert wire.normal == pytest.approx(abs(blow.constraint_impulses[0]), rel=EXACT)
    assert wire.normal == pytest.approx(blow.contacts[0].normal * abs(np.sin(slope)), rel=EXACT)
    assert motion.certificate.holds
    assert motion.warnings == ()
    assert "guide 'wire': reversal" in blow.text()


def test_both_backends():
    system = bead(0.3, 0.4, 0.7, "poisson")
    for backend in ("reference", "native"):
        motion = system.simulate(1, samples=3, backend=backend)
        assert motion["x'"][-1] == pytest.approx(after_the_stop(0.3, 0.4, 0.7, "poisson"), abs=EXACT)
        assert motion.certificate.holds


@pytest.mark.parametrize("law", LAWS)
def test_a_wire_that_holds_gives_nothing_back(law):
    """tan(slope) > 1/μ: whatever the stop pushes, the wire holds it."""
    motion = bead(1.2, 0.6, 0.7, law).simulate(1, samples=5, backend="reference")
    (blow,) = motion.blows
    assert blow.after == pytest.approx([0, 0], abs=EXACT)
    assert blow.contacts[0].e == (0.7 if law == "poisson" else 0.0)  # its law is one of impulses, which there are
    assert motion.certificate.holds
    assert motion["x"][-1] == pytest.approx(1, abs=EXACT)


def test_a_wire_in_space():
    """Two constraints carry the bead: |N| = √(λ₁² + λ₂²)."""
    c, s = np.cos(0.5), np.sin(0.5)
    system = bead(
        0.5,
        0.4,
        0.7,
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        constraints=[
            da.Constraint("side", "2*y"),
            da.Constraint("height", "z + y"),
            da.Constraint(
                "stop", f"{c}*(1 - x) + {s}*(0.6*y - 0.8*z)", one_sided=True, restitution=0.7, impact="poisson"
            ),
        ],
        nonideal=[da.Coulomb(["side", "height"], mu=0.4)],
        parameters={"m": 1.5},
        initial={"x": 0, "y": 0, "z": 0, "x'": 2, "y'": 0, "z'": 0},
    )
    motion = system.simulate(1, samples=5, backend="reference")
    assert motion.blows[0].after[0] == pytest.approx(after_the_stop(0.5, 0.4, 0.7, "poisson"), abs=EXACT)
    assert motion.blows[0].guides[0].normal == pytest.approx(s * motion.blows[0].contacts[0].normal, rel=EXACT)
    assert motion.certificate.holds


def test_a_block_in_a_slot_against_a_rough_stop():
    """Both rub: with ρ = μ of the stop, dv/dp = −(c + ρ s) − μ_w |s − ρ c| on the way on, and back with other signs."""
    b, rough, mu, e = 0.4, 0.2, 0.5, 0.6
    c, s = np.cos(b), np.sin(b)
    system = bead(b, mu, e, "poisson")
    system = system.replace(nonideal=[*system.nonideal, da.Coulomb("stop", mu=rough, point=["x", "y"])])
    motion = system.simulate(1, samples=5, backend="reference")
    on = (c + rough * s) + mu * abs(s - rough * c)
    back = (c - rough * s) - mu * abs(s + rough * c)
    assert motion.blows[0].after[0] == pytest.approx(-2 * e * back / on, abs=EXACT)
    assert motion.certificate.holds


def smoothed(M, A, v, normal, guides, e, width):
    """Poisson's law with friction −μ|N| tanh(u/width), over the normal impulse."""
    n, m = M.shape[0], A.shape[0]
    inverse = np.linalg.inv(np.block([[M, A.T], [A, np.zeros((m, m))]]))

    def rate(_, w):
        f = normal
        for _ in range(100):
            reactions = -inverse[n:, :n] @ f
            rubs = [
                g.mu * np.linalg.norm(g.force @ reactions) * np.tanh((g.tangent @ w + g.offset) / width) * g.tangent
                for g in guides
            ]
            f = normal - sum(rubs)
        return inverse[:n, :n] @ f

    def ends(_, w):
        return normal @ w

    ends.terminal = True
    pressed = solve_ivp(rate, (0, 1e3), v, "Radau", rtol=1e-8, atol=1e-10, events=[ends])
    return solve_ivp(rate, (0, e * pressed.t[-1]), pressed.y[:, -1], "Radau", rtol=1e-8, atol=1e-10).y[:, -1]


@pytest.mark.parametrize("seed", [9, 23])  # two guides: both reverse; one sticks
def test_guides_as_a_smoothed_law_has_them(seed):
    r = np.random.default_rng(seed)
    n, m, count = 4, int(r.integers(1, 3)), int(r.integers(1, 3))
    X, A, v = r.normal(size=(n, n)), r.normal(size=(m, n)), r.normal(size=n)
    M = X @ X.T + np.eye(n)
    v -= np.linalg.pinv(A) @ (A @ v)
    normal = r.normal(size=n)
    normal *= -np.sign(normal @ v)
    guides = [
        Guide(str(k), r.normal(size=n), 0.1 * r.normal(), r.normal(size=(m, m)), *(2 * [0.15 * r.random()]))
        for k in range(count)
    ]
    stop = Meeting("stop", normal, e=0.5, law="poisson")
    (blow,) = strike(M, A, [stop], v, guides=guides)
    # A law of this width creeps by about it while it should stick.
    assert blow.after == pytest.approx(smoothed(M, A, v, normal, guides, 0.5, 1e-4), abs=1e-4)
    assert A @ blow.after == pytest.approx(np.zeros(m), abs=EXACT)
    assert blow.loss >= 0


def test_a_guide_that_jams_says_so():
    """Friction presses its guide by more than itself: slipping has either no reaction or several."""
    guide = Guide("slot", np.array([1.0, 0.0]), 0.0, np.array([[1.0]]), 3.0, 3.0)
    stop = Meeting("stop", np.array([-1.0, 0.2]))
    A = np.array([[1.0, 1.0]])
    with pytest.raises(InconsistentConstraints, match=r"'stop': .*friction of 'slot' in this blow"):
        strike(np.eye(2), A, [stop], np.array([1.0, -1.0]), guides=[guide])


class TestCertificate:
    def test_fails_without_the_friction_of_a_guide(self):
        rough = bead(0.3, 0.4, 0.7).simulate(1, samples=5, backend="reference")
        smooth = bead(0.3, 0.0, 0.7).simulate(1, samples=5, backend="reference")
        assert smooth.certificate.holds
        blows = tuple(replace(blow, guides=()) for blow in smooth.blows)
        assert impact_residual(replace(rough, blows=blows, impact_loss=smooth.impact_loss)) > 1e-2

    @pytest.mark.parametrize("share", [0.9, 1.1, -1.0])
    def test_fails_on_too_little_and_too_much(self, share):
        """Friction and the jump it makes, with which all but its law agrees."""
        motion = bead(0.3, 0.4, 0.0).simulate(1, samples=5, backend="reference")
        assert impact_residual(motion) < EXACT
        (blow,) = motion.blows
        (wire,) = blow.guides
        pieces = tuple(replace(piece, friction=share * piece.friction) for piece in wire.pieces)
        told = replace(wire, friction=share * wire.friction, loss=share * wire.loss, pieces=pieces)
        assert impact_residual(replace(motion, blows=(replace(blow, guides=(told,)),))) > 1e-2

    def test_records(self, tmp_path):
        motion = bead(0.3, 0.4, 0.7).simulate(1, samples=5, backend="reference")
        motion.save(tmp_path / "motion.nc")
        again = da.Motion.load(tmp_path / "motion.nc")
        assert [blow.to_dict() for blow in again.blows] == [blow.to_dict() for blow in motion.blows]
        assert again.certified().certificate.impact < EXACT


@pytest.mark.parametrize(
    "added",
    [
        da.Constraint("again", "y*(1 + x^2)"),  # whose reaction is not determined
        da.Constraint("beside", "(1 - x)*cos(b) + y*sin(b)", one_sided=True, restitution=0.5),  # two stops at once
    ],
)
def test_what_is_left_out_is_told(added):
    system = bead(0.3, 0.1, 0.5)
    motion = system.replace(constraints=[*system.constraints, added]).simulate(0.7, samples=5, backend="reference")
    assert any("'wire' has no part in the impacts" in warning for warning in motion.warnings)
    assert motion.certificate.impact < EXACT


def stated_twice(system, mu):
    """The bead with its wire a second time, in other units."""
    laws = [da.Coulomb("wire", mu=mu), da.Coulomb("again", mu=mu)]
    return system.replace(constraints=[*system.constraints, da.Constraint("again", "2*y")], nonideal=laws)


def test_a_wire_stated_twice_is_one_where_its_friction_decides_nothing():
    """By Newton's law the bead leaves at e times its speed, whatever rubs: nothing presses the wires but the blow."""
    once = bead(0.3, 0.1, 0.5)
    motion = stated_twice(once, 0.1).simulate(0.7, samples=5, backend="reference")
    assert motion.q == pytest.approx(once.simulate(0.7, samples=5, backend="reference").q, abs=EXACT)
    assert motion.certificate.holds, motion.certificate.text()
    (warning,) = motion.warnings
    assert "'wire', 'again' has no part in the impacts: constraints depend on each other" in warning


def test_a_wire_stated_twice_is_undetermined_where_its_friction_decides():
    """By Poisson's law the speed after the blow depends on friction in it, which is left out."""
    once = bead(0.3, 0.1, 0.5, "poisson")
    motion = stated_twice(once, 0.1).simulate(0.7, samples=5, backend="reference")
    assert motion.v[-1, 0] != pytest.approx(after_the_stop(0.3, 0.1, 0.5, "poisson"), rel=1e-3)
    assert motion.certificate.undetermined == ("wire", "again")
    assert motion.certificate.failures == ("unique",)
    assert any("'wire' and 'again' share a load" in warning for warning in motion.warnings)


@pytest.mark.parametrize("e", [0.5, 0.9, 1.0])
def test_a_block_on_a_rough_floor_that_is_thrown_back(e):
    """The blow does not press the floor: it is Newton's, and the block may turn back within it."""
    motion = da.System(
        "two blocks",
        coordinates="a y b",
        kinetic="(a'^2 + y'^2)/2 + 3*b'^2/2",
        potential="9.81*y",
        constraints=[da.Constraint("floor", "y"), da.Constraint("gap", "b - a - 1", one_sided=True, restitution=e)],
        nonideal=[da.Coulomb("floor", 0.3, point=("a", "y"))],
        initial={"a": 0, "b": 1.2, "y": 0, "a'": 2, "b'": 0, "y'": 0},
    ).simulate(0.3)
    (blow,) = motion.blows
    np.testing.assert_allclose(blow.after[0], blow.before[0] * (1 - 3 * e) / 4, rtol=1e-12)
    assert motion.certificate.holds, motion.certificate

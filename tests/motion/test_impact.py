"""Blows on arrays against closed forms and against the definitions of their laws."""

import numpy as np
import pytest

from dalembert.errors import InconsistentConstraints, UndeterminedMotion
from dalembert.motion.contacts.impacts import impact_on_arrays
from dalembert.motion.contacts.impacts.blow import LAWS
from dalembert.motion.contacts.impacts.blow_values import Blow, Meeting
from dalembert.motion.contacts.impacts.impact_on_arrays import strike

# Closed forms and definitions hold to rounding, gathered over a few operations.
EXACT = 1e-12
NONE = np.zeros((0, 3))


def meeting(name, normal, tangents=(), mu=0.0, e=0.0, law="newton", mu_static=None, offset=0.0, drift=None):
    rows = np.array(tangents, dtype=float).reshape(len(tangents), len(normal))
    static = mu if mu_static is None else mu_static
    drift = np.zeros(len(tangents)) if drift is None else np.array(drift, dtype=float)
    return Meeting(name, np.array(normal, float), offset, rows, drift, lambda s: mu, static, e, law)


def energy(M, v):
    return float(v @ M @ v) / 2


# -- one contact


class TestBall:
    """A solid ball (J = 2/5 m r²) on a rough floor, x, y and the angle a with the contact's velocity x' + r a'."""

    r, m = 0.5, 2.0
    M = np.diag([2.0, 2.0, 0.4 * 2.0 * 0.25])

    def strike(self, mu, e, law, v):
        floor = meeting("floor", [0, 1, 0], [[1, 0, self.r]], mu, e, law)
        (blow,) = strike(self.M, NONE, [floor], np.array(v, dtype=float))
        return blow

    @pytest.mark.parametrize("law", LAWS)
    def test_slides_through(self, law):
        blow = self.strike(0.1, 0.8, law, [3.0, -2.0, 0.0])
        change = 0.1 * 1.8 * 2.0
        assert blow.after == pytest.approx([3 - change, 1.6, -change / (0.4 * self.r)], rel=EXACT)
        assert blow.shares[0].state == "slip"
        assert blow.shares[0].impulse == pytest.approx([self.m * 3.6, -self.m * change], rel=EXACT)

    @pytest.mark.parametrize("law", LAWS)
    def test_grips(self, law):
        v, w = 3.0, 5.0
        blow = self.strike(0.9, 0.5, law, [v, -2.0, w])
        assert blow.shares[0].state == "stick"
        assert blow.after[0] == pytest.approx((5 * v - 2 * self.r * w) / 7, rel=EXACT)
        assert blow.after[0] + self.r * blow.after[2] == pytest.approx(0, abs=EXACT)
        assert blow.loss == pytest.approx(energy(self.M, blow.before) - energy(self.M, blow.after), rel=EXACT)

    def test_backspin_turns_a_ball_back(self):
        """Slides all through the blow against its spin and leaves backwards."""
        blow = self.strike(0.3, 0.9, "newton", [0.5, -3.0, 80.0])
        change = 0.3 * 1.9 * 3.0
        assert blow.after[0] == pytest.approx(0.5 - change, rel=EXACT)
        assert blow.after[0] < 0
        assert blow.after[2] == pytest.approx(80.0 - change / (0.4 * self.r), rel=EXACT)


def rod(angle, mu, e, law):
    """A thin rod of mass 1 and length 2 at an angle to the floor, its lower end in contact. G by hand: with J = 1/3,
    G_NN = 1 + 3 cos², G_TT = 1 + 3 sin², G_TN = 3 sin cos for an end at −(cos, sin).
    """
    c, s = np.cos(angle), np.sin(angle)
    floor = meeting("floor", [0, 1, -c], [[1, 0, s]], mu, e, law)
    return floor, np.diag([1, 1, 1 / 3]), 1 + 3 * c * c, 1 + 3 * s * s, -3 * s * c


class TestRod:
    def slip_then(self, mu, v, e=0.5):
        """Routh's diagram by hand: sliding at u_T > 0 stops at p_s, then sticks or slips back."""
        floor, M, n, t, k = rod(1.0, mu, e, "poisson")
        u = np.array([floor.normal @ v, (floor.tangents @ v)[0]])
        return floor, M, n, t, k, u

    def test_sticks_after_slipping(self):
        """μ = 0.9 > |G_TN|/G_TT = 0.436: after it stops, the ratio of the impulses is −G_TN/G_TT."""
        v = np.array([0.4, -1.0, 0.0])
        floor, M, n, t, k, u = self.slip_then(0.9, v)
        (blow,) = strike(M, NONE, [floor], v)
        stops = u[1] / (0.9 * t - k)
        rise = n - 0.9 * k, n - k * k / t
        compressed = stops + (-u[0] - rise[0] * stops) / rise[1]
        total = 1.5 * compressed
        friction = -0.9 * stops - k / t * (total - stops)
        assert blow.shares[0].state == "stick"
        assert blow.shares[0].impulse == pytest.approx([total, friction], rel=EXACT)
        assert floor.tangents @ blow.after == pytest.approx([0], abs=EXACT)

    def test_reverses(self):
        """μ = 0.2 < 0.436: after it stops it slips the other way, and friction has changed its sign."""
        v = np.array([0.3, -1.0, 0.0])
        floor, M, n, t, k, u = self.slip_then(0.2, v)
        (blow,) = strike(M, NONE, [floor], v)
        stops = u[1] / (0.2 * t - k)  # k < 0: sliding forward is slowed by the rod's turning as well
        rise = n - 0.2 * k, n + 0.2 * k
        compressed = stops + (-u[0] - rise[0] * stops) / rise[1]
        total = 1.5 * compressed
        assert 0 < stops < compressed
        assert blow.shares[0].state == "reversal"
        assert blow.shares[0].impulse == pytest.approx([total, -0.2 * stops + 0.2 * (total - stops)], rel=EXACT)
        assert (floor.tangents @ blow.after)[0] < 0 < u[1]

    def test_laws_differ_where_slip_reverses_and_stronges_loses_its_share(self):
        v = np.array([0.3, -1.0, 0.0])
        found = {}
        for law in LAWS:
            floor, M, n, t, k = rod(1.0, 0.2, 0.5, law)
            (blow,) = strike(M, NONE, [floor], v)
            found[law] = blow
        floor, M, n, t, k = rod(1.0, 0.2, 0.5, "stronge")
        u = np.array([floor.normal @ v, (floor.tangents @ v)[0]])
        assert found["newton"].shares[0].after[0] == pytest.approx(0.5, rel=EXACT)
        # Work of the normal impulse on the two pieces, by hand.
        stops, rise = u[1] / (0.2 * t - k), (n - 0.2 * k, n + 0.2 * k)
        at_stop = u[0] + rise[0] * stops
        took = stops * (u[0] + at_stop) / 2 - at_stop**2 / rise[1] / 2
        after = np.sqrt(0.25 * -took * 2 * rise[1])
        assert found["stronge"].shares[0].after[0] == pytest.approx(after, rel=EXACT)
        speeds = [found[law].shares[0].after[0] for law in LAWS]
        assert len({round(float(speed), 6) for speed in speeds}) == 3

    def test_static_friction_holds_more(self):
        """After it stops, μ_s = 0.5 > 0.436 holds what μ = 0.2 would let slip."""
        floor, M, *_ = rod(1.0, 0.2, 0.5, "newton")
        held = meeting("floor", floor.normal, floor.tangents, 0.2, 0.5, mu_static=0.5)
        (blow,) = strike(M, NONE, [held], np.array([0.3, -1.0, 0.0]))
        assert blow.shares[0].state == "stick"

    def test_steep_friction_first_presses_harder(self):
        """μ so large that the normal velocity falls while it slips (Painlevé's case): the slip stops, then it rises."""
        floor, M, n, t, k = rod(0.6, 3.0, 0.0, "newton")
        v = np.array([-0.5, -0.1, 0.0])
        assert n + 3.0 * k < 0
        (blow,) = strike(M, NONE, [floor], v)
        assert blow.shares[0].state == "stick"
        assert blow.shares[0].after == pytest.approx([0, 0], abs=EXACT)
        # Held at once, both velocities end with the same impulses.
        G = np.array([[n, k], [k, t]])
        assert blow.shares[0].impulse == pytest.approx(np.linalg.solve(G, -blow.shares[0].before), rel=EXACT)


def test_newtons_law_is_limited_where_it_would_make_energy():
    """Kane and Levinson 1985: two rods as a pendulum whose end strikes a rough floor. Newton's law with e alone made
    energy; here the end of a single rod does so as well, with slip that reverses.
    """
    rng = np.random.default_rng(4)
    limited = 0
    for _ in range(400):
        l1, l2 = rng.uniform(-1.4, 1.4, 2)
        # Double pendulum of unit rods: M by hand, the end at (sin l1 + sin l2, −cos l1 − cos l2).
        c = np.cos(l1 - l2) / 2
        M = np.array([[4 / 3, c], [c, 1 / 3]])
        normal, along = [np.sin(l1), np.sin(l2)], [[np.cos(l1), np.cos(l2)]]
        v = rng.normal(size=2)
        if np.dot(normal, v) >= 0:
            v = -v
        blows = {}
        for law in LAWS:
            (blow,) = strike(M, np.zeros((0, 2)), [meeting("floor", normal, along, 0.5, 0.9, law)], v)
            assert energy(M, blow.after) <= energy(M, v) * (1 + EXACT)
            blows[law] = blow
        newton = blows["newton"]
        if newton.limited:
            limited += 1
            assert newton.shares[0].after[0] < 0.9 * -newton.shares[0].before[0]
            assert energy(M, newton.after) == pytest.approx(energy(M, v), rel=1e-11)
        else:
            assert newton.shares[0].after[0] == pytest.approx(-0.9 * newton.shares[0].before[0], rel=1e-11)
        assert not blows["stronge"].limited
    assert limited > 5


class TestPlane:
    def unequal(self, law="newton", e=0.5, mu=0.3):
        rng = np.random.default_rng(8)
        B = rng.normal(size=(6, 6))
        M = B @ B.T + np.eye(6)
        J = rng.normal(size=(3, 6))
        return M, J, meeting("k", J[0], J[1:], mu, e, law)

    def fine(self, G, u, mu, p_end, steps=40_000):
        """The path by small steps of Heun's method over p: another integration, first in p and not in s."""
        u, friction = u.copy(), np.zeros(2)
        h = p_end / steps
        for _ in range(steps):
            one = -mu * u[1:] / np.linalg.norm(u[1:])
            there = u + h * G @ np.concatenate([[1.0], one])
            two = -mu * there[1:] / np.linalg.norm(there[1:])
            friction += h * (one + two) / 2
            u = u + h * G @ np.concatenate([[1.0], (one + two) / 2])
        return u, friction

    def test_the_direction_of_slipping_turns(self):
        M, J, contact = self.unequal()
        v = np.linalg.pinv(J) @ np.array([-1.0, 0.3, 0.5])
        (blow,) = strike(M, np.zeros((0, 6)), [contact], v)
        share = blow.shares[0]
        G = J @ np.linalg.solve(M, J.T)
        _, friction = self.fine(G, J @ v, 0.3, share.impulse[0])
        assert share.state == "slip"
        # Heun's method errs by about h² = 1e-9.
        assert share.impulse[1:] == pytest.approx(friction, rel=1e-7)
        before, after = share.before[1:], share.after[1:]
        turned = abs(before[0] * after[1] - before[1] * after[0]) / np.linalg.norm(before) / np.linalg.norm(after)
        assert turned > 0.05
        assert share.after[0] == pytest.approx(-0.5 * share.before[0], rel=1e-11)

    def test_slips_on_in_its_own_direction(self):
        """From rest under a blow that friction cannot hold: u_T grows along one ray, against which friction points."""
        M, J, contact = self.unequal(mu=0.05)
        v = np.linalg.pinv(J) @ np.array([-1.0, 0.0, 0.0])
        (blow,) = strike(M, np.zeros((0, 6)), [contact], v)
        share = blow.shares[0]
        assert share.state == "reversal"
        way = share.after[1:] / np.linalg.norm(share.after[1:])
        assert share.impulse[1:] == pytest.approx(-0.05 * share.impulse[0] * way, rel=1e-10)

    def test_a_ball_in_space_grips(self):
        """Any direction is as good as another: the closed form of the plane case in a turned frame."""
        r, c, s = 0.5, np.cos(0.7), np.sin(0.7)
        M = np.diag([2, 2, 2, *[0.4 * 2 * r * r] * 3])
        along = np.array([[1, 0, 0, 0, r, 0], [0, 1, 0, -r, 0, 0]], dtype=float)
        floor = meeting("floor", [0, 0, 1, 0, 0, 0], along, 0.9, 0.5)
        (blow,) = strike(M, np.zeros((0, 6)), [floor], np.array([3 * c, 3 * s, -2, 0, 0, 0]))
        assert blow.after[:3] == pytest.approx([15 / 7 * c, 15 / 7 * s, 1.0], rel=EXACT)


def test_friction_falls_with_the_speed():
    """μ = 0.1 + 0.3 exp(−u): du/dp = −μ(u)(7/2)/m on a ball, p from 0 to p₁: by separation of variables."""
    M = np.diag([1.0, 1.0, 0.4])
    mu = lambda s: 0.1 + 0.3 * np.exp(-s)  # noqa: E731
    floor = Meeting("floor", np.array([0, 1.0, 0]), 0.0, np.array([[1.0, 0, 1.0]]), np.zeros(1), mu, 0.4, 0.5)
    (blow,) = strike(M, NONE, [floor], np.array([4.0, -1.0, 0.0]))
    # ∫ du/(0.1 + 0.3 e^(−u)) = 10 ln(e^u + 3): e^u + 3 = (e^4 + 3) exp(−0.35 · 1.5)
    left = np.log((np.exp(4.0) + 3) * np.exp(-0.35 * 1.5) - 3)
    assert blow.shares[0].after == pytest.approx([0.5, left], rel=1e-10)


def test_surfaces_that_move():
    """A block falls on a belt at speed 2 with μ large: it leaves with the belt; the loss is that of relative motion."""
    floor = meeting("belt", [0, 1], [[1, 0]], 5.0, 0.5, drift=[-2.0])
    (blow,) = strike(np.eye(2), np.zeros((0, 2)), [floor], np.array([0.0, -1.0]))
    assert blow.after == pytest.approx([2.0, 0.5], rel=EXACT)
    assert blow.loss == pytest.approx((1 - 0.25) / 2 + 2.0**2 / 2, rel=EXACT)


def test_what_cannot_give_way_is_told():
    with pytest.raises(InconsistentConstraints, match=r"'stop': the impact jams"):
        strike(np.eye(2), np.array([[1.0, 0.0]]), [meeting("stop", [1, 0], offset=-1.0)], np.array([0.0, 1.0]))
    with pytest.raises(UndeterminedMotion, match="needs inertia in every direction"):
        strike(np.diag([1.0, 0.0]), np.zeros((0, 2)), [meeting("stop", [1, 0])], np.array([-1.0, 1.0]))


# -- several contacts


def balls(count, e, law="newton"):
    rows = np.eye(count)[1:] - np.eye(count)[:-1]
    return np.eye(count), np.zeros((0, count)), [meeting(f"{k}", row, e=e, law=law) for k, row in enumerate(rows)]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("count", [3, 5])
def test_newtons_cradle_in_sequence(count, law):
    v = np.eye(count)[0]
    blows = strike(*balls(count, 1.0, law), v, "sequence")
    assert len(blows) == count - 1
    assert blows[-1].after == pytest.approx(np.eye(count)[-1], abs=EXACT)


def test_two_balls_drive_two_out_in_sequence():
    blows = strike(*balls(4, 1.0), np.array([1.0, 1.0, 0, 0]), "sequence")
    assert blows[-1].after == pytest.approx([0, 0, 1, 1], abs=EXACT)


def test_three_balls_together_share_the_blow():
    """Both pairs part as they met: (−1/3, 2/3, 2/3), as Newton's law for both at once says."""
    (blow,) = strike(*balls(3, 1.0), np.array([1.0, 0, 0]))
    assert blow.after == pytest.approx([-1 / 3, 2 / 3, 2 / 3], rel=EXACT)


def test_the_order_of_the_user():
    """Two walls of a wedge, without restitution: what is taken first decides where the first blow ends."""
    M, A = np.eye(2), np.zeros((0, 2))
    walls = [meeting("a", [1, 0]), meeting("b", [0.6, 0.8])]
    v = np.array([-1.0, -1.0])
    first = strike(M, A, walls, v, ["b"])
    assert first[0].shares[0].name == "b"
    # b takes all across it: −1.4 (0.6, 0.8); then a stops what is left of x.
    assert first[0].after == pytest.approx([-1 + 1.4 * 0.6, -1 + 1.4 * 0.8], rel=EXACT)
    assert strike(M, A, walls, v, ["a", "b"])[0].shares[0].name == "a"


def test_blows_without_end_converge():
    """Two walls without restitution at 60°: each undoes part of the other, four times less each time. The limit is
    what both together give.
    """
    M, A = np.eye(2), np.zeros((0, 2))
    walls = [meeting("a", [1, 0]), meeting("b", [-0.5, np.sqrt(0.75)])]
    v = np.array([-0.1, -1.0])
    blows = strike(M, A, walls, v, "sequence")
    assert len(blows) > 10
    assert blows[-1].after == pytest.approx([0, 0], abs=1e-12)
    assert strike(M, A, walls, v)[-1].after == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_a_floor_stated_twice_is_one_floor(law):
    M = np.diag([2.0, 2.0, 0.2])
    floor = meeting("floor", [0, 1, 0], [[1, 0, 0.5]], 0.1, 0.8, law)
    again = meeting("again", [0, 1, 0], [[1, 0, 0.5]], 0.1, 0.8, law)
    v = np.array([3.0, -2.0, 0.0])
    (one,), (two,) = strike(M, NONE, [floor], v), strike(M, NONE, [floor, again], v)
    # Stronge's ratios are found by iteration, to 1e-12.
    assert two.after == pytest.approx(one.after, rel=1e-11)


def test_rocking_block():
    """Housner 1963: ω⁺/ω⁻ = 1 − 3/2 sin²α where the corner grips and the other lets go."""
    w, h = 0.3, 1.0
    M = np.diag([1, 1, (w * w + h * h) / 3])
    corners = [
        meeting("left", [0, 1, -w], [[1, 0, h]], 5.0),
        meeting("right", [0, 1, w], [[1, 0, h]], 5.0),
    ]
    # Turning about the left corner, clockwise, flat now: the centre at (w, h) from it.
    v = np.array([h, -w, -1.0])
    (blow,) = strike(M, NONE, corners, v)
    alpha = np.arctan(w / h)
    assert blow.after[2] == pytest.approx(-(1 - 1.5 * np.sin(alpha) ** 2), rel=EXACT)
    assert [share.state for share in blow.shares] == ["open", "stick"]


def test_box_on_four_corners_in_space():
    """Dropped flat while it slides: all corners slide the same way, and half of what each would take is none more."""
    corners = [(x, y) for x in (-1.0, 1.0) for y in (-0.5, 0.5)]
    M = np.diag([1, 1, 1, 0.4, 0.5, 0.6])
    found = []
    for k, (x, y) in enumerate(corners):
        # v + ω × (x, y, −0.1), the height made small so that none lifts
        normal = [0, 0, 1, y, -x, 0]
        along = [[1, 0, 0, 0, -0.1, -y], [0, 1, 0, 0.1, 0, x]]
        found.append(meeting(f"corner {k}", normal, along, 0.2, 0.0))
    v = np.array([1.0, 0.5, -1.0, 0, 0, 0])
    (blow,) = strike(M, np.zeros((0, 6)), found, v)
    way = np.array([1.0, 0.5]) / np.hypot(1, 0.5)
    assert blow.after[:3] == pytest.approx([*(v[:2] - 0.2 * way), 0.0], abs=1e-10)
    assert blow.after[3:] == pytest.approx(np.zeros(3), abs=1e-10)


def test_different_laws_do_not_strike_together():
    M, A = np.eye(2), np.zeros((0, 2))
    walls = [meeting("a", [1, 0], e=0.5), meeting("b", [0.6, 0.8], e=0.5, law="poisson")]
    with pytest.raises(InconsistentConstraints, match=r'different laws of impact.*"sequence"'):
        strike(M, A, walls, np.array([-1.0, -1.0]))


# -- any of them


def some(rng, law):
    n, count = int(rng.integers(3, 8)), int(rng.integers(1, 4))
    A = rng.normal(size=(1, n))
    A = np.vstack([A, 2 * A])  # stated twice
    B = rng.normal(size=(n, n - 1))
    M = B @ B.T  # singular, but not where A holds
    v = rng.normal(size=n)
    v -= np.linalg.pinv(A) @ (A @ v)
    found = []
    for k in range(count):
        d = int(rng.integers(0, 3))
        J, mu = rng.normal(size=(1 + d, n)), float(rng.uniform(0, 1.2))
        static = mu * float(rng.choice([1.0, 1.4]))
        found.append(meeting(f"k{k}", J[0], J[1:] if d else (), mu, float(rng.uniform(0, 1)), law, static))
    return M, A, found, v


def check(M, A, meetings, blow: Blow):
    by_name = {m.name: m for m in meetings}
    pushed = sum(by_name[s.name].rows().T @ s.impulse for s in blow.shares)
    jump = M @ (blow.after - blow.before) - pushed - A.T @ blow.constraint_impulses
    size = np.abs(pushed).max() + np.abs(M @ blow.before).max()
    # Rounding times the condition of random matrices.
    assert np.abs(jump).max() <= 1e-9 * size
    fastest = max(np.abs(blow.before).max(), np.abs(blow.after).max())  # what jams is at rest after it
    assert np.abs(A @ (blow.after - blow.before)).max() <= 1e-9 * np.abs(A).max() * fastest
    lost = energy(M, blow.before) - energy(M, blow.after)
    assert lost >= -1e-10 * energy(M, blow.before)
    assert blow.loss == pytest.approx(lost, abs=1e-9 * (energy(M, blow.before) + energy(M, blow.after)))
    for share in blow.shares:
        contact = by_name[share.name]
        p, friction = share.impulse[0], float(np.linalg.norm(share.impulse[1:]))
        assert p >= 0
        assert friction <= max(contact.mu(0.0), contact.mu_static) * p * (1 + 1e-9) + 1e-12 * size
        if share.path is None and blow.law == "newton" and contact.d:
            slid = float(np.linalg.norm(share.after[1:]))
            if slid > 1e-8 * np.abs(share.before).max():
                assert share.impulse[1:] == pytest.approx(
                    -contact.mu(slid) * p * share.after[1:] / slid, abs=1e-8 * size
                )
        if blow.law == "newton" and not blow.limited and p > 1e-9 * size and share.before[0] < 0:
            assert share.after[0] == pytest.approx(-share.e * share.before[0], abs=1e-8 * np.abs(share.before).max())


@pytest.mark.parametrize("order", ["together", "sequence"])
@pytest.mark.parametrize("law", LAWS)
def test_any_blow_obeys_its_laws(law, order):
    rng = np.random.default_rng(20)
    count = told = 0
    for _ in range(25):
        M, A, meetings, v = some(rng, law)
        try:
            blows = strike(M, A, meetings, v, order)
        except InconsistentConstraints as error:
            # No ratios may exist for Stronge's law together, and walls may all but face each other: it is told.
            told += "sequence" in str(error) or "without end" in str(error)
            continue
        count += 1
        for blow in blows:
            check(M, A, meetings, blow)
        after = blows[-1].after if blows else v
        assert min(m.normal @ after for m in meetings) >= -1e-9
    assert count >= 20
    assert count + told == 25


@pytest.mark.parametrize("order", ["sequence", ["left", "right"]])
@pytest.mark.parametrize("law", LAWS)
def test_elastic_blows_between_braced_contacts_end(law, order):
    """A ball that touches two walls goes to and fro for ever: its walls give nothing back, another floor does."""
    M, v = np.diag([2.0, 2.0]), np.array([1.5, -1.0])
    walls = [meeting("left", [1, 0], e=1.0, law=law), meeting("right", [-1, 0], e=1.0, law=law)]
    floor = meeting("floor", [0, 1], e=0.5, law=law)
    blows = strike(M, np.zeros((0, 2)), [*walls, floor], v, order)
    assert blows[-1].after == pytest.approx([0, 0.5], abs=EXACT)
    (last,) = (blow for blow in blows if blow.limited)
    assert {share.name for share in last.shares} == {"left", "right"}
    assert energy(M, last.before) - energy(M, last.after) == pytest.approx(1.5**2, rel=EXACT)


def test_blows_in_a_narrow_groove_end():
    """Walls at 0.01 to the vertical: without restitution each blow takes 2e-4 of what is left, in the end all of it."""
    a = 0.01
    walls = [meeting(name, [way * np.cos(a), np.sin(a)], e=0.3) for name, way in (("left", 1), ("right", -1))]
    blows = strike(np.eye(2), np.zeros((0, 2)), walls, np.array([0.5, -1.0]), "sequence")
    assert blows[-1].after == pytest.approx([0, 0], abs=EXACT)
    assert len(blows) < 10_000


def test_blows_in_sequence_without_an_end_are_not_told_to_go_in_sequence(monkeypatch):
    """Where the blow together that should end them has no impulses, its own advice would be what was just done."""

    def none(*_):
        raise InconsistentConstraints('no impulses: impacts = "sequence" takes them one after the other')

    monkeypatch.setattr(impact_on_arrays, "together", none)
    walls = [meeting(name, [way, 0], e=1.0) for name, way in (("left", 1), ("right", -1))]
    with pytest.raises(InconsistentConstraints, match=r"'left', 'right' follow each other without end") as told:
        strike(np.eye(2), np.zeros((0, 2)), walls, np.array([1.5, 0.0]), "sequence")
    assert "takes them" not in str(told.value)

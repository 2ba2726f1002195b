"""Blows without a collision: impulses that go with each other, and the work of several at one instant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.contacts.impacts import caught
from dalembert.motion.contacts.impacts.blow_values import Meeting
from dalembert.motion.contacts.impacts.impacts import Impact
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.run.transitions import Transitions


def test_what_a_contact_cannot_pull_it_does_not_rub_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of impulses over a moment and over a tenth of it what does not shrink is the blow; a contact whose impulse
    shrinks faster than the moment is left with less than none. Velocities and losses are those of the others.
    """
    found = iter([np.array([1.0, 1.0]), np.array([1.0, 0.05])])
    monkeypatch.setattr(caught, "impulses_that_hold", lambda *given: next(found))
    M, v = np.diag([2.0, 3.0]), np.array([0.0, 1.0])
    wall = Meeting("wall", np.array([1.0, 0.0]), 0.0, np.array([[0.0, 1.0]]), np.zeros(1), lambda speed: 0.3, 0.3)
    side = Meeting("side", np.array([0.6, 0.8]), 0.0, np.array([[-0.8, 0.6]]), np.zeros(1), lambda speed: 0.3, 0.3)
    drives, no = [np.array([-1.0, 0.5])] * 2, [False, False]
    blow = caught.over_a_moment(M, np.zeros((0, 2)), [wall, side], v, drives, no, no).blow
    assert blow is not None
    # Exact but for the rounding of some products of numbers of one.
    np.testing.assert_allclose(blow.shares[0].impulse, [1.0, -0.3], rtol=1e-14)
    assert not blow.shares[1].impulse.any()
    np.testing.assert_allclose(M @ (blow.after - v), [1.0, -0.3], rtol=1e-14)
    for share, meeting in zip(blow.shares, (wall, side), strict=True):
        np.testing.assert_allclose(share.after, meeting.rows() @ blow.after, rtol=1e-14)
    assert blow.loss == pytest.approx((v @ M @ v - blow.after @ M @ blow.after) / 2, rel=1e-14)


def test_two_catches_at_one_instant() -> None:
    """The work of both is counted, and what settling before and after them takes."""
    system = da.System(
        "block", coordinates="x y", kinetic="x'^2 + y'^2", constraints=[da.Constraint("floor", "y >= 0")],
        nonideal=[da.Coulomb("floor", mu=0.3, slide="x'")], initial={"x": 0, "y": 0, "x'": 0, "y'": 0},
    )  # fmt: skip
    between, q = Transitions(Contacts(system)), np.zeros(2)
    speeds = [np.array([u, 0.0]) for u in (8.0, 7.0, 4.0, 3.0, 1.0, 0.5)]  # settled, caught, settled, caught, settled

    def catch(before: Any, after: Any) -> Impact:
        return Impact(0.0, "newton", q, before, after, (), np.zeros(0), False)

    between.take_catch(catch(*speeds[1:3]))
    between.take_catch(catch(*speeds[3:5]))
    work = between.work_after_settling(0.0, q, speeds[0], speeds[-1], between.ledger.empty())
    # T = ẋ²: settling loses the square of what it takes, and blows without contacts nothing.
    assert [blow.left_out for blow in between.impacts] == pytest.approx([1.0, 1.0 + 0.25])
    assert work[:3].sum() == pytest.approx(0.5**2 - 8**2)
    assert work[-1] == pytest.approx(1.0 + 1.0 + 0.25)
    assert not between.caught

"""Forces against the limits of contacts at rest, at all points at once: closed forms, and point by point."""

from __future__ import annotations

import numpy as np
import pytest

from dalembert.motion.certificate.held_friction import beyond_limits

WHOLE = np.ones((1, 1), dtype=bool)


def test_a_contact_along_a_line() -> None:
    """A unit force has the effect (3, 4), of length 5: along it, force over length against the limit."""
    units = np.array([3.0, 4.0, 0.0])[None, :, None]
    for share, limit in ((0.7, 1.0), (-1.5, 1.0)):
        force = share * units[:, :, 0]
        (found,) = beyond_limits(units, force, [slice(0, 1)], WHOLE, np.array([[limit]]), 1.0)
        assert found == pytest.approx(max(5 * (abs(share) - limit), 0.0), abs=1e-14)
    # Across it, and on a coordinate it does not touch, nothing is held.
    (across,) = beyond_limits(units, np.array([[-4.0, 3.0, 0.0]]), [slice(0, 1)], WHOLE, np.array([[9.0]]), 1.0)
    assert across == pytest.approx(4.0)
    (beside,) = beyond_limits(units, np.array([[0.0, 0.0, 2.0]]), [slice(0, 1)], WHOLE, np.array([[9.0]]), 1.0)
    assert beside == 2.0
    # One that is not at rest holds nothing at all.
    (moving,) = beyond_limits(units, np.array([[3.0, 4.0, 0.0]]), [slice(0, 1)], ~WHOLE, np.array([[9.0]]), 1.0)
    assert moving == 4.0


def test_three_components_in_a_plane_have_a_round_cone() -> None:
    """Three directions at 120 degrees span a plane. The limit is on the length in it, not on components."""
    angles = np.arange(3) * 2 * np.pi / 3
    units = np.sqrt(2 / 3) * np.array([np.cos(angles), np.sin(angles)])[None]
    for way in np.linspace(0, np.pi, 7):
        force = 1.3 * np.array([[np.cos(way), np.sin(way)]])
        (found,) = beyond_limits(units, force, [slice(0, 3)], WHOLE, np.array([[1.0]]), 1.0)
        assert found == pytest.approx(0.3, abs=1e-12)


def test_contacts_that_share_a_coordinate_hold_together() -> None:
    """Two on one coordinate hold up to the sum of their limits; beyond it, each misses half of the rest."""
    units, both = np.ones((1, 1, 2)), np.ones((1, 2), dtype=bool)
    components = [slice(0, 1), slice(1, 2)]
    for force, beyond in ((2.9, 0.0), (3.4, 0.2)):
        (found,) = beyond_limits(units, np.array([[force]]), components, both, np.array([[1.0, 2.0]]), 1.0)
        # Sharing equally, the first would be beyond its limit: a cone programme finds another choice, to its accuracy.
        assert found == pytest.approx(beyond, abs=1e-7)


def test_all_points_at_once_are_as_each_by_itself() -> None:
    """Contacts along lines and in planes, some on the same coordinates, resting at some points and not at others."""
    rng = np.random.default_rng(3)
    T, n = 40, 7
    components = [slice(0, 1), slice(1, 4), slice(4, 5), slice(5, 6)]
    touched = np.zeros((n, 6))
    touched[:2, 0], touched[2:5, 1:4], touched[4:6, 4], touched[6, 5] = 1, 1, 1, 1
    units = rng.normal(size=(T, n, 6)) * touched
    units[:, 2:5, 3] = units[:, 2:5, 1] - units[:, 2:5, 2]  # of three directions two count
    force, limits = rng.normal(size=(T, n)), rng.uniform(0.2, 2.0, (T, 4))
    holding = rng.random((T, 4)) < 0.7
    found = beyond_limits(units, force, components, holding, limits, 1.0)
    alone = [
        beyond_limits(units[k : k + 1], force[k : k + 1], components, holding[k : k + 1], limits[k : k + 1], 1.0)[0]
        for k in range(T)
    ]
    assert found == pytest.approx(alone, rel=1e-12)
    assert (found > 0.1).any()

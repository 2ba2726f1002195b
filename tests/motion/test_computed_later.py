"""Forces and certificate are computed when asked for, once, and everything works as if they had been there."""

from __future__ import annotations

import copy
import pickle
import threading
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from sample_systems import pendulum, sliding, x

import dalembert as da
from dalembert.motion.result.motion import AT_POINTS, COMPUTED, Motion

system = pendulum()


def fresh() -> Motion:
    return system.simulate(1, samples=11)


def test_nothing_is_computed_before_it_is_asked_for():
    motion = fresh()
    assert not COMPUTED & vars(motion).keys()
    assert (motion.timing.forces_s, motion.timing.certify_s) == (0.0, 0.0)
    assert motion.a is motion.a
    assert set(AT_POINTS) <= vars(motion).keys()
    assert "certificate" not in vars(motion)
    assert motion.timing.forces_s > 0
    assert motion.timing.certify_s == 0.0
    assert motion.certificate is motion.certificate
    assert motion.timing.certify_s > 0
    assert motion.warnings == ()
    assert "_later" not in vars(motion)  # nothing is left to be computed


def test_what_tells_of_a_motion_has_its_certificate_and_the_time_it_took():
    values = fresh().to_dict()
    assert values["certificate"]["holds"]
    assert values["timing"]["certify_s"] > 0
    assert values["timing"]["forces_s"] > 0
    assert "certificate holds" in repr(fresh())


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda motion: pickle.loads(pickle.dumps(motion))])
def test_copies_are_complete(way):
    motion, other = fresh(), way(fresh())
    assert vars(other).keys() >= COMPUTED
    assert "_later" not in vars(other)
    np.testing.assert_array_equal(other.a, motion.a)
    assert other.certificate == motion.certificate


def test_replacing_a_part_keeps_the_others(tmp_path: Path):
    motion = replace(fresh(), a=np.zeros((11, 2)))
    assert not motion.a.any()
    assert motion.certificate.holds  # that of before, until it is measured anew
    assert not motion.certified().certificate.holds
    fresh().save(tmp_path / "swing.nc")
    loaded = Motion.load(tmp_path / "swing.nc")
    assert loaded.certificate == fresh().certificate
    assert {f.name for f in fields(Motion)} <= vars(loaded).keys()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = loaded.nothing


def test_states_changed_by_hand_are_what_is_certified():
    motion = fresh()
    _ = motion.a
    motion.q[5] *= 1.001
    assert "position" in motion.certificate.failures


def test_threads_that_ask_at_once_find_the_same():
    motion, found = fresh(), []
    threads = [threading.Thread(target=lambda: found.append(motion.certificate)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(one == found[0] for one in found)


def test_a_last_point_without_a_value_is_told_at_once():
    # Falls into the centre, where the force has no value, in just the time it is given.
    with pytest.raises(da.MotionFailed) as caught:
        da.System("fall", coordinates=[x], kinetic=x.d**2 / 2, forces={x: -1 / x**2}, initial={x: 1, x.d: 0}).simulate(
            2
        )
    assert caught.value.motion is not None
    assert np.isfinite(caught.value.motion.a).all()


def test_contacts_have_their_forces_at_once():
    motion = sliding().simulate(0.1, samples=5)
    assert motion.C is not None or not motion.system.contacts
    assert motion.certificate.holds
    assert motion.timing.forces_s > 0

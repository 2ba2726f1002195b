"""The instants of motions with contacts in C: those that NumPy finds mode by mode."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.graph.contacts import contact_graph
from dalembert.kernel.ready.contact_states import contact_states, unit_forces
from dalembert.kernel.ready.modes import modes_of
from dalembert.motion.certificate.again_in_modes import (
    CONVERGES,
    MOST_STEPS,
    RICHARDSON,
    by_halving,
    runge_kutta,
)
from dalembert.motion.contacts.modes import contacts as module
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK, Mode
from dalembert.motion.contacts.modes.regular import SPREAD
from dalembert.motion.result.motion import Motion


@pytest.fixture(scope="module")
def motion() -> Motion:
    return da.library.thrown_block().simulate(samples=41)


def modes_along(contacts: Contacts, count: int) -> list[Mode]:
    """All that a contact may do, one after the other, whether it would or not."""
    one, gates = len(contacts.contacts), len(contacts.one_sided)
    every = [
        Mode((OPEN,) * one, (1,) * one, (1,) * one, (False,) * gates),
        Mode((SLIP,) * one, (1,) * one, (1,) * one, (True,) * gates),
        Mode((SLIP,) * one, (-1,) * one, (1,) * one, (True,) * gates),
        Mode((STICK,) * one, (1,) * one, (1,) * one, (True,) * gates),
    ]
    return [every[k % 4] for k in range(count)]


def test_c_and_numpy_agree_in_every_mode(motion: Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    contacts = Contacts(motion.system)
    modes = modes_along(contacts, motion.t.size)
    assert modes_of(contacts.evaluation(modes[0]).graph) is not None  # it is this road that is looked at
    found = contacts._eliminated(modes, motion.q, motion.v, motion.t)
    monkeypatch.setattr(module, "modes_of", lambda _: None)
    wanted = contacts._eliminated(modes, motion.q, motion.v, motion.t)
    assert found is not None
    assert wanted is not None
    for name, values in vars(wanted).items():
        # Rounding of numbers of size ten.
        np.testing.assert_allclose(getattr(found, name), values, rtol=1e-12, atol=1e-12, err_msg=name)
    assert found.served.all()


def test_stretches_are_those_of_numpy(motion: Motion) -> None:
    contacts = Contacts(motion.system)
    modes, y = modes_along(contacts, motion.t.size), np.concatenate([motion.q, motion.v], axis=1)
    p, length, n = contacts.mode_parameters(modes), np.linspace(0.1, 0.3, motion.t.size), motion.q.shape[1]

    def slope(_: np.ndarray, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        a = contacts.accelerations(modes, y[:, :n], y[:, n:], t)
        assert a is not None
        return np.concatenate([y[:, n:], a], axis=1)

    wanted = runge_kutta(slope, np.arange(motion.t.size), motion.t, y, length, 3)
    found = contacts.stretches(modes, p, motion.t, y, length, 3)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)  # rounding
    y[5, 0] = np.nan
    found = contacts.stretches(modes, p, motion.t, y, length, 3)
    assert found is not None
    assert np.isfinite(np.delete(found, 5, axis=0)).all()
    assert not np.isfinite(found[5]).all()


def test_halving_is_that_of_numpy(motion: Motion) -> None:
    """Of stretches that ask for few and for many steps, one that has none, and one that is lost on the way."""
    contacts, B = Contacts(motion.system), motion.t.size
    modes, y = modes_along(contacts, B), np.concatenate([motion.q, motion.v], axis=1)
    p, length, n = contacts.mode_parameters(modes), np.linspace(0.0, 1.0, B), motion.q.shape[1]
    y[5, n:] = np.nan
    wanted, least = np.geomspace(1e-3, 1e-12, B)[:, None] * np.ones(2 * n), np.where(np.arange(B) % 3, 0.0, 5.0)

    def advance(some: np.ndarray, t: np.ndarray, y: np.ndarray, length: np.ndarray, steps: int) -> np.ndarray:
        found = contacts.stretches(modes, p[some], t, y, length, steps)
        assert found is not None
        return found

    by_numpy = by_halving(advance, np.arange(B), motion.t, y, length, wanted, least)
    by_c = contacts.stretches_by_halving(
        modes[0], p, motion.t, y, length, wanted, least, (MOST_STEPS, RICHARDSON, CONVERGES)
    )
    assert by_c is not None
    end, allowed, judged, lost = by_c
    assert (judged == by_numpy[2]).all()
    assert (lost == by_numpy[3]).all()
    assert lost.tolist() == [k == 5 for k in range(B)]
    assert judged.sum() > B // 2
    np.testing.assert_array_equal(end[judged], by_numpy[0][judged])
    np.testing.assert_array_equal(allowed[judged], by_numpy[1][judged])


def test_singular_points_are_not_served(motion: Motion) -> None:
    """Where pivots may not lie apart at all, no point is served; the others stay as they were."""
    contacts = Contacts(motion.system)
    modes = modes_along(contacts, motion.t.size)
    own = modes_of(contacts.evaluation(modes[0]).graph)
    assert own is not None
    p = contacts.mode_parameters(modes)
    found = own.solve(motion.q, motion.v, motion.t, p, 1.1)
    assert found is not None
    assert not found.served.any()
    assert np.isnan(found.acceleration).all()
    found = own.solve(motion.q, motion.v, motion.t, p, SPREAD)
    assert found is not None
    assert found.served.all()


def test_contact_states_are_those_of_casadi(motion: Motion) -> None:
    graph, p = contact_graph(motion.system), motion.system.parameter_values()
    given = (motion.q, motion.v, motion.a, motion.t)
    many = np.tile(p, (motion.t.size, 1))
    for parameters in (p, many):
        found = contact_states(graph, *given, parameters, motion.multipliers)
        for name, values in vars(graph.along(*given, parameters, motion.multipliers)).items():
            np.testing.assert_allclose(getattr(found, name), values, rtol=1e-13, atol=1e-13, err_msg=name)
    units = graph.unit_forces_along(motion.q, motion.v, motion.t, p)
    np.testing.assert_allclose(unit_forces(graph, motion.q, motion.v, motion.t, p), units, rtol=1e-13, atol=1e-13)

"""Where all modes are looked through, they are solved together first, and those that are clearly wrong left out."""

from __future__ import annotations

import numpy as np
import pytest
from test_wedged_piles import wedged

from dalembert.errors import DalembertError
from dalembert.motion.contacts.decide import decide
from dalembert.motion.contacts.decide.agreement import agrees
from dalembert.motion.contacts.decide.sifting import FEWEST, not_clearly_wrong
from dalembert.motion.contacts.modes.many_modes import many_modes


@pytest.mark.parametrize(("kind", "seed", "duration"), [("box", 9, 1.0)])
def test_many_modes_are_solved_as_one_by_one_and_none_that_agrees_is_left_out(monkeypatch, kind, seed, duration):
    seen = {"modes": 0, "left": 0, "solved": 0}

    def looked_at(here, modes):
        modes = list(modes)
        left = list(not_clearly_wrong(here, modes))
        seen["modes"] += len(modes)
        seen["left"] += len(left)
        found = many_modes(here.contacts, modes, here.q, here.v, here.t) if len(modes) >= FEWEST else None
        for k, mode in enumerate(modes):
            try:
                s = decide.solve_mode(here.contacts, mode, here.q, here.v, here.t)
            except DalembertError:
                continue
            if agrees(here.contacts, mode, s, here.stopped, here.touching):
                assert mode in left
            if found is not None and found.served[k] and not s.undetermined:
                # The same equations by the same elimination, but for the spread of pivots, 1e10, that it takes.
                size = np.abs(s.acceleration).max()
                np.testing.assert_allclose(found.acceleration[k], s.acceleration, atol=1e-6 * size)
                seen["solved"] += 1
        return left

    monkeypatch.setattr(decide, "not_clearly_wrong", looked_at)
    assert wedged(seed, kind).simulate(duration, rtol=1e-8, samples=51).certificate.holds
    assert seen["modes"] > 1000
    assert seen["solved"] > 500
    assert seen["left"] < seen["modes"] / 10

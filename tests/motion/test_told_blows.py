"""What a motion tells of its blows, changed in right motions: the certificate fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.certificate.certify import certify

Wrong = Callable[[da.Motion], da.Motion]


def rough() -> da.System:
    """A ball that bounces and spins on a rough floor, and grips at its second blow."""
    return da.System(
        "ball",
        coordinates="x y a",
        kinetic="x'^2 + y'^2 + 0.004*a'^2",
        potential="19.62*y",
        constraints=[da.Constraint("floor", "y - 0.1 >= 0", restitution=0.7)],
        nonideal=[da.Coulomb("floor", 0.1, slide=["x' + 0.1*a'"])],
        initial={"x": 0, "y": 1, "a": 0, "x'": 1, "y'": 0, "a'": 5},
    )


def smooth() -> da.System:
    """Between a slope and a wall, without friction: the kernel goes through its bounces by itself."""
    return da.System(
        "particle",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints=[
            da.Constraint("slope", "y >= 0.1*x", restitution=0.8),
            da.Constraint("wall", "x <= 2", restitution=0.5),
        ],
        initial={"x": 0, "y": 1, "x'": 1, "y'": 0},
    )


def together() -> da.System:
    """A disc that falls with spin into a rough groove: blows of one contact and of both."""
    walls = {"left": ("0.6*x + 0.8*y >= 0.2", "0.8*x' - 0.6*y' + 0.2*a'")}
    walls["right"] = ("0.8*y - 0.6*x >= 0.2", "0.8*x' + 0.6*y' + 0.2*a'")
    return da.System(
        "groove",
        coordinates="x y a",
        kinetic="(x'^2 + y'^2)/2 + 0.01*a'^2",
        potential="9.81*y",
        constraints=[da.Constraint(k, gap, restitution=0.6, impact="poisson") for k, (gap, _) in walls.items()],
        nonideal=[da.Coulomb(k, 0.3, slide=[slide]) for k, (_, slide) in walls.items()],
        initial={"x": 0, "y": 1, "a": 0, "x'": 0, "y'": 0, "a'": 6},
    )


@pytest.fixture(scope="module")
def motions() -> dict[str, da.Motion]:
    made = {"rough": rough().simulate(1.5, samples=31), "smooth": smooth().simulate(2.5, samples=31)}
    return {**made, "together": together().simulate(1.0, samples=31)}


def blow(**changes: Any) -> Wrong:
    """The first blow changed."""

    def wrong(motion: da.Motion) -> da.Motion:
        first, *others = motion.blows
        made = {key: change(getattr(first, key)) for key, change in changes.items()}
        return replace(motion, blows=(replace(first, **made), *others))

    return wrong


def named(state: str) -> Wrong:
    return blow(contacts=lambda contacts: (replace(contacts[0], state=state), *contacts[1:]))


def event(change: Callable[[Mapping[str, Any]], list[Any]]) -> Wrong:
    """The first event of a blow, and what becomes of it."""

    def wrong(motion: da.Motion) -> da.Motion:
        k = next(k for k, event in enumerate(motion.events) if "impulse" in event)
        return replace(motion, events=(*motion.events[:k], *change(motion.events[k]), *motion.events[k + 1 :]))

    return wrong


def elsewhere(told: Mapping[str, Any], name: str) -> list[Any]:
    return [{**told, "state": {**told["state"], name: told["state"][name] * 1.01 + 0.01}}]


def lost_too_much_once(motion: da.Motion) -> da.Motion:
    """More than a hundredth of it, at one output."""
    loss = motion.impact_loss.copy()
    loss[loss.size // 2] += 0.02 * loss[-1]
    return replace(motion, impact_loss=loss)


def blow_in_the_air(motion: da.Motion) -> da.Motion:
    """One more, in which nothing happens, at the highest place after the first blow."""
    first = motion.blows[0]
    k = int(np.argmax(np.where(motion.t > first.t, motion["y"], -np.inf)))
    contacts = tuple(
        replace(own, normal=0.0, friction=0 * own.friction, compression=0.0, loss=0.0, state="open", pieces=(),
                compression_friction=0 * own.friction) for own in first.contacts
    )  # fmt: skip
    v, own = motion.v[k], {"contacts": contacts, "constraint_impulses": 0 * first.constraint_impulses}
    more = replace(first, t=float(motion.t[k]), q=motion.q[k], before=v, after=v, **own)
    return replace(motion, blows=tuple(sorted((*motion.blows, more), key=lambda blow: blow.t)))


WRONG: dict[str, Wrong] = {
    "another place": blow(q=lambda q: q + 0.01),
    "other names of what contacts did": named("open"),
    "slides told as smooth": named("smooth"),
    "one twice": lambda m: replace(m, blows=(m.blows[0], *m.blows)),
    "in another order": lambda m: replace(m, blows=(m.blows[1], m.blows[0], *m.blows[2:])),
    "in the air": blow_in_the_air,
    "without its event": event(lambda told: []),
    "with its event twice": event(lambda told: [told, told]),
    "an event in another place": event(lambda told: elsewhere(told, "y")),
    "an event with another speed": event(lambda told: elsewhere(told, "x'")),
    "a loss at one output": lost_too_much_once,
}


@pytest.mark.parametrize("which", ["rough", "smooth", "together"])
def test_what_blows_tell_wrongly_is_seen(motions, which):
    motion = motions[which]
    assert motion.certificate.holds, motion.certificate
    for what, wrong in WRONG.items():
        if (which, what) != ("smooth", "slides told as smooth"):
            assert not wrong(motion).certified().certificate.holds, what


def test_a_way_over_the_impulse_ends_its_compression_where_it_says(motions):
    half = blow(contacts=lambda own: (replace(own[0], compression_friction=own[0].compression_friction * 1.01),))
    assert half(motions["rough"]).certified().certificate.failures == ("impact",)


def test_an_output_just_at_a_blow_may_be_before_it_or_behind_it():
    """A motion that ends with its blow, and one that an output meets: what is lost is that of either side."""
    falls = np.sqrt(2 * 1.0 / 9.81)
    system = smooth().replace(initial={"x": 0, "y": 1, "x'": 0, "y'": 0})
    for times in ([0, falls], [0, falls / 2, falls, 1.5 * falls], [0, falls * (1 + 1e-15), 0.8]):
        assert system.simulate(times=times).certificate.holds


def test_a_guide_that_rubbed_is_told_as_that():
    """A bead on a rough oblique wire bounces off a stop."""
    motion = da.System(
        "bead",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        constraints=[da.Constraint("wire", "y - x/2"), da.Constraint("stop", "x >= -1", restitution=0.6)],
        nonideal=[da.Coulomb("wire", 0.3, point=["x", "y"])],
        initial={"x": 0, "y": 0, "x'": -1, "y'": -0.5},
    ).simulate(0.8, samples=9)
    assert motion.certificate.holds, motion.certificate
    (guide,) = motion.blows[0].guides
    wrong = blow(guides=lambda _: (replace(guide, state="stick"),))
    assert guide.state != "stick"
    assert wrong(motion).certified().certificate.failures == ("impact",)


def test_a_rough_contact_that_strikes_alone_tells_its_way():
    """Without it, a blow would be measured by its end alone, as those of several contacts are, by which any friction
    that ends a slip would do.
    """
    motion = rough().simulate(1.0, rtol=1e-9, samples=11)
    first, *others = motion.blows
    silent = replace(first, contacts=(replace(first.contacts[0], pieces=()),))
    assert certify(motion).holds
    assert not certify(replace(motion, blows=(silent, *others))).holds

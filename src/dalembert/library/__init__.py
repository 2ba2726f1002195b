"""Ready systems, most of them with a closed form: the papers' examples and classics of analytical
mechanics.

>>> import dalembert as da
>>> coin = da.library.penny(ratio=3)
>>> da.library.get("spherical-pendulum").coordinates
(x, y, z)
>>> bool(da.library.exact("penny")(coin, 3.0)["phi"] == 3.0)
True

Where a motion has a closed form, `exact(name)` is a function `(system, t) -> {"x": …, "x'": …, "ideal x":
…, …}` of arrays over the times t: coordinates, velocities, generalized constraint forces "ideal x" and
"nonideal x", and "multiplier NAME" where M q̈ = Q + C + Aᵀλ determines it; of systems of particles "reaction x_NAME",
as `da.liberate` tells it. Where the forces are known as
functions of the state, `forces(name)` is a function `(system, q, v, t)` with the same keys for the forces.
Both follow the system's parameters and initial state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from dalembert.errors import ModelError
from dalembert.library.closed_form import ClosedForm, cart_form, penny_form, skater_form
from dalembert.library.options import build_with
from dalembert.library.orbits import Orbit, OrbitFigure, penny_orbits
from dalembert.library.systems import appell_hamel as _appell_hamel
from dalembert.library.systems import benenti_rods as _benenti_rods
from dalembert.library.systems import bouncing_ball as _bouncing_ball
from dalembert.library.systems import cart as _cart
from dalembert.library.systems import hinged_rods as _hinged_rods
from dalembert.library.systems import incline as _incline
from dalembert.library.systems import isokinetic as _isokinetic
from dalembert.library.systems import leaving_sphere as _leaving_sphere
from dalembert.library.systems import liberated as _liberated
from dalembert.library.systems import pendulum as _pendulum
from dalembert.library.systems import penny as _penny
from dalembert.library.systems import prescribed_acceleration as _prescribed_acceleration
from dalembert.library.systems import quaternion_body as _quaternion_body
from dalembert.library.systems import redundant_double_pendulum as _redundant_double_pendulum
from dalembert.library.systems import rotating_hoop_bead as _rotating_hoop_bead
from dalembert.library.systems import satellite_pair as _satellite_pair
from dalembert.library.systems import skater as _skater
from dalembert.library.systems import sphere as _sphere
from dalembert.library.systems import stacked_blocks as _stacked_blocks
from dalembert.library.systems import stick_slip as _stick_slip
from dalembert.library.systems import thrown_block as _thrown_block
from dalembert.library.systems import upright_penny as _upright_penny
from dalembert.library.systems.appell_hamel import appell_fall, appell_hamel
from dalembert.library.systems.benenti_rods import benenti_rods
from dalembert.library.systems.bouncing_ball import bouncing_ball
from dalembert.library.systems.cart import cart
from dalembert.library.systems.hinged_rods import hinged_rods
from dalembert.library.systems.incline import incline_block, rough_incline
from dalembert.library.systems.isokinetic import isokinetic
from dalembert.library.systems.leaving_sphere import leaving_sphere
from dalembert.library.systems.liberated import liberated_pendulum, liberated_rods, liberated_sphere
from dalembert.library.systems.pendulum import moving_length_pendulum, pendulum
from dalembert.library.systems.penny import penny, quadratic_penny
from dalembert.library.systems.prescribed_acceleration import prescribed_acceleration
from dalembert.library.systems.quaternion_body import quaternion_body
from dalembert.library.systems.redundant_double_pendulum import redundant_double_pendulum
from dalembert.library.systems.rotating_hoop_bead import rotating_hoop_bead
from dalembert.library.systems.satellite_pair import satellite_pair
from dalembert.library.systems.skater import skater
from dalembert.library.systems.sphere import sphere_particle, spherical_pendulum
from dalembert.library.systems.stacked_blocks import stacked_blocks
from dalembert.library.systems.stick_slip import stick_slip
from dalembert.library.systems.thrown_block import thrown_block
from dalembert.library.systems.upright_penny import upright_penny
from dalembert.model.language.suggest import suggest
from dalembert.model.system import System

Exact = Callable[[System, np.ndarray], dict[str, np.ndarray]]
Forces = Callable[[System, np.ndarray, np.ndarray, np.ndarray], dict[str, np.ndarray]]


@dataclass(frozen=True)
class Example:
    """A system of the library: how to build it, what is known of it exactly, and one line about it."""

    build: Callable[..., System]
    summary: str
    exact: Exact | None = None
    forces: Forces | None = None
    closed_form: Callable[[], ClosedForm] | None = None


EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        "penny": Example(penny, "a penny rolling and turning on an incline", _penny.exact, closed_form=penny_form),
        "upright_penny": Example(
            upright_penny,
            "the same with its tilt held: the torque that keeps it upright",
            _upright_penny.exact,
            closed_form=lambda: penny_form("upright_penny"),
        ),
        "quadratic_penny": Example(
            quadratic_penny,
            "the same by a constraint quadratic in the velocities",
            _penny.exact_quadratic,
            closed_form=lambda: penny_form("quadratic_penny"),
        ),
        "skater": Example(skater, "a knife edge turning on an incline", _skater.exact, closed_form=skater_form),
        "cart": Example(cart, "two wheels on one axle rolling on an incline", _cart.exact, closed_form=cart_form),
        "benenti_rods": Example(
            benenti_rods, "two velocities that must stay parallel, and do so freely", _benenti_rods.exact
        ),
        "appell_hamel": Example(
            appell_hamel,
            "a nonlinear, time-dependent velocity constraint that brakes",
            forces=_appell_hamel.forces,
        ),
        "appell_fall": Example(
            appell_fall, "Appell's constraint with drag: a fall to terminal speed", _appell_hamel.exact_fall
        ),
        "incline_block": Example(incline_block, "a block on an oiled incline", _incline.exact),
        "rough_incline": Example(rough_incline, "a block sliding on a rough incline", _incline.exact_rough),
        "thrown_block": Example(
            thrown_block, "a block thrown up a rough incline: it stops, and stays or slides back", _thrown_block.exact
        ),
        "stick_slip": Example(stick_slip, "a mass on a spring that rides on a rough belt", _stick_slip.exact),
        "stacked_blocks": Example(
            stacked_blocks, "a block that slides on another and drags it along", _stacked_blocks.exact
        ),
        "bouncing_ball": Example(
            bouncing_ball, "a ball that bounces infinitely often and comes to rest", _bouncing_ball.exact
        ),
        "leaving_sphere": Example(
            leaving_sphere, "a particle that slides off a sphere and leaves it", _leaving_sphere.exact
        ),
        "sphere_particle": Example(
            sphere_particle, "a particle sliding off the top of a sphere", _sphere.exact, _sphere.forces
        ),
        "spherical_pendulum": Example(
            spherical_pendulum, "a pendulum swinging in space", _sphere.exact, _sphere.forces
        ),
        "pendulum": Example(pendulum, "the plane pendulum in Cartesian coordinates", _pendulum.exact),
        "moving_length_pendulum": Example(
            moving_length_pendulum, "a pendulum whose string is paid out", forces=_pendulum.forces
        ),
        "hinged_rods": Example(
            hinged_rods, "two hinged rods and the forces in their joints", forces=_hinged_rods.forces
        ),
        "liberated_sphere": Example(
            liberated_sphere, "a particle on a sphere in two angles, to be freed of it", _liberated.exact_sphere
        ),
        "liberated_pendulum": Example(
            liberated_pendulum, "a pendulum in its angle, to be freed of its rod", _liberated.exact_pendulum
        ),
        "liberated_rods": Example(
            liberated_rods, "two hinged rods as particles, to be freed of their joints", forces=_liberated.forces_rods
        ),
        "rotating_hoop_bead": Example(
            rotating_hoop_bead, "a bead on a spinning hoop", forces=_rotating_hoop_bead.forces
        ),
        "isokinetic": Example(
            isokinetic, "particles in a field at constant kinetic energy: a thermostat", _isokinetic.exact
        ),
        "redundant_double_pendulum": Example(
            redundant_double_pendulum,
            "a double pendulum with one rod stated twice",
            forces=_redundant_double_pendulum.forces,
        ),
        "quaternion_body": Example(
            quaternion_body,
            "a free rigid body in quaternions: a singular mass matrix",
            _quaternion_body.exact,
        ),
        "prescribed_acceleration": Example(
            prescribed_acceleration,
            "an acceleration of given size: a constraint nonlinear in it",
            _prescribed_acceleration.exact,
        ),
        "satellite_pair": Example(
            satellite_pair, "two satellites held on one radial line, and their thrusts", _satellite_pair.exact
        ),
    }
)


def names() -> tuple[str, ...]:
    """The names of all systems, those of one family together."""
    return tuple(EXAMPLES)


def example(name: str) -> Example:
    """The entry of a system; '-' may be written for '_' in its name."""
    found = EXAMPLES.get(str(name).replace("-", "_"))
    if found is None:
        raise ModelError("library", [f"no system {name!r}.{suggest(str(name).replace('-', '_'), EXAMPLES)}"])
    return found


def get(name: str, **options: Any) -> System:
    """A system by its name, built with the given options."""
    return build_with(name, example(name).build, options)


def exact(name: str) -> Exact | None:
    """The closed form of the motion, or None where there is none."""
    return example(name).exact


def closed_form(name: str) -> ClosedForm:
    """The motion as expressions in t and the parameters, (68) of Flannery 2011 for the penny and its relatives.

    >>> import dalembert as da
    >>> print(da.library.closed_form("penny")["x"])
    R'*sin(omega*t) + a*(1 - cos(2*omega*t))
    """
    found = example(name).closed_form
    if found is None:
        written = ", ".join(key for key, entry in EXAMPLES.items() if entry.closed_form is not None)
        raise ModelError(name, [f"its motion is not written in symbols, see library.exact; written are {written}"])
    return found()


def forces(name: str) -> Forces | None:
    """The constraint forces as functions of the state, or None where they are not written out."""
    return example(name).forces


def __getattr__(name: str) -> NoReturn:
    """Only asked for names that are not here."""
    raise AttributeError(f"the library has no {name!r}.{suggest(name, EXAMPLES)}")


def __dir__() -> list[str]:
    """What the tab key proposes: the systems, and no module that happens to be imported here."""
    return sorted(__all__)


# One by one: type checkers know what is exported from this list alone.
__all__ = [
    "EXAMPLES",
    "ClosedForm",
    "Example",
    "Orbit",
    "OrbitFigure",
    "appell_fall",
    "appell_hamel",
    "benenti_rods",
    "bouncing_ball",
    "cart",
    "closed_form",
    "exact",
    "example",
    "forces",
    "get",
    "hinged_rods",
    "incline_block",
    "isokinetic",
    "leaving_sphere",
    "liberated_pendulum",
    "liberated_rods",
    "liberated_sphere",
    "moving_length_pendulum",
    "names",
    "pendulum",
    "penny",
    "penny_orbits",
    "prescribed_acceleration",
    "quadratic_penny",
    "quaternion_body",
    "redundant_double_pendulum",
    "rotating_hoop_bead",
    "rough_incline",
    "satellite_pair",
    "skater",
    "sphere_particle",
    "spherical_pendulum",
    "stacked_blocks",
    "stick_slip",
    "thrown_block",
    "upright_penny",
]

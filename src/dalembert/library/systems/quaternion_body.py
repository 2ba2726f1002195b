"""A free rigid body in the four components of a quaternion, whose mass matrix is singular."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.library.elliptic import first_kind, jacobi, third_kind
from dalembert.library.values import values
from dalembert.model.drawings.shapes import Arrow, Box, Trace
from dalembert.model.system import System

# The angular velocity in the axes of the body, the vector part of 2 ē∘e' where e takes the body to space.
RATES = (
    "2*(e0*e1' - e1*e0' - e2*e3' + e3*e2')",
    "2*(e0*e2' - e2*e0' - e3*e1' + e1*e3')",
    "2*(e0*e3' - e3*e0' - e1*e2' + e2*e1')",
)


# A block of these edges has the moments I1, I2, I3 where a block can have them: a² ~ I2 + I3 − I1, …, at least a plate.
EDGES = tuple(
    f"sqrt(max({a} + {b} - {c}, 0.02*(I1 + I2 + I3)))"
    for a, b, c in (("I2", "I3", "I1"), ("I1", "I3", "I2"), ("I1", "I2", "I3"))
)
# The third axis of the body in space, out of which its tip draws a curve.
TIP = tuple(f"1.2*sqrt(I1 + I2)*({e})" for e in ("2*(e1*e3 + e0*e2)", "2*(e2*e3 - e0*e1)", "e0^2 - e1^2 - e2^2 + e3^2"))
DRAWING = [
    Trace(TIP, color="sky"),
    Box((0, 0, 0), EDGES, rotation=("e0", "e1", "e2", "e3"), color="orange"),
    Arrow((0, 0, 0), TIP, color="blue", label="axis 3"),
]


def quaternion_body(
    *,
    I1: float = 1.0,
    I2: float = 2.0,
    I3: float = 3.0,
    w1: float = 0.8,
    w2: float = 0.3,
    w3: float = 1.2,
) -> System:
    """A body with principal moments I1 < I2 < I3 and no forces on it.

    It starts at e = (1, 0, 0, 0) with the angular velocity (w1, w2, w3) in its own axes. M = 4EᵀIE has the
    null vector e; the constraint |e|² = 1 determines the motion in that direction.
    """
    kinetic = " + ".join(f"I{n}*({rate})^2/2" for n, rate in enumerate(RATES, 1))
    return System(
        "free rigid body in quaternions",
        coordinates="e0 e1 e2 e3",
        kinetic=kinetic,
        constraints={"unit": "e0^2 + e1^2 + e2^2 + e3^2 - 1"},
        parameters={"I1": I1, "I2": I2, "I3": I3, "w1": w1, "w2": w2, "w3": w3},
        initial={"e0": 1, "e1": 0, "e2": 0, "e3": 0, "e0'": 0, "e1'": "w1/2", "e2'": "w2/2", "e3'": "w3/2"},
        settings={"duration": 20.0, "samples": 401},
        draw=DRAWING,
        description=(
            "A body tumbling freely in space, with one coordinate too many. Its mass matrix cannot be "
            "inverted, and yet mass and constraint together determine the motion."
        ),
    )


@dataclass(frozen=True)
class _Tumbling:
    """Euler's equations solved: rates in the body, the amplitude, and the constants that the attitude
    needs.
    """

    rates: np.ndarray
    amplitude: np.ndarray
    first_amplitude: float
    speed: float
    k2: float
    sense: float
    about_third: bool


def body_rates(system: System, t: np.ndarray) -> np.ndarray:
    """The angular velocity in the body's axes, shape (…, 3), for I1 < I2 < I3.

    2T and L² are conserved. If L² > 2T·I2, then ω₁, ω₂, ω₃ go as cn, sn, dn; otherwise the axes 1 and 3
    change places. The steady rotations about an axis are left out: there the amplitudes vanish.
    """
    return _tumbling(values(system), np.asarray(t, dtype=float)).rates


def _start(known: dict[str, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Moments of inertia, the quaternion and the rates at the start."""
    inertia = np.array([known["I1"], known["I2"], known["I3"]])
    e = np.array([known[f"e{i}"] for i in range(4)])
    de = np.array([known[f"e{i}'"] for i in range(4)])
    return inertia, e, 2 * _product(_conjugate(e), de)[1:]


def _tumbling(known: dict[str, float], t: np.ndarray) -> _Tumbling:
    (i1, i2, i3), _, omega = _start(known)
    energy2 = i1 * omega[0] ** 2 + i2 * omega[1] ** 2 + i3 * omega[2] ** 2
    momentum2 = (i1 * omega[0]) ** 2 + (i2 * omega[1]) ** 2 + (i3 * omega[2]) ** 2
    high, low = energy2 * i3 - momentum2, momentum2 - energy2 * i1
    size1, size3 = np.sqrt(high / (i1 * (i3 - i1))), np.sqrt(low / (i3 * (i3 - i1)))
    about_third = momentum2 > energy2 * i2
    if about_third:
        size2 = np.sqrt(high / (i2 * (i3 - i2)))
        speed2, other = (i3 - i2) * low / (i1 * i2 * i3), (i2 - i1) * high / (i1 * i2 * i3)
        sense, cosine = np.sign(omega[2]), omega[0] / size1
    else:
        size2 = np.sqrt(low / (i2 * (i2 - i1)))
        speed2, other = (i2 - i1) * high / (i1 * i2 * i3), (i3 - i2) * low / (i1 * i2 * i3)
        sense, cosine = np.sign(omega[0]), omega[2] / size3
    k2, speed = other / speed2, np.sqrt(speed2)
    first = float(np.arctan2(sense * omega[1] / size2, cosine))
    sn, cn, dn, amplitude = jacobi(speed * (t - known["t"]) + first_kind(first, k2), k2)
    ends = (size1 * cn, sense * size3 * dn) if about_third else (sense * size1 * dn, size3 * cn)
    rates = np.stack([ends[0], sense * size2 * sn, ends[1]], axis=-1)
    return _Tumbling(rates, amplitude, first, speed, k2, sense, about_third)


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """The quaternion, its rate e' = e∘ω/2 and the constraint force 2λe; Me = 0 gives λ = −2T.

    In a frame with its third axis along the angular momentum, the zxz angles are known: cos θ = I₃ω₃/L, tan
    ψ = I₁ω₁/(I₂ω₂), and φ' = L/I₃ (1 + (2TI₃ − L²)/(L² − I₃²ω₃²)) integrates to an elliptic integral of the
    third kind. That frame is at rest, so e(t) = e(0)∘b(0)⁻¹∘b(t), b being the quaternion of these angles.
    """
    known = values(system)
    t = np.asarray(t, dtype=float)
    inertia, e0, omega0 = _start(known)
    energy2 = float(inertia @ omega0**2)
    b = _attitude(known, inertia, omega0, t)
    b0 = _attitude(known, inertia, omega0, np.array(known["t"]))
    e = _product(_product(e0, _conjugate(b0)), b)
    rates = body_rates(system, t)
    de = _product(e, np.concatenate([np.zeros_like(rates[..., :1]), rates], axis=-1)) / 2
    found = {"multiplier unit": np.full_like(t, -energy2)}
    for i in range(4):
        found |= {f"e{i}": e[..., i], f"e{i}'": de[..., i], f"ideal e{i}": -2 * energy2 * e[..., i]}
    return found


def _attitude(known: dict[str, float], inertia: np.ndarray, omega0: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The quaternion b(t) from the body to the frame of the angular momentum."""
    motion = _tumbling(known, t)
    i1, _, i3 = inertia
    energy2, momentum2 = inertia @ omega0**2, np.sum((inertia * omega0) ** 2)
    momentum = np.sqrt(momentum2)
    # L² − I₃²ω₃² = p + q sn²
    p = i1 * (energy2 * i3 - momentum2) / (i3 - i1)
    q = (momentum2 - p) * (motion.k2 if motion.about_third else 1.0)
    third, first = (third_kind(-q / p, am, motion.k2) for am in (motion.amplitude, motion.first_amplitude))
    phi = momentum / i3 * ((t - known["t"]) + (energy2 * i3 - momentum2) / (p * motion.speed) * (third - first))
    components = inertia * motion.rates
    theta = np.arctan2(np.hypot(components[..., 0], components[..., 1]), components[..., 2])
    psi = np.arctan2(components[..., 0], components[..., 1])
    # ψ follows the amplitude, or stays near ±π/2: this fixes its whole turns, and with them the sign of b
    near = np.pi / 2 - motion.sense * motion.amplitude if motion.about_third else motion.sense * np.pi / 2
    psi = psi + 2 * np.pi * np.round((near - psi) / (2 * np.pi))
    c, s = np.cos(theta / 2), np.sin(theta / 2)
    plus, minus = (phi + psi) / 2, (phi - psi) / 2
    return np.stack([c * np.cos(plus), s * np.cos(minus), s * np.sin(minus), c * np.sin(plus)], axis=-1)


def _conjugate(a: np.ndarray) -> np.ndarray:
    return a * np.array([1.0, -1.0, -1.0, -1.0])


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Quaternions a∘b, the components along the last axis."""
    a0, av, b0, bv = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    scalar = a0 * b0 - np.sum(av * bv, axis=-1, keepdims=True)
    return np.concatenate([scalar, a0 * bv + b0 * av + np.cross(av, bv)], axis=-1)

"""Large systems let down to rest, against closed forms and the way of small ones."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.motion.large import size as module

M, G = 1.3, 9.81


def points(count: int, dimensions: str = "xy") -> list[tuple[sp.Symbol, ...]]:
    names = " ".join(f"{d}{k}" for k in range(count) for d in dimensions)
    c = da.coordinates(names)
    return [tuple(c[len(dimensions) * k : len(dimensions) * (k + 1)]) for k in range(count)]


def hung(
    at: list[tuple[sp.Symbol, ...]], constraints: dict[str, sp.Expr], place: np.ndarray, **more: object
) -> da.System:
    """Equal masses under gravity along the last direction."""
    c = [q for point in at for q in point]
    return da.System(
        "hung",
        coordinates=c,
        kinetic=sp.Add(*(M * q.d**2 / 2 for q in c)),
        potential=sp.Add(*(M * G * point[-1] for point in at)),
        constraints=constraints,
        initial=dict(zip(c, np.asarray(place).ravel().tolist(), strict=True)) | {q.d: 0 for q in c},
        **more,  # type: ignore[arg-type]
    )


def apart(one: tuple[object, ...], other: tuple[object, ...]) -> sp.Expr:
    return sp.Add(*((p - q) ** 2 for p, q in zip(one, other, strict=True)))  # type: ignore[operator]


def chain(links: int, span: float) -> da.System:
    """Of unit links between two points of one height, begun as a V."""
    at = points(links)
    rods = {f"rod {k}": apart(at[k], at[k - 1] if k else (0, 0)) - 1 for k in range(links)}
    ends = {"end x": at[-1][0] - span, "end y": at[-1][1]}
    down = np.where(np.arange(links) < links // 2, -1.0, 1.0) * np.arccos(span / links)
    return hung(at, rods | ends, np.cumsum(np.stack([np.cos(down), np.sin(down)], axis=1), axis=0))


def test_a_chain_is_a_catenary():
    """Equal weights at the joints: tan of the angles rises evenly, by the weight over the horizontal pull."""
    links = 40
    (found,) = chain(links, 24.0).equilibrium()
    assert found.stability.verdict == "stable"
    assert found.determined
    x, y = (np.diff(np.concatenate([[0.0], found.q[k::2]])) for k in (0, 1))
    assert x**2 + y**2 == pytest.approx(np.ones(links), abs=1e-12)
    slope = y / x
    assert np.diff(slope) == pytest.approx(np.full(links - 1, np.diff(slope).mean()), rel=1e-9)
    pull = M * G / np.diff(slope).mean()
    # The force of a rod on its outer end is 2 λ (its direction), of length one: a tension T has λ = −T/2.
    assert -2 * found.multipliers[:links] == pytest.approx(pull / x, rel=1e-9)
    # Against the smooth catenary of this length and span, y = −a cosh(x/a) …, from which 40 links differ by 1/40².
    a = found_a(links, 24.0)
    assert found.q[1::2].min() == pytest.approx(a - np.sqrt(a**2 + (links / 2) ** 2), rel=2e-3)


def found_a(length: float, span: float) -> float:
    """2 a sinh(span/2a) = length."""
    low, high = 1e-2 * span, 1e3 * span
    for _ in range(200):
        a = np.sqrt(low * high)
        low, high = (a, high) if span / (2 * a) < 700 and 2 * a * np.sinh(span / (2 * a)) > length else (low, a)
        if span / (2 * a) >= 700:
            low, high = a, high
    return float(np.sqrt(low * high))


def chain_in_angles(links: int, span: float, begin: np.ndarray) -> da.System:
    """Held at its ends, in the angles of its links against the level."""
    a = da.coordinates(" ".join(f"a{k}" for k in range(links)))
    d = da.definitions(" ".join(f"x{k} y{k}" for k in range(links)))
    definitions, kinetic, potential = {}, [], []
    for k in range(links):
        before = (d[2 * k - 2], d[2 * k - 1]) if k else (0, 0)
        definitions[d[2 * k]], definitions[d[2 * k + 1]] = before[0] + sp.cos(a[k]), before[1] + sp.sin(a[k])
        kinetic.append(M * (d[2 * k].d ** 2 + d[2 * k + 1].d ** 2) / 2)
        potential.append(M * G * d[2 * k + 1])
    return da.System(
        "chain in angles", coordinates=list(a), definitions=definitions, kinetic=sp.Add(*kinetic),
        potential=sp.Add(*potential), constraints={"end x": d[-2] - span, "end y": d[-1]},
        initial=dict(zip(a, begin, strict=True)) | {q.d: 0 for q in a},
    )  # fmt: skip


@pytest.mark.parametrize(("size", "waves"), [(1.1, 2), (2.1, 2), (1.6, 1)])
def test_a_chain_that_begins_as_an_s_far_from_its_ends_hangs_as_a_catenary(size: float, waves: int):
    links, span = 80, 48.0
    along = (np.arange(links) + 0.5) / links
    (found,) = chain_in_angles(links, span, size * np.sin(waves * np.pi * along)).equilibrium()
    assert found.stability.verdict == "stable"
    assert np.all(np.cos(found.q) > 0)  # no link is turned back
    # A catenary of links: their tangents rise evenly, as the weight below does, and the ends are where they are held.
    # Residuals of 1e-9 of the weights, over a level pull of a third of them.
    tangents = np.tan(found.q)
    assert np.diff(tangents, 2) == pytest.approx(0.0, abs=1e-8)
    assert tangents == pytest.approx(-tangents[::-1], abs=1e-8)
    assert np.cos(found.q).sum() == pytest.approx(span, abs=1e-9)
    assert np.sin(found.q).sum() == pytest.approx(0.0, abs=1e-9)


def test_the_same_chain_in_angles_with_definitions():
    links, span = 70, 42.0
    down = np.where(np.arange(links) < links // 2, -1.0, 1.0) * np.arccos(span / links)
    (found,) = chain_in_angles(links, span, down).equilibrium()
    (other,) = chain(links, span).equilibrium()
    assert np.cumsum(np.cos(found.q)) == pytest.approx(other.q[::2], abs=1e-7)
    assert np.cumsum(np.sin(found.q)) == pytest.approx(other.q[1::2], abs=1e-7)
    assert found.stability.verdict == "stable"
    # The pull on the end is the same force in both, and the potential's slope in the angles is held by it.
    assert found.multipliers == pytest.approx(other.multipliers[-2:], rel=1e-7)
    below = np.arange(links, 0, -1)
    assert found.ideal == pytest.approx(M * G * below * np.cos(found.q), abs=1e-7 * M * G * links)


def test_a_suspension_bridge_hangs_in_a_parabola():
    """Equal loads at equal distances along the horizontal: the joints lie on a parabola, whatever the rods weigh."""
    count, sag = 40, 6.0
    x = np.arange(count + 2) - (count + 1) / 2
    y = sag * (x / x[-1]) ** 2
    at = points(count)
    nodes = [(x[0], y[0]), *at, (x[-1], y[-1])]
    lengths = np.diff(x) ** 2 + np.diff(y) ** 2
    rods = {f"rod {k}": apart(nodes[k + 1], nodes[k]) - lengths[k] for k in range(count + 1)}
    rng = np.random.default_rng(4)
    start = np.stack([x, y], axis=1)[1:-1] + 0.2 * rng.normal(size=(count, 2))
    system = hung(at, rods, start, forces={point[1]: -2.0 for point in at})
    (found,) = system.equilibrium()
    assert found.q.reshape(-1, 2) == pytest.approx(np.stack([x, y], axis=1)[1:-1], abs=1e-8)
    # Horizontal pull: load per length · span² / (8 sag), with the sag at the middle of a parabola through the joints.
    pull = (M * G + 2.0) * (2 * x[-1]) ** 2 / (8 * sag)
    assert -2 * found.multipliers * np.diff(x) == pytest.approx(np.full(count + 1, pull), rel=1e-8)


def test_a_net_hangs_from_its_edge():
    """Rods upright carry what is below them, rods across nothing; those along the held edge are one too many each."""
    side = 5
    at = dict(zip(np.ndindex(side, side), points(side * side, "xyz"), strict=True))
    rods = {
        f"rod {here} {there}": apart(at[here], at[there]) - 1
        for here in at
        for there in ((here[0] + 1, here[1]), (here[0], here[1] + 1))
        if there in at
    }
    held = {f"hold {j} {d}": q - v for j in range(side) for d, q, v in zip("xyz", at[0, j], (0, j, 0), strict=True)}
    tilted = np.array([(i * np.cos(0.4), j, -i * np.sin(0.4)) for i, j in at])
    system = hung(list(at.values()), rods | held, tilted)
    (found,) = system.equilibrium()
    assert found.q.reshape(-1, 3) == pytest.approx(np.array([(0, j, -i) for i, j in at]), abs=1e-7)
    assert not found.determined
    for i, j in at:
        if i:
            carried = M * G * (side - i)
            assert -2 * found.reactions[f"rod {(i - 1, j)} {(i, j)}"] == pytest.approx(carried, rel=1e-7)
        if j:
            assert found.reactions[f"rod {(i, j - 1)} {(i, j)}"] == pytest.approx(0.0, abs=1e-6 * M * G)
    assert found.stability.verdict == "stable"


def test_an_upright_chain_rests_and_would_fall():
    at = points(40)
    rods = {f"rod {k}": apart(at[k], at[k - 1] if k else (0, 0)) - 1 for k in range(40)}
    system = hung(at, rods, np.stack([np.zeros(40), np.arange(1.0, 41.0)], axis=1))
    (found,) = system.equilibrium()
    assert found.stability.verdict == "unstable"
    assert 2 * found.multipliers == pytest.approx(M * G * np.arange(40, 0, -1), rel=1e-9)


def test_small_systems_by_both_ways(monkeypatch: pytest.MonkeyPatch):
    system = chain(6, 4.0)
    (small,) = system.equilibrium()
    monkeypatch.setattr(module, "LARGE", 4)
    (large,) = system.equilibrium()
    assert large.q == pytest.approx(small.q, abs=1e-9)
    assert large.multipliers == pytest.approx(small.multipliers, rel=1e-9)
    assert large.ideal == pytest.approx(small.ideal, rel=1e-9, abs=1e-9)
    assert large.stability.verdict == small.stability.verdict == "stable"
    assert set(large.forces) == set(small.forces)
    assert large.forces["rod 0"] == pytest.approx(small.forces["rod 0"], abs=1e-9)


def test_a_rigid_cantilever_rests_as_it_is():
    """As many rods as coordinates, held at one end: the forces in them follow joint by joint, from the free end. Its
    long lever makes constraints depend on each other almost.
    """
    bays = 24
    at = points(2 * bays)
    places = np.array([(k // 2 + 1, k % 2) for k in range(2 * bays)], dtype=float)
    lower, upper = [(0, 0), *at[::2]], [(0, 1), *at[1::2]]
    rods = {}
    for k in range(bays):
        ends = (
            (lower[k], lower[k + 1]),
            (upper[k], upper[k + 1]),
            (lower[k + 1], upper[k + 1]),
            (upper[k], lower[k + 1]),
        )
        rods |= {f"{kind} {k}": apart(*two) for kind, two in zip(("low", "top", "post", "brace"), ends, strict=True)}
    rods = {name: length - (2 if name.startswith("brace") else 1) for name, length in rods.items()}
    (rest,) = hung(at, rods, places).equilibrium()
    np.testing.assert_allclose(rest.q, places.ravel(), atol=1e-12)  # rounding of places up to 24
    weight = M * G
    for k in range(bays):
        beyond = bays - k  # bays that hang on this one, each of two masses
        # Forces on masses are the multipliers times twice the lengths. A cut through a bay: the brace carries all
        # weights beyond; moments about the foot of its post give the upper rod, about its own head the lower one.
        found = {kind: 2 * rest.multipliers[list(rods).index(f"{kind} {k}")] for kind in ("low", "top", "brace")}
        moment = weight * sum(2 * (j - 1) for j in range(1, beyond + 1))
        wanted = {"brace": -2 * weight * beyond, "top": -moment, "low": moment + 2 * weight * beyond}
        for kind, force in wanted.items():  # times its length, a force that pulls is negative
            assert abs(found[kind] - force) < 1e-10 * weight * bays**2, (kind, k)  # rounding of the largest

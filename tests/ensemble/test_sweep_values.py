"""What a sweep varies: grids, members side by side, draws; and what is wrong with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from swept_systems import bead, spring, thrown_ball

import dalembert as da
from dalembert.ensemble.ask.draw import draw
from dalembert.ensemble.ask.values import read_values


def test_a_grid_has_one_dimension_for_each_name() -> None:
    values = read_values(spring(), {"w": [1, 2, 3], "a": np.array([5.0, 7.0]), "x'": 0.5})
    assert values.dims == ("w", "a")
    assert values.shape == (3, 2)
    members = values.between(0, values.count)
    # The last name runs fastest, as the axes of an array do.
    assert members["w"].tolist() == [1, 1, 2, 2, 3, 3]
    assert members["a"].tolist() == [5, 7, 5, 7, 5, 7]
    assert members["x'"].tolist() == [0.5] * 6
    assert {k: v.tolist() for k, v in values.between(3, 5).items()} == {"x'": [0.5] * 2, "w": [2, 3], "a": [7, 5]}


def test_symbols_are_names_too() -> None:
    (w,) = da.parameters("w")
    (x,) = da.coordinates("x")
    values = read_values(spring(), {w: [1, 2], x: [0.1, 0.2], x.d: [0, 1]})
    assert values.dims == ("w", "x(0)", "x'(0)")
    assert values.initial == {"x", "x'"}


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"w": [1, 2, 3], "a": [4, 5, 6]}, {"together": True}),
        ([{"w": 1, "a": 4}, {"w": 2, "a": 5}, {"a": 6, "w": 3}], {}),
        (pd.DataFrame({"w": [1, 2, 3], "a": [4, 5, 6]}), {}),
        ({("w", "a"): [[1, 4], [2, 5], [3, 6]]}, {}),
    ],
)
def test_members_side_by_side(given: Any, options: dict[str, Any]) -> None:
    values = read_values(spring(), given, **options)
    assert values.dims == ("member",)
    assert {k: v.tolist() for k, v in values.between(0, 3).items()} == {"w": [1, 2, 3], "a": [4, 5, 6]}


def test_initial_states_as_an_array() -> None:
    states = np.arange(8.0).reshape(2, 4)
    for given in (states, {"state": states}):
        values = read_values(bead(), given)
        assert {k: v.tolist() for k, v in values.between(0, 2).items()} == {
            "x": [0, 4], "y": [1, 5], "x'": [2, 6], "y'": [3, 7],
        }  # fmt: skip
    both = read_values(bead(), {"state": states, "m": [1, 2, 3]})
    assert both.dims == ("member", "m")
    assert both.count == 6


@pytest.mark.parametrize("sampler", ["random", "sobol", "latin"])
def test_draws_follow_their_distribution(sampler: str) -> None:
    given = {"w": stats.uniform(2, 3), "a": stats.norm(1, 0.5)}
    one, two, other = (
        read_values(spring(), given, samples=400, seed=seed, sampler=sampler).between(0, 400) for seed in (1, 1, 2)
    )
    for name in given:
        assert np.array_equal(one[name], two[name])
        assert not np.array_equal(one[name], other[name])
        # With the true distribution, one sample in a thousand has a smaller p-value; sequences are more even still.
        assert stats.kstest(one[name], given[name].cdf).pvalue > 1e-3
    # Independent columns have a correlation of about 1/sqrt(400).
    assert abs(np.corrcoef(one["w"], one["a"])[0, 1]) < 0.2


def test_even_sequences_are_more_even() -> None:
    gaps = {}
    for sampler in ("random", "sobol", "latin"):
        drawn = np.sort(draw({"u": stats.uniform(0, 1)}, 64, 3, sampler)["u"])
        gaps[sampler] = np.diff(drawn).max()
    # One draw in each of 64 cells leaves no gap of two cells; at random the largest is about log(64)/64.
    assert gaps["sobol"] <= 2 / 64
    assert gaps["latin"] <= 2 / 64
    assert gaps["random"] > 2 / 64


def test_a_fresh_seed_is_told_and_gives_the_same_again() -> None:
    first = spring().sweep({"a": stats.norm(1, 0.1)}, 0.1, samples=3)
    seed = first.about["seed"]
    again = spring().sweep({"a": stats.norm(1, 0.1)}, 0.1, samples=3, seed=seed)
    assert np.array_equal(first["a"], again["a"])
    assert np.array_equal(first.final["x"], again.final["x"])


def test_draws_and_a_grid_are_combined() -> None:
    values = read_values(spring(), {"w": [1, 2], "a": stats.norm(0, 1)}, samples=3, seed=0)
    assert values.dims == ("w", "sample")
    members = values.between(0, 6)
    assert np.array_equal(members["a"][:3], members["a"][3:])


def test_expressions_of_the_model_follow_the_parameters() -> None:
    found = thrown_ball().sweep({"v": [1.0, 2.0], "angle": [0.3, 0.5]}, 0.0 + 1e-3)
    at = 1e-3
    v, angle = np.meshgrid([1.0, 2.0], [0.3, 0.5], indexing="ij")
    # A polynomial of degree two is integrated to rounding.
    np.testing.assert_allclose(found.final["y"], v * np.sin(angle) * at - 9.81 * at**2 / 2, rtol=1e-13)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ({"speed": [1]}, {}, "'speed' is no parameter or initial value"),
        ({"W": [1]}, {}, "Did you mean 'w'"),
        ({"w": []}, {}, "w: no values"),
        ({"w": [1, float("nan")]}, {}, "value 1 is nan"),
        ({"w": "fast"}, {}, "numbers are wanted"),
        ({"w": [[1, 2]]}, {}, "one row"),
        ({"w": [1], ("w", "a"): [[1, 2]]}, {}, "'w' is given twice"),
        ({("w", "a"): [[1, 2, 3]]}, {}, "(members, 2) is wanted"),
        ({"w": [1, 2], "a": [1, 2, 3]}, {"together": True}, "equally many"),
        ([{"w": 1}, {"a": 1}], {}, "member 1"),
        ({}, {}, "no values"),
        (3, {}, "by name"),
        ({"w": [1]}, {"samples": 5}, "nothing here is a distribution"),
        ({"w": stats.norm(0, 1)}, {}, "how many members to draw"),
        ({"w": stats.norm(0, 1)}, {"samples": 3, "sampler": "sobel"}, "Did you mean 'sobol'"),
        ({"w": stats.norm(0, 1)}, {"samples": 3, "seed": -1}, "seed is a whole number"),
        ({"w": stats.norm(0, -1)}, {"samples": 3, "seed": 1}, "not finite"),
        ({"w": stats.norm(0, 1)}, {"samples": 10**15}, "8 PB"),
        ({"w": stats.norm(0, 1)}, {"samples": 2.5}, "how many members to draw"),
        ({"w": stats.norm([0, 1], 1)}, {"samples": 3}, "w: its distribution gives no number for each draw"),
        ({"w": range(10**12)}, {}, "w: 1000000000000 values take 8.0 TB"),
        ({"w": range(10**30)}, {}, "w: 1000000000000000000000000000000 values take"),
        ({"w": np.ma.masked_equal([1.0, 2.0], 2.0)}, {}, "w: its array has masked values, 1 in all"),
    ],
)
def test_faults(given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(da.ModelError) as found:
        read_values(spring(), given, **options)
    assert message in str(found.value)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(da.ModelError) as found:
        read_values(spring(), {"speed": [1], "w": [], "a": [np.inf]})
    assert len(found.value.faults) == 3


def test_missing_values_are_told() -> None:
    x, m = da.coordinates("x")[0], da.parameters("m")[0]
    free = da.System("free", coordinates=[x], kinetic=m * x.d**2 / 2)
    with pytest.raises(da.MissingValues, match=r"no initial value for x'"):
        free.sweep({"m": [1, 2], "x": [0, 1]}, 1.0)
    with pytest.raises(da.MissingValues, match="no value for parameter m"):
        free.sweep({"x": [1, 2], "x'": 0}, 1.0)
    found = free.sweep({"m": [1, 2], "x": 0.5, "x'": [1, 2, 3]}, 2.0)
    np.testing.assert_allclose(found.final["x"], np.tile(0.5 + 2.0 * np.arange(1, 4), (2, 1)), rtol=1e-14)


def test_more_members_than_fit_are_counted_before() -> None:
    many = np.linspace(0, 1, 100_000)
    with pytest.raises(da.ModelError, match=r"10,000,000,000 members .* would take 360\.0 GB of memory"):
        spring().sweep({"w": many, "a": many}, 1.0)


def test_members_that_begin_at_times_of_their_own() -> None:
    """x″ = t from rest at x = 0: τ³/6 + t₀ τ²/2 a time τ after the start. `time` counts from there."""
    pushed = da.System(
        "pushed", coordinates="x", kinetic="x'^2/2", forces={"x": "t"}, initial={"x": 0, "x'": 0, "t": 5}
    )
    found = pushed.sweep({"t": [5.0, 7.0]}, 2.0, points=3, keep="samples")
    since, begins = found.data["time"].to_numpy(), np.array([[5.0], [7.0]])
    assert since.tolist() == [0, 1, 2]
    assert found.samples["x"].to_numpy() == pytest.approx(since**3 / 6 + begins * since**2 / 2)
    assert found.final["t"].to_numpy().tolist() == [7, 9]
    with pytest.raises(da.ModelError, match="begin at different t: give duration="):
        pushed.sweep({"t": [5.0, 7.0]}, times=[6.0, 7.0], keep="samples")


@pytest.mark.parametrize("name", ["final.x", "samples.x", "certificate.energy", "middle: count", "middle: time"])
def test_names_of_what_belongs_together_are_taken(name: str) -> None:
    for asked in ({"reduce": {name: ("max", "x")}}, {"keep": {name: "x"}}):
        with pytest.raises(da.ModelError, match="is the name of something else in the result"):
            spring().sweep({"w": [1.0]}, 1.0, events={"middle": "x"}, **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("points", [0, 1, 2.5, "10", True])
def test_points_are_two_or_more(points: object) -> None:
    with pytest.raises(da.ModelError, match="points is a whole number of at least 2"):
        spring().sweep({"w": [1.0]}, 1.0, points=points)  # type: ignore[arg-type]


def test_whole_numbers_however_they_are_written() -> None:
    plain = spring().sweep({"w": stats.norm(2, 0.1)}, 1.0, samples=4, seed=5, points=3, threads=1, keep="samples")
    others: dict[str, Any] = {"samples": np.int64(4), "seed": np.uint8(5), "points": 3.0, "threads": np.int32(1)}
    assert spring().sweep({"w": stats.norm(2, 0.1)}, 1.0, keep="samples", **others).data.identical(plain.data)

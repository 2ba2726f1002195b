"""Sweeps on GPUs, with a stand-in for CuPy that compiles the same source as plain C: members are those of threads, and
what a GPU cannot take the processor does.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from cupy_stand_in import stand_in
from swept_systems import bead, spring, thrown_ball

import dalembert as da
from dalembert.cli.sweep_and_write import SweepOptions, sweep_and_write
from dalembert.ensemble.place import cuda
from dalembert.kernel.build import find_compiler
from dalembert.kernel.cuda import run as runner
from dalembert.kernel.cuda import source

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


fake_cupy = stand_in().fake_cupy


@pytest.fixture(autouse=True)
def gpus(monkeypatch, request):
    """Sets how many GPUs there are, and how many bytes they have free."""

    def there_are(devices: int = 1, free: int = 10**9) -> None:
        monkeypatch.setattr(runner, "_cupy", lambda: fake_cupy(devices, free))

    if "gpu" not in request.keywords:
        there_are()
    monkeypatch.setenv("DALEMBERT_KERNEL", "tape")  # of the CPU: nothing else is compiled
    monkeypatch.setattr(source, "MOST_UNROLLED", 0)  # which is compiled in half the time
    return there_are


def compare(system, values, duration, atol, steps=1, rtol=0.0, **asked):
    """The ensembles of both places, which have the same variables, statuses and reasons, and agree to atol and rtol.

    steps: by how many these may differ; one where the last ends a rounding before the end.
    """
    threads = system.sweep(values, duration, **asked)
    gpu = system.sweep(values, duration, on="cuda", **asked)
    assert set(gpu.data.variables) == {*threads.data.variables, "on cpu"}
    assert gpu.data.sizes == threads.data.sizes
    for name in threads.data.variables:
        one, other = threads.data[name].to_numpy(), gpu.data[name].to_numpy()
        assert one.dtype == other.dtype, name
        if name == "steps":
            assert np.abs(one - other).max() <= steps
        elif one.dtype.kind == "f":
            np.testing.assert_allclose(other, one, rtol=rtol, atol=atol, err_msg=name)
        else:
            np.testing.assert_array_equal(other, one, err_msg=name)
    return threads, gpu


def test_ends_samples_observables_and_reductions_are_those_of_threads():
    kinds = ("min", "max", "range", "mean", "rms", "final")
    # Rounding in step sizes moves a motion by a share of its error, between steps by some 1e-9 (test_cuda_source).
    _, gpu = compare(
        da.library.penny(), {"v0": [0.6, 1.0, 1.4], "omega": [0.7, 1.3]}, 5.0, 2e-9, keep=["samples", "x*y"], points=12,
        reduce={kind: (kind, "x^2 - y") for kind in kinds} | {"end": "energy"},
    )  # fmt: skip
    assert gpu.on_cpu == 0
    assert gpu.about["on"] == "cuda"
    assert gpu.to_dict()["on cpu"] == 0
    plain = compare(da.library.penny(), {"v0": [0.6, 1.0]}, 5.0, 1e-10)[1]
    assert "final.x" in plain.data


def test_events_end_members_and_are_counted():
    values = {"v": [5.0, 20.0], "angle": [0.3, 1.2]}
    reduce = {"last": ("last", "top"), "often": ("count", "landing"), "high": ("mean", "y"), "far": ("max", "x")}
    # Parabolas are integrated to rounding, and events located to it. Errors that are rounding say little of step sizes.
    _, gpu = compare(thrown_ball(), values, 1.5, 1e-11, 3, keep="samples", points=7, reduce=reduce)
    assert (gpu.status == [[1, 0], [1, 0]]).sum() >= 3
    assert gpu.on_cpu == 0
    flight = 2 * 5.0 * np.sin(0.3) / 9.81
    # At output times 0, 0.25 and the landing: a mean by trapezoids counts the last part too.
    height = 5.0 * np.sin(0.3) * 0.25 - 9.81 / 2 * 0.25**2
    assert gpu["high"].to_numpy()[0, 0] == pytest.approx(height / 2, rel=1e-9)
    assert gpu["far"].to_numpy()[0, 0] == pytest.approx(5.0 * np.cos(0.3) * flight, rel=1e-12)


@pytest.mark.gpu
def test_a_sweep_on_a_real_gpu_agrees_with_threads():
    try:
        runner._cupy()
    except runner.NoGpu as error:
        pytest.skip(str(error))
    reduce = {"far": ("max", "x*y"), "mean": ("mean", "x"), "end": "energy"}
    values = {"v0": np.linspace(0.5, 2.0, 9), "omega": [0.7, 1.3]}
    # As above: what lies between steps differs by some 1e-9, and a product of numbers of about 6 by 12 times that.
    _, gpu = compare(da.library.penny(), values, 5.0, 5e-9, rtol=5e-10, keep="samples", points=12, reduce=reduce)
    assert gpu.on_cpu == 0
    _, gpu = compare(thrown_ball(), {"v": [5.0, 20.0]}, 1.5, 1e-11, 3, keep="samples", points=7)
    assert gpu.on_cpu == 0
    # Numbers of up to 10 in float32, rounded some dozen times, at rtol 1e-5.
    single = da.library.penny().sweep(values, 5.0, on="cuda", precision="single", reduce=reduce, points=12)
    double = da.library.penny().sweep(values, 5.0, reduce=reduce, points=12)
    assert single.on_cpu == 0
    for name in ("final.x", "final.y'", "far", "mean", "end"):
        assert 0 < np.abs(single.data[name] - double.data[name]).max() < 3e-4, name


@pytest.mark.gpu
def test_sorted_members_of_a_real_gpu_have_the_same_bits(monkeypatch):
    try:
        runner._cupy()
    except runner.NoGpu as error:
        pytest.skip(str(error))
    values = {"w": np.exp(np.random.default_rng(0).uniform(0.0, 4.0, 4096))}
    whole = spring().sweep(values, 2.0, on="cuda", together=True)
    monkeypatch.setattr(cuda, "MOST", 512)
    assert spring().sweep(values, 2.0, on="cuda", together=True).data.identical(whole.data)


def test_an_event_after_the_end_is_not_counted():
    # Both are passed in one step, which is as long as the motion: the second lies beyond the end.
    system = thrown_ball().replace(
        events={"below": "y + 0.01", "landing": da.Event("y", "falling", terminal=True), "again": da.Event("y + 0.001")}
    )
    _, gpu = compare(system, {"v": [5.0, 6.0]}, 3.0, 1e-11, 3)
    assert (gpu["below: count"] == 0).all()
    assert (gpu["ended by"] == 1).all()


def test_starts_off_the_constraints_have_their_reason_or_are_repaired():
    values = {"x": [1.0, 1.2], "y'": [1.0, 2.0]}
    threads, gpu = compare(bead(), values, 1.0, 1e-10)
    assert gpu.failed == 2
    assert gpu.on_cpu == 0  # those that did not start were run nowhere
    assert gpu.failures() == threads.failures()
    _, gpu = compare(bead(), values, 1.0, 1e-10, repair=True)
    assert (gpu.failed, gpu.on_cpu) == (0, 0)


def test_members_near_a_singular_configuration_go_to_the_processor():
    # Crank and rod: where they are equally long, the crank passes a configuration in which the slider may stay behind.
    crank = da.System(
        "crank and slider",
        coordinates="a b x",
        kinetic="(a'^2 + b'^2 + x'^2)/2",
        constraints={"along": "cos(a) + l*cos(b) - x", "across": "sin(a) - l*sin(b)"},
        parameters={"l": 1.0},
        initial={"a": 0, "b": 0, "x": "1 + l", "a'": 1, "b'": "1/l", "x'": 0},
    )
    threads, gpu = compare(crank, {"l": [1.0, 2.0]}, 2.0, 1e-8)
    assert gpu.data["on cpu"].to_numpy().tolist() == [True, False]
    assert gpu.to_dict()["on cpu"] == 1
    assert "not by a GPU: 1" in gpu.text()
    # One by one or not: what runs on the processor is what threads give, to the last bit.
    assert gpu.final["x"].to_numpy()[0] == threads.final["x"].to_numpy()[0]


def test_redundant_constraints_go_to_the_processor():
    twice = bead().replace(constraints={"ring": "x^2 + y^2 = l^2", "again": "3*x^2 + 3*y^2 = 3*l^2"})
    _, gpu = compare(twice, {"y'": [0.5, 1.0]}, 1.0, 0.0)
    assert gpu.on_cpu == 2


def test_sweeps_of_one_system_do_not_share_what_they_ask_for():
    system = spring()
    for name in ("x", "x'"):
        found, expected = (
            system.sweep({"a": [1.0, 2.0]}, 1.0, points=5, on=on, reduce={"top": ("max", name)})
            for on in ("cuda", "threads")
        )
        # Rounding in step sizes, as above.
        np.testing.assert_allclose(found["top"], expected["top"], rtol=0, atol=2e-9)


def test_budgets_are_obeyed():
    asked = {"budget": {"steps": 100}, "reduce": {"top": ("max", "x")}}
    threads, found = (spring().sweep({"w": [1.0, 300.0]}, 5.0, on=on, **asked) for on in ("threads", "cuda"))
    assert threads.status.equals(found.status)
    assert found.status.to_numpy().tolist() == [0, 5]
    assert "its budget was spent, after 128 steps" in found.failures()[0]["reason"]
    assert np.isnan(found["top"].to_numpy()[1])
    assert found.on_cpu == 0


def test_a_member_of_very_many_steps_goes_to_the_processor(monkeypatch):
    monkeypatch.setattr("dalembert.ensemble.place.cuda_plan.MOST_STEPS", 50)
    found = spring().sweep({"w": [1.0, 60.0]}, 5.0, on="cuda")
    assert (found.failed, found.on_cpu) == (0, 1)


def bent() -> da.System:
    return da.System(
        "bent", coordinates="x", kinetic="x'^2/2", potential="k*abs(x)", parameters={"k": 1.0},
        initial={"x": 1, "x'": 0},
    )  # fmt: skip


def swung() -> da.System:
    return da.System(
        "swung", coordinates="x", kinetic="x'^2/2", forces={"x": "sin(w*t)"}, parameters={"w": 1.0},
        initial={"x": 0, "x'": 0},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("system", "values", "asked", "why"),
    [
        (spring(), {"a": [1.0, 2.0]}, {"certify": True}, "work of the forces"),
        (spring(), {"a": [1.0, 2.0]}, {"reduce": {"l": "lyapunov"}}, "twins"),
        (spring(), {"a": [1.0, 2.0]}, {"keep": ["x''"]}, "accelerations"),
        (spring(), {"a": [1.0, 2.0]}, {"method": "stiff"}, "explicit methods only"),
        (spring(), {"a": [1.0, 2.0]}, {"project": False}, "returns states"),
        (spring(), {"t": [1.0, 2.0]}, {}, "initial times"),
        (da.library.bouncing_ball(), {"g": [5.0, 9.81]}, {}, "contacts"),
        (bent(), {"k": [1.0, 2.0]}, {}, "kink"),
        (swung(), {"w": [1.0, 2.0]}, {}, "w belongs to functions of time"),
    ],
)
def test_what_no_gpu_takes_runs_on_the_processor(system, values, asked, why):
    threads, gpu = compare(system, values, 1.0, 0.0, points=3, **asked)
    assert gpu.on_cpu == gpu.members == threads.members
    assert why in gpu.about["why_cpu"]
    assert why in gpu.text()


def test_chunks_gpus_and_little_memory_change_no_bit(gpus, monkeypatch):
    values = {"v0": np.linspace(0.5, 2.0, 40)}
    asked = {"on": "cuda", "keep": ["x"], "points": 5, "reduce": {"far": ("max", "x")}}
    whole = da.library.penny().sweep(values, 2.0, **asked)
    monkeypatch.setattr(cuda, "MOST", 7)
    gpus(devices=3, free=2000)
    assert da.library.penny().sweep(values, 2.0, **asked, threads=2).data.identical(whole.data)


def test_single_precision_is_near_and_the_processor_stays_double():
    values = {"v0": [0.6, 1.0, 1.4], "x": [0.0, 1.0]}
    asked = {"on": "cuda", "keep": ["x"], "points": 5, "reduce": {"far": ("max", "x"), "end": "energy"}}
    exact, found = (da.library.penny().sweep(values, 5.0, precision=p, **asked) for p in ("double", "single"))
    assert (found.about["precision"], found.about["rtol"], found.on_cpu) == ("single", 1e-5, 0)
    for name in ("x", "far", "end", "final.x", "final.psi'"):
        assert found.data[name].dtype == float
        off = np.abs(found.data[name] - exact.data[name]).max()
        # Numbers of up to 10 in float32, rounded some dozen times, by a method that errs by about 1e-5 of them.
        assert 0 < off < 3e-4, name
    twice = bead().replace(constraints={"ring": "x^2 + y^2 = l^2", "again": "3*x^2 + 3*y^2 = 3*l^2"})
    one, other = (twice.sweep({"y'": [0.5]}, 1.0, rtol=1e-5, on=on, precision=p)
                  for on, p in (("cuda", "single"), ("threads", None)))  # fmt: skip
    assert one.on_cpu == 1
    assert one.final.equals(other.final)
    with pytest.raises(da.ModelError, match="single precision is a GPU's"):
        spring().sweep({"a": [1.0]}, 1.0, precision="single")
    with pytest.raises(da.ModelError, match="Did you mean 'single'"):
        spring().sweep({"a": [1.0]}, 1.0, on="cuda", precision="singel")


def test_members_of_very_different_lengths_are_sorted(monkeypatch):
    assert cuda.slowdown(np.full(70, 9)) == 1.0
    assert cuda.slowdown(np.tile([1, 31], 32)) == pytest.approx(31 / 16)
    values = {"w": np.tile([1.0, 60.0], 48)}
    whole = spring().sweep(values, 2.0, on="cuda", together=True)
    monkeypatch.setattr(cuda, "MOST", 32)
    sorted_ = []
    launch = runner.Worker.run
    monkeypatch.setattr(runner.Worker, "run", lambda self, *a: (sorted_.append(self.wish.sort), launch(self, *a))[1])
    assert spring().sweep(values, 2.0, on="cuda", together=True, threads=1).data.identical(whole.data)
    assert sorted_ == [False, True, True]


def test_functions_of_time_bound_the_steps():
    # A pulse of a hundredth at t = 5, which steps of a body at rest would pass over: it leaves with speed 0.01·√π.
    pulse = da.System(
        "pulse", coordinates="x", kinetic="m*x'^2/2", forces={"x": "exp(-((t - 5)/0.01)^2)"}, parameters={"m": 1.0},
        initial={"x": 0, "x'": 0},
    )  # fmt: skip
    found = pulse.sweep({"m": [1.0, 2.0]}, 10.0, on="cuda")
    np.testing.assert_allclose(found.final["x'"], 0.01 * np.sqrt(np.pi) / np.array([1.0, 2.0]), rtol=1e-7)
    assert found.on_cpu == 0


def test_no_cupy_no_gpu_and_a_gpu_that_fails_are_said(monkeypatch, gpus):
    class Broken(runner.Worker):
        def run(self, *_):
            raise RuntimeError("out of\nmemory")

    with monkeypatch.context() as here:
        here.setattr(runner, "Worker", Broken)
        with pytest.raises(da.DalembertError, match="GPU 0 could not run the members: out of memory"):
            spring().sweep({"a": [1.0, 2.0]}, 1.0, on="cuda")
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(da.DalembertError, match="CuPy is needed"):
        spring().sweep({"a": [1.0, 2.0]}, 1.0, on="cuda")


def test_the_command_counts_and_resumes(tmp_path, capsys, monkeypatch):
    out = tmp_path / "throws"
    options = SweepOptions(
        "pendulum", ("l=0.5:2:6",), duration=1.0, on="cuda", out=out, json=True, reduce=("top = max: y",)
    )
    monkeypatch.setattr(cuda, "MOST", 2)
    kept = cuda.Gpus.compute

    def interrupted(self, task, first, last, control):
        if first == 4:
            raise KeyboardInterrupt
        return kept(self, task, first, last, control)

    with monkeypatch.context() as here:
        here.setattr(cuda.Gpus, "compute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sweep_and_write(options, None)
    capsys.readouterr()
    assert sweep_and_write(SweepOptions(None, json=True), out) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["members"], told["failed"], told["on"], told["on cpu"]) == (6, 0, "cuda", 0)

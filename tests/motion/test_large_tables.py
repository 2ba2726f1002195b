"""Large systems whose programs are tables of steps, and when they are compiled instead."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
import sympy as sp
from dependent_systems import held_net
from large_systems import chain, net, rods, trailers, tree
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.graph.structure.eliminate import TooWide, condensed_of, solution_of
from dalembert.graph.structure.equations import ACCELERATIONS, equations_of
from dalembert.graph.structure.read import structured_of
from dalembert.kernel import build as building
from dalembert.kernel.rolled.source import rolled_source
from dalembert.motion.large import model as making
from dalembert.motion.large import size, steps


@pytest.fixture(autouse=True)
def _small_systems_are_large(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(size, "LARGE", 4)
    monkeypatch.setattr(making, "_made", {})
    return


def by(kernel: str, system: da.System, monkeypatch: pytest.MonkeyPatch, end: float = 0.5) -> da.Motion:
    monkeypatch.setenv("DALEMBERT_KERNEL", kernel)
    return system.simulate(end, samples=6, rtol=1e-9)


SYSTEMS = [chain(6, force=True), rods(5), tree(7), net(3), held_net(3), trailers(4), trailers(16)]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: f"{system.name}-{len(system.coordinates)}")
def test_tables_and_loops_do_the_same(system: da.System, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, tape = by("compiled", system, monkeypatch), by("tape", system, monkeypatch)
    assert (compiled.timing.kernel, tape.timing.kernel) == ("compiled", "tape")
    assert abs(compiled.timing.steps - tape.timing.steps) <= 1  # rounding may turn a decision on the last of them
    assert tape.certificate.holds
    for name in ("q", "v", "a", "ideal", "energy"):
        one, other = getattr(tape, name), getattr(compiled, name)
        # The same operations in another order: rounding, magnified some thousandfold in half a second.
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10 * max(np.abs(other).max(), 1.0), err_msg=name)


def test_a_wish_for_tables_starts_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    chain(5).simulate(0.1, samples=2)  # the libraries that serve every model are there

    def refuse(*_: object) -> None:
        raise AssertionError("something was compiled")

    monkeypatch.setattr(building, "compile_source", refuse)
    for system in (chain(5), held_net(2), trailers(3)):
        assert by("tape", system, monkeypatch, 0.1).timing.kernel == "tape"


def test_long_motions_are_compiled_and_then_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    system = chain(9).replace(parameters={"m": 1.3, "l": 1.0, "g": 2.5})
    there = by("tape", system, monkeypatch, 5.0)
    monkeypatch.setattr(making, "evaluations_worth_compiling", lambda *_: 600)  # about fifty steps
    short = by("", system, monkeypatch, 0.1)
    long = by("", system, monkeypatch, 5.0)
    later = by("", system, monkeypatch, 0.1)
    assert [motion.timing.kernel for motion in (short, long, later)] == ["tape", "compiled", "compiled"]
    assert long.timing.steps == there.timing.steps > 600 / steps.EVALUATIONS_A_STEP
    np.testing.assert_allclose(long.q, there.q, atol=1e-7)  # rounding, in five seconds of a chain


def test_what_does_not_repeat_stays_out_of_the_source() -> None:
    """Multipliers by themselves of cars with many trailers, each of which stands beside all: steps of as many widths,
    whose C grew as the cube of their number, are one kind of step in a table.
    """
    texts = []
    for count in (10, 40):
        structured = structured_of(trailers(count))
        assert structured is not None
        made = condensed_of(equations_of(structured, ACCELERATIONS), structured.coordinates)
        texts.append(rolled_source({"forward": made.program, "back": made.back}).text)
    assert len(texts[1]) < 1.1 * len(texts[0])


def test_trailers_follow_the_car() -> None:
    """The heading of each turns by what is across it of the speed of the axle before it, integrated by SciPy along the
    way of the car that was found.
    """
    count = 20
    motion = trailers(count).simulate(4.0, samples=41, rtol=1e-9)
    assert motion.certificate.holds
    l = 0.8
    speed = motion["x'"] * np.cos(motion["h0"]) + motion["y'"] * np.sin(motion["h0"])
    course = np.polynomial.Chebyshev.fit(motion.t, speed, 30)
    first = np.polynomial.Chebyshev.fit(motion.t, motion["h0"], 30)

    def turn(t: float, h: np.ndarray) -> np.ndarray:
        v, before, rates = course(t), first(t), []
        for heading in h:
            rates.append(v * np.sin(before - heading) / l)
            v, before = v * np.cos(before - heading), heading
        return np.array(rates)

    found = solve_ivp(turn, (0, 4.0), np.zeros(count), rtol=1e-9, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(
        [motion[f"h{k}"][-1] for k in range(1, count + 1)], found, atol=1e-6
    )  # of the polynomials


def test_steps_of_trailers_grow_as_their_number() -> None:
    """Each axle is left out with the heading of its trailer. With the place of the car, each would stand beside all."""
    found = []
    for count in (20, 40):
        structured = structured_of(trailers(count))
        assert structured is not None
        with pytest.raises(TooWide):
            solution_of(equations_of(structured, ACCELERATIONS), structured.coordinates)
        equations = equations_of(structured, ACCELERATIONS)
        made = solution_of(equations, structured.coordinates, early=True)
        assert made.early.sum() == count - 1  # the first one goes with the car
        found.append(made.program.steps.arrays().places.size)
    assert found[1] < 2.1 * found[0]


def test_an_axle_along_its_trailer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turning that trailer does nothing for its constraint, which cannot go with it, at any time: multipliers are then
    solved for by themselves. A torque turns that trailer about the hitch, which rests.
    """
    system = trailers(16, turned=3)
    rest = dict.fromkeys((q.d for q in system.coordinates), 0)
    system = system.replace(initial=dict(system.initial) | rest, forces={"h3": sp.Rational(1, 5)})
    large = system.simulate(0.5, samples=6, rtol=1e-9)
    monkeypatch.setattr(size, "LARGE", 1000)
    small = system.simulate(0.5, samples=6, rtol=1e-9)
    assert large.certificate.holds
    assert np.abs(large.v).max() > 0.1
    for name in ("q", "v", "ideal"):
        one, other = getattr(large, name), getattr(small, name)
        # Two integrations at rtol 1e-9.
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-7 * max(np.abs(other).max(), 1.0), err_msg=name)


def test_threads_compile_once_and_members_run_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads may find at once that it is worth compiling; steps are forgotten once they are compiled."""
    monkeypatch.setenv("DALEMBERT_KERNEL", "")
    monkeypatch.setattr(making, "evaluations_worth_compiling", lambda *_: 2500)  # two hundred steps
    system = chain(8)
    made = making.large_model(system, "auto", "auto")
    assert made is not None
    assert made.kernel == "tape"
    compiled, compile_programs = [], making.compile_programs

    def slowly(*given: object) -> object:
        compiled.append(1)
        time.sleep(0.2)
        return compile_programs(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(making, "compile_programs", slowly)
    threads = [threading.Thread(target=made.by_table.compile) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(compiled), made.kernel) == (1, "compiled")


def test_members_of_a_sweep_run_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """All by tables, or all compiled, by their number alone; so they have the same bits in any order."""
    monkeypatch.setenv("DALEMBERT_KERNEL", "")
    system, speeds = chain(8), [0.0, 0.1, 0.2]
    for worth, wanted in ((2500, "tape"), (1500, "compiled")):  # three members of fifty steps make 1,800 evaluations
        monkeypatch.setattr(making, "_made", {})
        monkeypatch.setattr(making, "evaluations_worth_compiling", lambda *_, worth=worth: worth)
        given = {"lanes": False, "threads": 1}
        one = system.sweep({"a0'": speeds}, 2.0, **given).final["a7"].values
        other = system.sweep({"a0'": speeds[::-1]}, 2.0, **given).final["a7"].values
        made = making.large_model(system, "auto", "auto")
        assert made is not None
        assert made.kernel == wanted
        assert made.by_table.done > 0
        assert (one == other[::-1]).all()

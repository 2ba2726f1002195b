"""Tapes against compiled kernels and the reference: the same motions and the same slopes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.build import find_compiler
from dalembert.kernel.ready.runtime import runtime_library
from dalembert.kernel.tape_kernel import make_tape_kernel
from dalembert.mechanics.solve.fundamental import is_positive
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.project import project

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")


@pytest.mark.parametrize("name", da.library.names())
def test_library_motions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As compiled; the kernels are those of `test_backends`."""
    system = da.library.get(name)
    compiled = system.simulate(rtol=1e-10, samples=41, backend="native")
    monkeypatch.setenv("DALEMBERT_KERNEL", "tape")
    tape = system.simulate(rtol=1e-10, samples=41, backend="native")
    assert (compiled.timing.kernel, tape.timing.kernel) == ("compiled", "tape")
    assert (compiled.backend, tape.backend) == ("native", "native")
    assert tape.certificate.holds
    assert [event["name"] for event in tape.events] == [event["name"] for event in compiled.events]
    # Roundings differ, so steps do in their last digits: within the global error of a few tolerances, which the chaotic
    # hinged rods magnify a thousandfold.
    tolerance = 1e-6 if name == "hinged_rods" else 1e-8
    np.testing.assert_allclose(tape.q, compiled.q, atol=tolerance * (1 + np.abs(compiled.q).max()))
    np.testing.assert_allclose(tape.v, compiled.v, atol=tolerance * (1 + np.abs(compiled.v).max()))


@pytest.mark.parametrize("name", da.library.names())
def test_accelerations(name: str) -> None:
    """On the tape's way and on the robust path, against the reference, at states around the motion's start."""
    system = da.library.get(name)
    evaluation = Evaluation(system)
    n, (q0, v0, t) = evaluation.n, system.initial_values()
    start = evaluation.solve(q0, v0, t)
    rows = [int(k) for k in np.flatnonzero(~start.dependent)]
    completion = 0.0 if is_positive(start.M) else 1.0
    library = runtime_library()
    assert library is not None
    kernel = make_tape_kernel(library, system, evaluation.graph, rows, (), completion)
    rng = np.random.default_rng(4)
    for _ in range(30):
        q, v = (x + 1e-2 * rng.normal(size=n) * (1 + np.abs(x)) for x in (q0, v0))
        if len(rows) < evaluation.m or completion:
            # Off their common surface redundant constraints contradict each other.
            q, v, _ = project(evaluation, q, v, t)
        solution = evaluation.solve(q, v, t)
        branch = evaluation.branch_accelerations(solution) if evaluation.graph.nonlinear else None
        y = np.concatenate([q, v, np.zeros(3)])
        for way in (0, 1, 2):
            found = kernel.slope(y, t, evaluation.p, way, branch)[n : 2 * n]
            # Rounding times the condition of M and A, which stays below 1e4 in the library.
            exact = solution.acceleration
            np.testing.assert_allclose(found, exact, atol=1e-12 * (1 + np.abs(exact).max()))


def random_system(seed: int) -> da.System:
    """Masses that depend on the position, a bounded potential, a quadric that moves, a velocity asked for, drag,
    and a force with a kink.
    """
    rng = np.random.default_rng(seed)
    n = 3 + seed % 2
    names = [f"q{k}" for k in range(n)]

    def number() -> float:
        return round(float(rng.uniform(0.3, 1)), 3)

    forms = [" + ".join(f"{number()}*{q}'" for q in names) + f" + {number()}*sin(q0)*q1'" for _ in range(n)]
    place = {q: number() for q in names}
    quadric = " + ".join(f"{number()}*({q} - {value})" for q, value in place.items())
    quadric += f" + {number()}*(q0 - {place['q0']})*(q1 - {place['q1']}) + {number()}*(cos(t) - 1)"
    system = da.System(
        f"random {seed}",
        coordinates=" ".join(names),
        kinetic=" + ".join(f"({form})^2/2" for form in forms) + " + " + " + ".join(f"{q}'^2" for q in names),
        potential=" + ".join(f"{number()}*cos({q})" for q in names) + f" + c*abs(q1 - {place['q1'] + 0.1})",
        forces={"q2": "-c*q2' + sin(3*t)"},
        constraints={"quadric": quadric} | ({"rolls": "q0' - q1*q2' - 0.2"} if seed % 3 else {}),
        parameters={"c": number()},
        initial=place | {f"{q}'": number() for q in names},
    )
    return system.replace(initial={symbol.name: value for symbol, value in system.consistent().items()})


@pytest.mark.parametrize("seed", range(6))
def test_random_systems(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    system = random_system(seed)
    reference = system.simulate(0.5, rtol=1e-10, samples=6, backend="reference")
    monkeypatch.setenv("DALEMBERT_KERNEL", "tape")
    for method in ("auto", "stiff"):
        tape = system.simulate(0.5, rtol=1e-10, samples=6, backend="native", method=method)
        assert tape.timing.kernel == "tape"
        # Two methods, each within a thousand tolerances.
        np.testing.assert_allclose(tape.q, reference.q, atol=2e-7 * (1 + np.abs(reference.q).max()))


def test_many_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a model of its own at hand: what runs side by side is what runs alone, bit for bit."""
    from concurrent.futures import ThreadPoolExecutor

    monkeypatch.setenv("DALEMBERT_KERNEL", "tape")
    prepared = [da.library.get(name).prepare(samples=11) for name in ("penny", "pendulum", "sphere_particle")]
    alone = [one.run().q for one in prepared]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda k: prepared[k % 3].run().q, range(30)))
    for k, q in enumerate(together):
        np.testing.assert_array_equal(q, alone[k % 3])


def test_an_interrupt_ends_a_long_run_by_tape() -> None:
    script = (
        "import _thread, os, signal, threading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # shells ignore it for what runs in the background
        "os.environ['DALEMBERT_KERNEL'] = 'tape'\n"
        "import dalembert as da\n"
        "da.library.pendulum().simulate(0.1, samples=2)\n"
        "threading.Timer(0.5, _thread.interrupt_main).start()\n"
        "try:\n"
        "    da.library.pendulum().simulate(1e9, samples=2)\n"
        "except KeyboardInterrupt:\n"
        "    print('ended')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "ended", done.stderr


def test_tapes_on_disk_are_those_that_were_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """In another process they are read, not made; the motion is the same to the last bit. A damaged file counts as
    none.
    """
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path))
    monkeypatch.setenv("DALEMBERT_KERNEL", "tape")
    system = da.library.rotating_hoop_bead()
    for how in ("auto", "stiff"):
        monkeypatch.setattr("dalembert.kernel.tape_kernel._made", {})
        made = system.simulate(2.0, samples=5, method=how)
        assert made.timing.kernel == "tape"
        with monkeypatch.context() as read:
            read.setattr("dalembert.kernel.tape_kernel._made", {})
            read.setattr("dalembert.kernel.tape_kernel.make_parts", None)  # making them would fail
            again = system.simulate(2.0, samples=5, method=how)
        assert (again.q == made.q).all()
        assert (again.v == made.v).all()
    files = list(tmp_path.glob("*.tape"))
    assert len(files) == 2, "the stiff method needs more functions"
    for file in files:
        file.write_bytes(file.read_bytes()[:-9])
    monkeypatch.setattr("dalembert.kernel.tape_kernel._made", {})
    assert (system.simulate(2.0, samples=5).q == system.simulate(2.0, samples=5).q).all()

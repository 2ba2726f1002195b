"""Models that were kept give the motions that they gave when they were read."""

from __future__ import annotations

from pathlib import Path

import pytest

import dalembert as da
from dalembert import library
from dalembert.graph.functions import graph_of
from dalembert.kernel.identity import identity
from dalembert.motion import kept_models
from dalembert.motion.kept_models import SUFFIX, Origin, find_kept, is_plain, keep_model

# Laws of nonideal constraints, one-sided constraints, or kinks.
READ_ANEW = {
    "appell_fall", "appell_hamel", "bouncing_ball", "incline_block", "leaving_sphere", "rough_incline",
    "stacked_blocks", "stick_slip", "thrown_block",
}  # fmt: skip


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path))
    return tmp_path


def never() -> da.System:
    raise AssertionError("nothing asks for more than was kept")


def kept_of(system: da.System) -> kept_models.KeptSystem:
    origin = Origin(f"test\0{system.name}", never)
    keep_model(origin, system)
    found = find_kept(origin)
    assert found is not None
    return found


def test_which_systems_of_the_library_are_kept():
    assert {name for name in library.names() if not is_plain(library.get(name))} == READ_ANEW


@pytest.mark.parametrize("name", sorted(set(library.names()) - READ_ANEW))
def test_a_kept_system_runs_on_the_same_kernel_from_the_same_numbers(name: str):
    """The identity of a kernel holds every function of the graph, instruction by instruction, and all names."""
    system = library.get(name)
    kept = kept_of(system)
    rows = range(len(system.constraints))
    assert identity(kept, graph_of(kept), rows, (), 0.0) == identity(system, graph_of(system), rows, (), 0.0)
    assert kept.parameter_values().tolist() == system.parameter_values().tolist()
    for mine, own in zip(kept.initial_values(), system.initial_values(), strict=True):
        assert mine == pytest.approx(own, abs=0, rel=0)
    assert dict(kept.settings) == dict(system.settings)
    assert [event.name for event in kept.events] == [event.name for event in system.events]


def test_the_motion_is_the_same_to_the_last_digit():
    system = library.penny()
    given, own = (of.simulate(2.0, samples=41).to_dict() for of in (kept_of(system), system))
    outputs, own_outputs = given.pop("outputs"), own.pop("outputs")
    for found in (given, own):
        found.pop("timing")
    assert given == own
    # Outputs are functions of C here and of NumPy there, which round in the last digit; rho is about 3.
    for name, values in own_outputs.items():
        assert outputs[name] == pytest.approx(values, rel=1e-13, abs=1e-14), name


def test_what_was_not_kept_is_read():
    system = library.pendulum()
    origin = Origin("pendulum", lambda: system)
    keep_model(origin, system)
    kept = find_kept(origin)
    assert kept is not None
    assert kept.equations().text() == system.equations().text()
    assert kept.kinetic == system.kinetic
    motion = kept.simulate(0.1, samples=3)
    assert motion["kinetic"] == pytest.approx(system.simulate(0.1, samples=3)["kinetic"], abs=0, rel=0)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = kept.nothing_like_it


def test_a_damaged_file_is_no_file(own_folder: Path):
    origin = Origin("pendulum", never)
    system = library.pendulum()
    keep_model(origin, system)
    (file,) = own_folder.glob(f"*{SUFFIX}")
    whole = file.read_bytes()
    for damaged in (b"", whole[:-100], whole.replace(b"pendulum", b"pendulux"), b"\0" * len(whole)):
        file.write_bytes(damaged)
        assert find_kept(origin) is None
    keep_model(origin, system)
    assert file.read_bytes() == whole
    assert find_kept(origin) is not None


@pytest.mark.usefixtures("own_folder")
def test_a_file_of_another_version_is_not_taken(monkeypatch: pytest.MonkeyPatch):
    origin = Origin("pendulum", never)
    keep_model(origin, library.pendulum())
    assert find_kept(origin) is not None
    readers = kept_models._readers()
    assert any("sympy" in reader for reader in readers)
    assert any("graph.py" in reader for reader in readers)
    monkeypatch.setattr(kept_models, "_readers", lambda: [*readers[:-1], "another version"])
    assert find_kept(origin) is None


def test_where_nothing_can_be_written_nothing_is_kept(own_folder: Path, monkeypatch: pytest.MonkeyPatch):
    taken = own_folder / "file"
    taken.write_text("")
    monkeypatch.setenv("DALEMBERT_CACHE", str(taken))
    origin = Origin("pendulum", never)
    keep_model(origin, library.pendulum())
    assert find_kept(origin) is None
    assert taken.read_text() == ""

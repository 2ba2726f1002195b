"""What a newcomer tries first, and what is said when a word is not quite right."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli.app import app
from dalembert.errors import DocumentError, ModelError
from dalembert.kernel import build


def test_the_package_is_a_command():
    done = subprocess.run([sys.executable, "-m", "dalembert", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"dalembert {da.__version__}"


def test_an_unknown_option_of_simulate_is_named():
    with pytest.raises(ModelError, match=r"simulate has no option 'tol'. Did you mean 'rtol'"):
        da.library.pendulum().simulate(1, tol=1e-6)  # type: ignore[arg-type]


def test_an_unknown_library_system_has_a_suggestion():
    with pytest.raises(AttributeError, match="Did you mean 'pendulum'"):
        _ = da.library.pendlum


def test_an_unknown_form_lists_the_forms_once():
    with pytest.raises(ModelError) as caught:
        da.library.pendulum().equations("newton")
    assert str(caught.value).count("maupertuis") == 1


def test_a_table_of_numbers_is_no_motion(tmp_path):
    da.library.pendulum().simulate(0.1, samples=2).save(tmp_path / "motion.csv")
    with pytest.raises(DocumentError, match=r"loaded from its \.nc file"):
        da.Motion.load(tmp_path / "motion.csv")
    (tmp_path / "motion.nc").write_text("not one")
    with pytest.raises(DocumentError, match=r"no motion written by Motion\.save"):
        da.Motion.load(tmp_path / "motion.nc")


def test_the_variational_method_has_its_step(tmp_path):
    arguments = ["run", "pendulum", "--method", "variational", "--out", str(tmp_path), "--duration", "1"]
    refused = CliRunner().invoke(app, arguments)
    assert "--step" in str(refused.exception)
    assert CliRunner().invoke(app, [*arguments, "--step", "0.01", "--order", "4"]).exit_code == 0


def test_no_digit_of_the_last_state_is_cut(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(app, ["run", "hinged_rods", "--out", str(tmp_path), "--duration", "1"]).output
    end = shown.split("energy")[0]
    assert "q̈" in end
    assert "nonideal" in end
    assert "…" not in end.split("at the end", 1)[1]


def test_a_certificate_is_read_as_text():
    certificate = da.library.pendulum().simulate(0.5, samples=5).certificate
    text = str(certificate)
    assert text.startswith("certificate: holds\n")
    assert all(f"{certificate.thresholds[name]:.0e}" in text for name in certificate.thresholds)


def test_an_equilibrium_tells_its_state_by_names_as_a_motion_does():
    system = da.library.pendulum()
    rest = system.equilibrium()[0]
    motion = system.replace(initial=rest.state).simulate(1, samples=3)
    assert set(motion.final) == {"t", *rest.state}
    # It stays where it is, to the rounding of the equilibrium found.
    np.testing.assert_allclose(motion.q, np.broadcast_to(rest.q, motion.q.shape), atol=1e-9)


def test_a_compiler_that_refuses_this_processor_is_asked_without_it(tmp_path, monkeypatch):
    """A stand-in for such a compiler: it ends with an error where it meets the flag, and is the real one otherwise."""
    real = build.find_compiler()
    if real is None:
        pytest.skip("no C compiler here")
    picky = tmp_path / "picky"
    picky.write_text(
        f'#!/bin/sh\nfor a in "$@"; do [ "$a" = -march=native ] && echo bad value >&2 && exit 1; done\n'
        f'exec {" ".join(real.command)} "$@"\n'
    )
    picky.chmod(0o755)
    monkeypatch.setenv("DALEMBERT_CACHE", str(tmp_path / "cache"))
    compiler = build.Compiler((str(picky),), "picky")
    library, cached = build.build("double twice(double x) { return 2*x; }", compiler)
    assert not cached
    library.twice.restype = ctypes.c_double
    assert library.twice(ctypes.c_double(1.5)) == 3.0
    assert build.build("double twice(double x) { return 2*x; }", compiler)[1]

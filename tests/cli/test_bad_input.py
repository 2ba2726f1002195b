"""Bad input: exit status 2, one message that says what is wrong and where, no traceback, nothing written."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from dalembert.kernel.build import find_compiler
from dalembert.kernel.ready.runtime import PREBUILT

from .conftest import GOOD

# what is changed in the good document -> words the message must hold
BAD = {
    "unknown name": (('potential = "m*g*y"', 'potential = "m*gg*y"'), ["potential", "'gg'", "Did you mean 'g'"]),
    "misspelt function": (("m*g*y", "m*g*cso(y)"), ["'cso'", "'cos'"]),
    "missing initial values": (("x = 0.9\ny = 0.0\n", ""), ["initial value", "x, y", "[initial]"]),
    "NaN parameter": (("m = 1.1", "m = nan"), ["m", "NaN"]),
    "infinite initial value": (("x = 0.9", "x = inf"), ["initial x", "infinite"]),
    "parameter that is a list": (("m = 1.1", "m = [1, 2]"), ["parameter m", "number"]),
    "boolean parameter": (("m = 1.1", "m = true"), ["parameter m"]),
    "inconsistent position": (("x = 0.9", "x = 1.9"), ["'rod'", "residual", "2.8", "nearest"]),
    "inconsistent velocity": (('"x\'" = 0.0', '"x\'" = 1.0'), ["'rod'", "velocity"]),
    "contradictory constraints": (
        (
            "[initial]",
            '[[constraints]]\nname = "a"\nequation = "x\'\' = 1"\n[[constraints]]\nname = "b"\n'
            "equation = \"x'' = 2\"\n[initial]",
        ),
        ["cannot", "hold", "b not in range of A"],
    ),
    "massless direction": (("m*(x'^2 + y'^2)/2", "m*x'^2/2"), ["not determined", "y"]),
    "constraint without coordinate": (("x^2 + y^2 = l^2", "l = 2*m"), ["'rod'", "no coordinate"]),
    "constraint that is a number": (("x^2 + y^2 = l^2", "3"), ["'rod'", "no coordinate"]),
    "wrong level": (("equation = ", 'level = "velocity"\nequation = '), ["'rod'", "velocity", "position"]),
    "unknown level": (("equation = ", 'level = "speed"\nequation = '), ["'speed'"]),
    "duplicate coordinate": (('["x", "y"]', '["x", "y", "x"]'), ["'x'", "twice"]),
    "coordinate and parameter": (("l = 0.9", "l = 0.9\nx = 3"), ["'x'", "both"]),
    "reserved name": (('["x", "y"]', '["x", "y", "t"]'), ["'t'"]),
    "duplicate constraint": (
        ("[initial]", '[[constraints]]\nname = "rod"\nequation = "x = 0"\n[initial]'),
        ["'rod'", "twice"],
    ),
    "wrong size of mass": (
        ('[energy]\nkinetic = "m*(x\'^2 + y\'^2)/2"\npotential = "m*g*y"', '[mass]\nmatrix = [["m"]]'),
        ["2×2", "1×1"],
    ),
    "asymmetric mass": (
        ('[energy]\nkinetic = "m*(x\'^2 + y\'^2)/2"\npotential = "m*g*y"', '[mass]\nmatrix = [["m", "1"], ["0", "m"]]'),
        ["not symmetric"],
    ),
    "no inertia": (("kinetic = \"m*(x'^2 + y'^2)/2\"", ""), ["no inertia"]),
    "zero duration": (("duration = 0.5", "duration = 0.0"), ["duration", "positive"]),
    "negative duration": (("duration = 0.5", "duration = -1"), ["duration", "-1"]),
    "no duration": (("duration = 0.5", ""), ["--duration"]),
    "velocity without quotes": (('"x\'" = 0.0', "x' = 0.0"), ["not TOML", 'a name with a prime is quoted: "x\'" = …']),
    "code": (("m*g*y", "__import__('os').system('touch hacked')"), ["not allowed", "__import__"]),
    "attribute": (("m*g*y", "m.__class__"), ["not allowed"]),
    "tower of powers": (("m*g*y", "9**9**9**9"), ["too large"]),
    "nested parentheses": (("m*g*y", "(" * 10**6 + "x" + ")" * 10**6), ["characters are too many"]),
    "nested parentheses, fewer": (("m*g*y", "(" * 500 + "x" + ")" * 500), ["nested"]),
    "division by zero": (("m*g*y", "m*g*y/0"), ["division by zero"]),
    "model undefined at the start": (("m*g*y", "m*g*log(y)"), ["no finite value"]),
    "unknown entry": (("[initial]", "[initail]"), ["'initail'", "'initial'"]),
    "unknown energy": (("potential =", "potentail ="), ["'potentail'", "'potential'"]),
    "unknown law": (
        ("[initial]", '[[nonideal]]\nlaw = "magic"\n[initial]'),
        ["'magic'"],
    ),
    "not TOML": (("[parameters]", "[parameters"), ["not TOML", "line"]),
    "equation with two signs": (("x^2 + y^2 = l^2", "x = y = l"), ["more than one '='"]),
    "velocity in a potential": (("m*g*y", "m*g*y'"), ["potential", "positions"]),
}


@pytest.mark.parametrize("case", BAD)
def test_message(case, dalembert, document, tmp_path):
    change, words = BAD[case]
    done = dalembert("run", document(change), "--json")
    assert done.status == 2, done
    assert done.out == ""
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.toml"], "nothing may be left behind"


def test_all_missing_values_are_listed(dalembert, document):
    text = GOOD.partition("[initial]")[2].partition("[simulate]")[0]
    done = dalembert("run", document((text, "\n")))
    assert done.status == 2
    assert "x, y, x', y'" in done.err
    assert "[initial]" in done.err


def test_all_faults_are_told_at_once(dalembert, document):
    done = dalembert("run", document(("m = 1.1", "m = nan"), ("m*g*y", "m*g*z"), ("x = 0.9", "z = 0.9")))
    assert done.status == 2
    for word in ("NaN", "unknown name 'z'", "initial: 'z'"):
        assert word in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "no-such-file.toml"], ["no such file"]),
        (["run", "pendulm"], ["Did you mean 'pendulum'"]),
        (["run", "."], ["folder"]),
        (["run", "pendulum", "--set", "mass=3"], ["'mass'"]),
        (["run", "pendulum", "--set", "m"], ["NAME=VALUE"]),
        (["run", "pendulum", "--set", "m=nan"], ["finite"]),
        (["run", "pendulum", "--set", "m=__import__('os')"], ["not allowed"]),
        (["run", "pendulum", "--initial", "q=1"], ["'q'"]),
        (["run", "pendulum", "--rtol", "0"], ["rtol"]),
        (["run", "pendulum", "--rtol", "nan"], ["rtol"]),
        (["run", "pendulum", "--samples", "1"], ["samples"]),
        (["run", "pendulum", "--method", "euler"], ["'euler'"]),
        (["run", "pendulum", "--duration", "inf"], ["duration"]),
        (["equations", "pendulum", "--form", "magic"], ["'magic'"]),
        (["examples", "nothing-like-this"], ["nothing-like-this"]),
        (["check", "no-such-file.toml"], ["no such file"]),
    ],
)
def test_arguments(arguments, words, dalembert, tmp_path):
    done = dalembert(*arguments)
    assert done.status == 2, done
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err
    assert list(tmp_path.iterdir()) == []


def test_binary_file(dalembert, tmp_path):
    (tmp_path / "model.toml").write_bytes(bytes(range(256)))
    done = dalembert("run", "model.toml")
    assert done.status == 2
    assert "UTF-8" in done.err


def test_unwritable_folder(dalembert, document, tmp_path):
    (tmp_path / "taken").write_text("a file")
    done = dalembert("run", document(), "--out", tmp_path / "taken" / "results")
    assert done.status == 2
    assert "cannot write here" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.toml", "taken"]


def test_names_longer_than_those_of_files(dalembert, document, tmp_path):
    """A system may have any name, in letters of four bytes; a folder for its results may not."""
    model = document(('name = "pendulum"', f'name = "{"𝛼" * 300}"'))
    assert dalembert("run", model, "--json").status == 0
    done = dalembert("run", model, "--out", "o" * 300)
    assert done.status == 2
    assert "cannot write here" in done.err


def test_full_disk(document, tmp_path: Path):
    """A file size limit stands in for a full disk: the result is still printed, no file is left half-written."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = subprocess.run(
        [sys.executable, "-m", "dalembert.cli.app", "run", str(document()), "--json", "--out", str(tmp_path / "r")],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLCONFIGDIR": str(tmp_path / "mpl"),
            "DALEMBERT_CACHE": str(tmp_path / "kernels"),
        },
    )
    assert done.returncode == 2, done.stderr
    assert "cannot be written" in done.stderr
    if find_compiler() is not None and not PREBUILT.is_file():
        assert "could not be built" in done.stderr, "what runs tapes; the reference backend stood in"
    assert "Traceback" not in done.stderr
    assert '"final"' in done.stdout
    assert not list((tmp_path / "r").glob("*")) if (tmp_path / "r").exists() else True

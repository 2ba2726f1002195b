"""`[[particles]]` in model documents: read, written back, faults told."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

TEXT = """
name = "pendulum"
description = "A bob."
coordinates = ["alpha"]
[parameters]
m = 2
a = 1.5
g = 9.81
mu = 0.1
[[particles]]
name = "bob"
mass = "m"
position = ["a*sin(alpha)", "a*cos(alpha)"]
force = [0, "m*g"]
[[constraints]]
name = "rod"
equation = "x_bob^2 + y_bob^2 = a^2"
[[nonideal]]
law = "viscous"
constraint = "rod"
coefficient = "mu"
[[events]]
name = "low"
expression = "alpha"
[initial]
alpha = 1
"alpha'" = 0
[simulate]
duration = 2
"""


def test_reads_particles():
    system = da.loads(TEXT)
    (bob,) = system.particles.particles
    assert bob.name == "bob"
    assert [q.name for q in system.coordinates] == ["alpha"]
    assert system.events[0].name == "low"
    # α̈ = −(g/a) sin α at rest, by hand.
    assert system.at().acceleration == pytest.approx([-9.81 / 1.5 * np.sin(1)])
    now = da.liberate(system).reactions(system.at())
    assert now["bob"] == pytest.approx(-2 * 9.81 * np.cos(1) * np.array([np.sin(1), np.cos(1)]))


@pytest.mark.parametrize(
    "change",
    [
        ("", ""),
        ('law = "viscous"\nconstraint = "rod"\ncoefficient', 'law = "coulomb"\nconstraint = "rod"\nmu'),
        ("force = [0, \"m*g\"]", ""),
        ("[initial]", '[energy]\npotential = "m*g*y_bob/3"\n[initial]'),
    ],
    ids=["as it stands", "dry friction", "no force", "potential"],
)  # fmt: skip
def test_is_written_back(change, tmp_path):
    system = da.loads(TEXT.replace(*change))
    text = da.dumps(system)
    again = da.loads(text)
    assert da.dumps(again) == text
    assert again.structure == system.structure
    assert again.at().acceleration == pytest.approx(system.at().acceleration, rel=1e-15)
    system.particles.save(tmp_path / "a.toml")
    assert "[[particles]]" in (tmp_path / "a.toml").read_text("utf-8")
    assert da.load(tmp_path / "a.toml").particles.constraints == system.particles.constraints


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        (('mass = "m"', 'mass = "mm"'), ["mass of 'bob': unknown name 'mm'"]),
        (('"a*cos(alpha)"]', '"a*coz(alpha)"]'), ["position of 'bob': function 'coz'", "(in 'a*coz(alpha)')"]),
        (('"m*g"]', '"m*gg"]'), ["force on 'bob': unknown name 'gg'"]),
        (('mass = "m"\n', ""), ["[[particles]] number 1: no 'mass'"]),
        (('mass = "m"', 'mas = "m"'), ["no 'mass'", "unknown entry 'mas'. Did you mean 'mass'?"]),
        (('mass = "m"', "mass = true"), ["'mass' is a number or a text"]),
        (('force = [0, "m*g"]', "force = [0]"), ["1 component of the force, but 2 of the position"]),
        (('force = [0, "m*g"]', "force = 5"), ["'force' is a list"]),
        (('position = ["a*sin(alpha)", "a*cos(alpha)"]', "position = []"), ["'position' is a list"]),
        (('name = "bob"', 'name = "bob 1"'), ["letters, digits"]),
        (('name = "bob"', "name = 3"), ["'name' is a text"]),
        (("[[particles]]", "[particles]"), ["write [[particles]] before each"]),
        (("= a^2", "= 4*a^2"), ["does not hold at the positions"]),
        (("= a^2", ">= a^2"), ["an equation between positions"]),
        (('constraint = "rod"', 'constraint = "rot"'), ["no constraint 'rot'. Did you mean 'rod'?"]),
        (("[initial]", '[energy]\nkinetic = "1"\n[initial]'), ["kinetic follows from [[particles]]"]),
        (("[initial]", '[forces]\nalpha = "1"\n[initial]'), ["forces act on particles"]),
        (("[initial]", '[mass]\nmatrix = [["1"]]\n[initial]'), ["the masses are those of"]),
        (("[initial]", '[forces]\nalpha = "1"\n[initial]\nbeta = 1'), ["forces act on particles", "beta"]),
        (('[parameters]', 'impacts = "together"\n[parameters]'), ["impacts: particles have"]),
    ],
)  # fmt: skip
def test_faults_are_told(change, messages):
    with pytest.raises(da.DocumentError) as told:
        da.loads(TEXT.replace(*change))
    for message in messages:
        assert message in str(told.value)


def test_no_particles_at_all():
    with pytest.raises(da.DocumentError, match="there are none"):
        da.loads('name = "x"\ncoordinates = ["a"]\nparticles = []')

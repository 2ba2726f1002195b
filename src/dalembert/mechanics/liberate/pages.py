"""The steps of liberation as a person reads them, section by section of the paper."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp
from sympy import ImmutableMatrix as Vector

from dalembert.mechanics.algebra.tidy import tidy
from dalembert.mechanics.liberate.steps import Steps
from dalembert.mechanics.page.decimals import as_written, has_decimals
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import by_parts
from dalembert.mechanics.principles.liberation_page import (
    INVERSE,
    MOTION,
    NONE_AT_REST,
    NORMAL,
    REACTIONS,
    REST,
    has_value,
    inverse_lines,
    inverse_reaction,
)
from dalembert.mechanics.principles.shared.page_marks import mark
from dalembert.mechanics.principles.shared.variations import displacement

TITLE = "liberation step by step, (2.3) to (7.5) of Djukic 2012"


def equations(steps: Steps) -> Equations:
    """Everything from the free positions to the reactions."""
    sections = [
        *_displacements(steps),
        Section("b and its inverse (3.6), (3.7)", _metric(steps)),
        Section("generalized forces (4.2), (4.3)", _forces(steps)),
        Section("kinetic energy on the constraints, and its part linear in what frees (5.3)", _energies(steps)),
        Section("virtual work of inertia, forces and reactions (7.1), (4.2), (6.4)", _work(steps)),
        Section(MOTION, _named_lines(steps, steps.motion)),
        Section(NORMAL, _normal(steps)),
    ]
    sections += _reactions(steps)
    reason = steps.note
    if steps.still:
        rest = _at_rest(
            steps, [s for s in sections if s.title in (MOTION, NORMAL) or (s.title == REACTIONS and steps.on)]
        )
        if all(has_value(term) for line in rest.lines for _, term in line.terms):
            sections.append(rest)
        else:
            reason = "; ".join(filter(None, [reason, f"equilibrium is left out: {NONE_AT_REST}"]))
    if steps.implicit:
        reason = "; ".join(filter(None, [reason, "friction depends on the reactions, which stand on both sides"]))
    found = by_parts(
        Equations(
            system=steps.system,
            form="liberation",
            explicit=False,
            reason=reason,
            title=TITLE,
            sections=tuple(section for section in sections if section.lines),
        )
    )
    return replace(found, sections=as_written(found.sections)) if has_decimals(steps.system) else found


def _displacements(steps: Steps) -> list[Section]:
    """What section 2 says of positions; coordinates that are freed as they are have normals only."""
    normals = Section("normals (2.3)", _normals(steps))
    if steps.held:
        return [normals]
    tangential = steps.tangential_displacements
    found = [
        Section("free positions (2.4)", _vectors("rho", r"\rho", steps, steps.liberated)),
        normals,
        Section("tangential displacements (2.7), (3.2)", _vectors("dr", r"\delta r", steps, tangential)),
    ]
    if steps.bound:
        moved = [entry for vector in tangential.values() for entry in vector]
        bound = [
            Line(sp.S.Zero, (("", sp.Add(*(l * d for l, d in zip(row, moved, strict=True)))),), name)
            for row, name in zip(steps.gradient.tolist(), steps.constraints, strict=True)
        ]
        found.append(Section("which the constraints bind (2.2)", tuple(bound)))
    normal = _vectors("dn", r"\delta n", steps, steps.normal_displacements)
    return [*found, Section("normal displacements (2.8)", normal)]


def _vectors(text: str, tex: str, steps: Steps, vectors: dict[str, Vector]) -> tuple[Line, ...]:
    lines = []
    for name, axes in steps.axes:
        for axis, entry in zip(axes, vectors[name], strict=True):
            left = mark(f"{text}_{axis.name}", rf"{tex}_{{{sp.latex(sp.Symbol(axis.name))}}}")
            lines.append(Line(left, (("", entry),)))
    return tuple(lines)


def _normals(steps: Steps) -> tuple[Line, ...]:
    """Components that are zero are left out."""
    lines = []
    axes = [axis for _, own in steps.axes for axis in own]
    for k, name in enumerate(steps.constraints):
        for axis, entry in zip(axes, steps.gradient.row(k), strict=True):
            if entry != 0:
                left = mark(f"l_{k + 1},{axis.name}", rf"l_{{{k + 1},\,{sp.latex(sp.Symbol(axis.name))}}}")
                lines.append(Line(left, (("", entry),), name))
    return tuple(lines)


def _metric(steps: Steps) -> tuple[Line, ...]:
    size = len(steps.constraints)
    lines = [
        Line(_entry("b", "b", i, j), (("", steps.b[i, j]),)) for i in range(size) for j in range(i, size)
        if i == j or steps.b[i, j] != 0
    ]  # fmt: skip
    inverse = steps.b_inverse
    if inverse is not None:
        for row, i in enumerate(steps.independent):
            lines += [
                Line(_entry("(b^-1)", r"\left(b^{-1}\right)", i, j), (("", inverse[row, column]),))
                for column, j in enumerate(steps.independent)
                if j >= i and (i == j or inverse[row, column] != 0)
            ]
    return tuple(lines)


def _entry(text: str, tex: str, i: int, j: int) -> sp.Symbol:
    comma = "," if max(i, j) > 8 else ""
    return mark(f"{text}_{i + 1}{comma}{j + 1}", rf"{tex}_{{{i + 1}{comma}{j + 1}}}")


def _forces(steps: Steps) -> tuple[Line, ...]:
    lines = [Line(sp.Symbol(f"Q_{q.name}"), (("", Q.xreplace(steps.named)),)) for q, Q in steps.forces.items()]
    across = zip(steps.applied.items(), _indices(steps), strict=True)
    return tuple(lines) + tuple(
        Line(sp.Symbol(f"N_{k}"), (("", N.xreplace(steps.named)),), name) for (name, N), k in across
    )


def _indices(steps: Steps) -> list[str]:
    """Δ on the page: numbers, or the names of the coordinates that are held."""
    if steps.held:
        return [s.name for s in steps.supplementary]
    return [str(k) for k in range(1, len(steps.constraints) + 1)]


def _energies(steps: Steps) -> tuple[Line, ...]:
    return (
        Line(mark("(E_k)_0", r"(E_k)_0"), (("", steps.kinetic),)),
        Line(mark("~E_k", r"\tilde E_k"), (("", steps.linear_kinetic),)),
    )


def _work(steps: Steps) -> tuple[Line, ...]:
    """δA by displacement, forces under the names of the sections before."""
    work = steps.virtual_work
    applied = work.applied.xreplace(steps.named)
    reactions = sp.Add(*(sp.Symbol(f"R_{k}") * d for k, d in zip(_indices(steps), _across(steps), strict=True)))
    return (
        Line(mark("dA^I", r"\delta A^{\mathbf{I}}"), (("", work.inertia.xreplace(steps.named)),)),
        Line(mark("dA^F", r"\delta A^{\mathbf{F}}"), (("", applied),)),
        Line(mark("dA^R", r"\delta A^{\mathbf{R}}"), (("", reactions),)),
    )


def _across(steps: Steps) -> list[sp.Symbol]:
    return [displacement(s) for s in steps.supplementary]


def _named_lines(steps: Steps, lines: tuple[Line, ...]) -> tuple[Line, ...]:
    return tuple(
        Line(line.left, tuple((label, tidy(term.xreplace(steps.named))) for label, term in line.terms), line.label)
        for line in lines
    )


def _normal(steps: Steps) -> tuple[Line, ...]:
    return tuple(
        Line(sp.Symbol(f"R_{k}"), (("", R.xreplace(steps.named)),), name)
        for k, (name, R) in zip(_indices(steps), steps.generalized.items(), strict=True)
    )


def _reactions(steps: Steps) -> list[Section]:
    """(R⁻¹) and the reactions, in closed form or by the equations that determine them."""
    if steps.held:  # unit normals: (R⁻¹)_Δ = R_Δ is the reaction itself
        same = [Line(inverse_reaction(name), (("", sp.Symbol(f"R_{name}")),)) for name in _indices(steps)]
        return [Section(INVERSE, tuple(same))]
    if steps.inverse is None:
        lines = inverse_lines(
            steps.gradient, steps.b, list(steps.independent), [axis for _, own in steps.axes for axis in own]
        )
        return [Section(INVERSE, lines[0]), Section(REACTIONS, lines[1])]
    inverse = [
        Line(inverse_reaction(k), (("", steps.inverse[name]),), name) for k, name in enumerate(steps.constraints)
    ]
    assert steps.on is not None
    on = [
        Line(sp.Symbol(f"R_{axis.name}"), (("", entry),))
        for name, axes in steps.axes
        for axis, entry in zip(axes, steps.on[name], strict=True)
    ]
    return [Section(INVERSE, tuple(inverse)), Section(REACTIONS, tuple(on))]


def _at_rest(steps: Steps, sections: list[Section]) -> Section:
    rest = {symbol: sp.S.Zero for q in steps.coordinates for symbol in (q.d, q.dd)}
    lines = []
    for line in (line for section in sections for line in section.lines):
        terms = tuple((label, tidy(term.xreplace(rest))) for label, term in line.terms)
        lines.append(Line(line.left.xreplace(rest), terms, line.label))
    return Section(REST, tuple(lines))

"""A step of an explicit method in lanes: accelerations only, as `cuda/step.py` explains, and no more than what the
equations read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from dalembert.kernel.cuda.step import second_order, slope_rows
from dalembert.methods.tableau import Row, Tableau

WIDTH = 108


@dataclass(frozen=True)
class Reads:
    """Of so many coordinates those that the accelerations depend on, and velocities, and which of the accelerations are
    not zero always.
    """

    size: int
    q: tuple[int, ...]
    v: tuple[int, ...]
    moved: frozenset[int]


def reads_of(acceleration: ca.Function) -> Reads:
    """Of a function (q, v, t, p) -> q̈, and more."""
    used: tuple[set[int], ...] = (set(), set(), set(), set())
    for k in range(acceleration.n_instructions()):
        if acceleration.instruction_id(k) == ca.OP_INPUT:
            which, place = acceleration.instruction_input(k)
            used[which].add(place)
    moved = frozenset(acceleration.sparsity_out(0).get_triplet()[0])
    return Reads(int(acceleration.numel_out(0)), tuple(sorted(used[0])), tuple(sorted(used[1])), moved)


def groups_of(rolled: bool) -> int:
    """How many groups of lanes take their steps together."""
    return 1 if rolled else 2


def step_source(tableau: Tableau, reads: Reads, rolled: bool) -> str:
    """`da_step`: one step and its error. rolled: the stages are a loop, for long equations."""
    rows = slope_rows(tableau)
    stages = [_loop(rows)] if rolled else [_stage(i, rows, tableau, reads) for i in range(1, len(rows))]
    parts = [*stages, _end(tableau, rows, reads), _norm(tableau, rows, reads)]
    names = """\
        const da_lane *q = g[b].q, *v = g[b].v, *a = g[b].a, *c = g[b].c, *atol = g[b].atol;
        const da_lane t = g[b].t, h = s[b].step;
        da_lane(*k)[DA_N] = s[b].k, *qn = s[b].qn, *vn = s[b].vn, sq[DA_N], sv[DA_N], m[1];
        (void)q, (void)v, (void)a, (void)c, (void)atol, (void)t, (void)h, (void)k, (void)qn, (void)vn;
        (void)sq, (void)sv, (void)m;
"""
    groups = range(groups_of(rolled))
    body = "\n".join(f"    {{\n        enum {{ b = {b} }};\n{names}{part}\n    }}" for part in parts for b in groups)
    return f"""\
{_tables(rows, tableau, rolled)}
/* One step of each group, of size s->step: the new states, the norms of their errors relative to the tolerances, at
   most 1 where they are acceptable, and where no pivot was too small. Stage by stage for all groups: what one stage
   computes the next one waits for, and another group fills the time. */
DA_LANE void da_step(const da_group *DA_RESTRICT g, da_try *DA_RESTRICT s, double rtol)
{{
{body}
}}
"""


def _sum(weights: Sequence[float], j: int | str) -> str:
    terms = [f"{w!r} * {_slope(i, j)}" for i, w in enumerate(map(float, weights)) if w != 0.0]
    lines, line = [], terms[0] if terms else "DA_R(0.0)"
    for term in terms[1:]:
        if len(line) + len(term) + 20 > WIDTH:
            lines.append(line)
            line = f"+ {term}"
        else:
            line += f" + {term}"
    return "\n            ".join([*lines, line])


def _slope(i: int, j: int | str) -> str:
    return f"k[{i}][{j}]" if i else f"a[{j}]"


def _velocity(weights: Sequence[float], j: int, into: str, reads: Reads) -> str:
    more = f" + h * ({_sum(weights, j)})" if j in reads.moved and any(weights) else ""
    return f"        {into}[{j}] = v[{j}]{more};"


def _position(weights: Sequence[float], rows: Sequence[Row], j: int, into: str, reads: Reads) -> str:
    share, twice = second_order(weights, rows)
    further = f" + h * ({_sum(twice, j)})" if j in reads.moved and any(twice) else ""
    return f"        {into}[{j}] = q[{j}] + h * ({share!r} * v[{j}]{further});"


def _stage(i: int, rows: Sequence[Row], tableau: Tableau, reads: Reads) -> str:
    at = float(tableau.c[i]) if i < tableau.stages else 1.0
    lines = [_velocity(rows[i], j, "sv", reads) for j in reads.v]
    lines += [_position(rows[i], rows, j, "sq", reads) for j in reads.q]
    lines += [f"        da_acceleration(sq, sv, t + {at!r} * h, c, k[{i}], m);"]
    lines += [f"        s[b].good {'&' if i > 1 else ''}= DA_ABOVE(m[0], 0.0);"]
    return "\n".join(lines)


def _end(tableau: Tableau, rows: Sequence[Row], reads: Reads) -> str:
    n = range(reads.size)
    lines = [_velocity(tableau.b, j, "vn", reads) for j in n]
    return "\n".join([*lines, *(_position(tableau.b, rows, j, "qn", reads) for j in n)])


def _tables(rows: Sequence[Row], tableau: Tableau, rolled: bool) -> str:
    size = len(rows)

    def table(name: str, lines: Sequence[Sequence[float]]) -> str:
        text = ",\n".join(
            "    {" + ", ".join(repr(float(x)) for x in (*line, *[0.0] * (size - len(line)))) + "}" for line in lines
        )
        return f"static const double {name}[{size}][{size}] = {{\n{text},\n}};\n"

    found = table("da_once", rows)
    if rolled:
        nodes = ", ".join(repr(float(c)) for c in (*tableau.c, *[1.0] * (size - tableau.stages)))
        found += table("da_twice", [second_order(row, rows)[1] for row in rows])
        found += f"static const double da_node[] = {{{nodes}}};\n"
    return found


def _loop(rows: Sequence[Row]) -> str:
    return f"""\
        s[b].good = DA_EVERY;
        for (int i = 1; i < {len(rows)}; i++) {{
            da_lane once[DA_N], twice[DA_N];
            for (int j = 0; j < DA_N; j++) {{
                once[j] = da_once[i][0] * a[j];
                twice[j] = da_twice[i][0] * a[j];
            }}
            for (int l = 1; l < i; l++)
                for (int j = 0; j < DA_N; j++) {{
                    once[j] += da_once[i][l] * k[l][j];
                    twice[j] += da_twice[i][l] * k[l][j];
                }}
            for (int j = 0; j < DA_N; j++) {{
                sv[j] = v[j] + h * once[j];
                sq[j] = q[j] + h * (da_node[i] * v[j] + h * twice[j]);
            }}
            da_acceleration(sq, sv, t + da_node[i] * h, c, k[i], m);
            s[b].good &= DA_ABOVE(m[0], 0.0);
        }}"""


def _norm(tableau: Tableau, rows: Sequence[Row], reads: Reads) -> str:
    """As `da_…_step` of emit/explicit.py has it. The sums of an estimate's weights vanish, so that velocities at the
    start of the step have no part in it.
    """
    names = ("fine", "coarse")[: len(tableau.estimates)]
    lines = [f"        da_lane {', '.join(f'{name} = DA_R(0.0)' for name in names)}, of_q, of_v, e;"]
    for j in sorted(reads.moved):
        for x, at in (("q", f"{j}"), ("v", f"DA_N + {j}")):
            largest = f"da_lane_max(da_lane_fabs({x}[{j}]), da_lane_fabs({x}n[{j}]))"
            lines.append(f"        of_{x} = 1.0 / (atol[{at}] + rtol * {largest});")
        for name, estimate in zip(names, tableau.estimates, strict=True):
            share, twice = second_order(estimate.weights, rows)
            if share:
                raise ValueError("the weights of an estimate must sum to zero")
            lines += [f"        e = ({_sum(estimate.weights, j)}) * of_v;", f"        {name} += e * e;"]
            lines += [f"        e = h * ({_sum(twice, j)}) * of_q;", f"        {name} += e * e;"]
    if len(names) == 1:
        return "\n".join([*lines, "        s[b].norm = h * da_lane_sqrt(fine / (double)DA_NE);"])
    lines.append("        const da_lane both = fine + 0.01 * coarse;")
    lines.append("        const da_lane norm = h * fine / da_lane_sqrt(both * (double)DA_NE);")
    lines.append("        s[b].norm = da_select(da_equal(both, DA_R(0.0)), DA_R(0.0), norm);")
    return "\n".join(lines)

"""A step of an explicit method for second-order equations, with few values alive.

The slope of q at a stage is the velocity there, which is made of accelerations: qᵢ = q + h(cᵢ q̇ + h Σₗ āᵢₗ aₗ) with
ā = a·a. So a step keeps accelerations only, half of what a first-order method keeps, and on a GPU what a thread keeps
in registers decides how fast it is. The method is the same, to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dalembert.methods.tableau import Row, Tableau

WIDTH = 108
# Products of rounded coefficients that the order conditions make zero come out as rounding.
VANISHING = 1e-14


def slope_rows(tableau: Tableau) -> tuple[Row, ...]:
    """The rows of the slopes that a step takes, the one at its end among them where an estimate needs it."""
    return (*tableau.a, tableau.b) if tableau.ends_with_slope else tableau.a


def second_order(weights: Sequence[float], rows: Sequence[Row]) -> tuple[float, tuple[float, ...]]:
    """Σᵢ wᵢ q̇ᵢ as (Σ w) q̇ + h Σₗ w̄ₗ aₗ: the sum and w̄."""
    exact, total = [Fraction(0)] * len(rows), Fraction(0)
    for weight, row in zip(weights, rows, strict=False):
        total += Fraction(weight)
        for l, entry in enumerate(row):
            exact[l] += Fraction(weight) * Fraction(entry)
    largest = max((abs(w) for w in weights), default=1.0) or 1.0
    kept = tuple(float(x) if abs(x) > VANISHING * largest else 0.0 for x in exact)
    return (float(total) if abs(total) > VANISHING * largest else 0.0), kept


class Weights:
    """Numbers in a table that every instruction can read as it stands."""

    def __init__(self, table: str) -> None:
        self.table = table
        self._places: dict[float, int] = {}

    def name(self, weight: float) -> str:
        return f"{self.table}[{self._places.setdefault(float(weight), len(self._places))}]"

    def source(self) -> str:
        lines, numbers = [], [repr(weight) for weight in self._places] or ["0.0"]
        for start in range(0, len(numbers), 4):
            lines.append("    " + ", ".join(numbers[start : start + 4]) + ",")
        return f"DA_TABLE double {self.table}[] = {{\n" + "\n".join(lines) + "\n};\n"


def step_source(tableau: Tableau, rolled: bool) -> str:
    """`da_step`: one step and its error. rolled: one copy of the equations in a loop over the stages, for those that
    are long; otherwise as many copies as there are stages, nothing but registers between them.
    """
    rows, table = slope_rows(tableau), Weights("da_weight")
    copies = (_stage(i, rows, tableau, table) for i in range(1, len(rows)))
    stages = _loop(rows) if rolled else "\n".join(copies)
    end, norm = _state(tableau.b, rows, "qn", "vn", 8, table), _norm(tableau, rows, table)
    tables = (_tables(rows, tableau) if rolled else "") + table.source()
    return f"""\
{tables}/* One step of size h from (t, q, v), where k[0] is the acceleration: the new state, and the norm of its error
   relative to the tolerances, at most 1 where it is acceptable. *good becomes 0 where a pivot was too small. */
DA_FN double da_step(double t, const double *q, const double *v, double h, double k[][DA_N], const double *c,
                     double *qn, double *vn, double rtol, const double *atol, int *good)
{{
    double sq[DA_N], sv[DA_N], m[1];
{stages}
    DA_UNROLL
    for (int j = 0; j < DA_N; j++) {{
{end}
    }}
{norm}
}}
"""


def _sum(weights: Sequence[float], indent: int, table: Weights) -> str:
    terms = [f"{table.name(w)} * k[{i}][j]" for i, w in enumerate(weights) if w != 0.0]
    lines, line = [], terms[0] if terms else "0.0"
    for term in terms[1:]:
        if len(line) + len(term) + indent + 24 > WIDTH:
            lines.append(line)
            line = f"+ {term}"
        else:
            line += f" + {term}"
    return ("\n" + " " * (indent + 4)).join([*lines, line])


def _state(weights: Sequence[float], rows: Sequence[Row], q: str, v: str, indent: int, table: Weights) -> str:
    """The state at the end of h times these weights of slopes."""
    share, twice = second_order(weights, rows)
    pad = " " * indent
    further = f" + h * ({_sum(twice, indent, table)})" if any(twice) else ""
    of_v = f"{pad}{v}[j] = v[j] + h * ({_sum(weights, indent, table)});"
    of_q = f"{pad}{q}[j] = q[j] + h * ({table.name(share)} * v[j]{further});"
    return f"{of_v}\n{of_q}"


def _stage(i: int, rows: Sequence[Row], tableau: Tableau, table: Weights) -> str:
    at = float(tableau.c[i]) if i < tableau.stages else 1.0
    return f"""\
    DA_UNROLL
    for (int j = 0; j < DA_N; j++) {{
{_state(rows[i], rows, "sq", "sv", 8, table)}
    }}
    da_acceleration(sq, sv, t + {table.name(at)} * h, c, k[{i}], m);
    *good &= m[0] > 0.0;"""


def _tables(rows: Sequence[Row], tableau: Tableau) -> str:
    size = len(rows)

    def table(name: str, lines: Sequence[Sequence[float]]) -> str:
        text = ",\n".join(
            "    {" + ", ".join(repr(float(x)) for x in (*line, *[0.0] * (size - len(line)))) + "}" for line in lines
        )
        return f"DA_TABLE double {name}[{size}][{size}] = {{\n{text},\n}};\n"

    composed = [second_order(row, rows)[1] for row in rows]
    nodes = ", ".join(repr(float(c)) for c in (*tableau.c, *[1.0] * (size - tableau.stages)))
    return table("da_once", rows) + table("da_twice", composed) + f"DA_TABLE double da_node[] = {{{nodes}}};\n"


def _loop(rows: Sequence[Row]) -> str:
    return f"""\
    DA_ROLL
    for (int i = 1; i < {len(rows)}; i++) {{
        double once[DA_N], twice[DA_N];
        for (int j = 0; j < DA_N; j++) once[j] = twice[j] = 0.0;
        DA_ROLL
        for (int l = 0; l < i; l++) {{
            const double a = da_once[i][l], b = da_twice[i][l];
            DA_UNROLL
            for (int j = 0; j < DA_N; j++) {{
                once[j] += a * k[l][j];
                twice[j] += b * k[l][j];
            }}
        }}
        DA_UNROLL
        for (int j = 0; j < DA_N; j++) {{
            sv[j] = v[j] + h * once[j];
            sq[j] = q[j] + h * (da_node[i] * v[j] + h * twice[j]);
        }}
        da_acceleration(sq, sv, t + da_node[i] * h, c, k[i], m);
        *good &= m[0] > 0.0;
    }}"""


def _norm(tableau: Tableau, rows: Sequence[Row], table: Weights) -> str:
    """As `da_…_step` of emit/explicit.py has it. The sums of an estimate's weights vanish, so that velocities at the
    start of the step have no part in it.
    """
    parts = []
    for estimate in tableau.estimates:
        share, twice = second_order(estimate.weights, rows)
        if share:
            raise ValueError("the weights of an estimate must sum to zero")
        parts.append((_sum(estimate.weights, 8, table), _sum(twice, 8, table)))
    of_q = "da_inverse(atol[DA_AT(j)] + rtol * da_max(fabs(q[j]), fabs(qn[j])))"
    of_v = "da_inverse(atol[DA_AT(DA_N + j)] + rtol * da_max(fabs(v[j]), fabs(vn[j])))"
    names = ("fine", "coarse")[: len(parts)]
    sums = "\n".join(
        f"        const double {name}_v = ({once}) * of_v, {name}_q = h * ({twice}) * of_q;\n"
        f"        {name} += {name}_v * {name}_v + {name}_q * {name}_q;"
        for name, (once, twice) in zip(names, parts, strict=True)
    )
    end = (
        "    return h * sqrt(fine / DA_NE);"
        if len(parts) == 1
        else """\
    const double both = fine + 0.01 * coarse;
    return both > 0.0 || both != both ? h * fine / sqrt(both * DA_NE) : 0.0;"""
    )
    declared = ", ".join(f"{name} = 0.0" for name in names)
    return f"""\
    double {declared};
    DA_UNROLL
    for (int j = 0; j < DA_N; j++) {{
        const double of_q = {of_q};
        const double of_v = {of_v};
{sums}
    }}
{end}"""


def slopes_source(tableau: Tableau) -> str:
    """`da_slopes`: the slopes of (q, q̇) at all stages, as an interpolant takes them."""
    rows, table = slope_rows(tableau), Weights("da_slope_weight")
    velocities = "\n".join(
        f"        full[{i}][j] = v[j]" + (f" + h * ({_sum(row, 8, table)});" if any(row) else ";")
        for i, row in enumerate(rows)
    )
    return f"""\
{table.source()}DA_FN void da_slopes(const double *v, double h, double k[][DA_N], double full[][DA_NE])
{{
    DA_UNROLL
    for (int j = 0; j < DA_N; j++) {{
{velocities}
        DA_UNROLL
        for (int i = 0; i < DA_KEPT; i++) full[i][DA_N + j] = k[i][j];
    }}
}}
"""

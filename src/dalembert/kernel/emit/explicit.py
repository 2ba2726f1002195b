"""Explicit Runge–Kutta methods as C, from their tableaux. Only nonzero coefficients appear.

For a method `name` there are `da_name_step`, one step and its error; `da_name_dense`, what its interpolant needs
besides; `da_name_at`, the interpolant; `da_name_doubt`, how far it errs; and `da_name_last`, where its last stage
stands, if stability is watched.
They need DA_NY, the number of integrated quantities; DA_NE, how many of them (the first ones) decide the step size; and
da_rhs(t, y, dy, ctx), which returns 0 where the right-hand side has a value.
"""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.methods.inside import judge_of
from dalembert.methods.tableau import Nested, Powers, Row, Tableau

WIDTH = 108  # of lines that more is added to
STEP = "double t, const double *DA_RESTRICT y, double h, double k[DA_SLOPES][DA_NW]"


def explicit_source(name: str, tableau: Tableau) -> str:
    """The functions of one method."""
    parts = [_last(name, tableau)] if tableau.limit is not None else []
    return "\n".join([*parts, _step(name, tableau), dense_source(name, tableau), inside_source(name, tableau)])


def head(function: str, parameters: str) -> str:
    """The first lines of a function, its parameters under each other where they are many."""
    lines, line = [], f"{function}("
    for parameter in parameters.split(", "):
        if len(line) + len(parameter) > WIDTH:
            lines.append(line.rstrip())
            line = " " * (len(function) + 1)
        line += f"{parameter}, "
    return "\n".join([*lines, line.removesuffix(", ") + ")"])


def _sum(weights: Row, indent: int, before: str, after: str) -> str:
    """A line with the sum of weights times slopes, broken where it is too long."""
    terms = [f"{weight!r} * k[{i}][j]" for i, weight in enumerate(map(float, weights)) if weight != 0.0]
    lines, line = [], " " * indent + before + (terms[0] if terms else "0.0")
    for term in terms[1:]:
        if len(line) + len(term) + 3 > WIDTH:
            lines.append(line)
            line = " " * (indent + 8) + f"+ {term}"
        else:
            line += f" + {term}"
    return "\n".join([*lines, line + after])


def _stage(row: Row, into: str = "s") -> str:
    return "    for (j = 0; j < DA_NW; j++)\n" + _sum(row, 8, f"{into}[j] = y[j] + h * (", ");")


def _last(name: str, tableau: Tableau) -> str:
    parameters = "const double *DA_RESTRICT y, double h, double k[DA_SLOPES][DA_NW], double *DA_RESTRICT s"
    return f"""\
/* Where the last stage of a step stands, at its end. */
{head(f"DA_FN void da_{name}_last", parameters)}
{{
    int j;
{_stage(tableau.a[-1])}
}}
"""


def _step(name: str, tableau: Tableau) -> str:
    last, lines = tableau.stages - 1, []
    for i in range(1, tableau.stages):
        watched = i == last and tableau.limit is not None
        lines.append(f"    da_{name}_last(y, h, k, s);" if watched else _stage(tableau.a[i]))
        lines.append(f"    if (da_rhs(t + {float(tableau.c[i])!r} * h, s, k[{i}], ctx)) return 1;")
    lines.append(_stage(tableau.b, "ynew"))
    if tableau.ends_with_slope:
        lines.append(f"    if (da_rhs(t + h, ynew, k[{tableau.stages}], ctx)) return 1;")
    body = "\n".join(lines)
    parameters = f"{STEP}, double *DA_RESTRICT ynew, double rtol, const double *DA_RESTRICT atol, double *norm, "
    parameters += "da_context *ctx"
    return f"""\
/* One step from (t, y) of size h. k[0] holds the slope at y; on return ynew holds the new state and *norm the error
   relative to the tolerances (at most 1: acceptable). Returns nonzero where a stage had no value. */
{head(f"DA_PIECE int da_{name}_step", parameters)}
{{
    double s[DA_NW];
    int j;
{body}
{_norm([estimate.weights for estimate in tableau.estimates])}
    if (!da_finite(*norm)) ctx->trouble = DA_UNDEFINED;
    return !da_finite(*norm);
}}
"""


def _norm(estimates: Sequence[Row]) -> str:
    size = "atol[j] + rtol * da_max(fabs(y[j]), fabs(ynew[j]))"
    if len(estimates) == 1:
        return f"""\
    double sum = 0.0;
    DA_BY_COMPONENT(double worst = 0.0;)
    for (j = 0; j < DA_NE; j++) {{
        const double scale = {size};
{_sum(estimates[0], 8, "const double e = (", ") / scale;")}
        sum += e * e;
        DA_BY_COMPONENT(worst = da_max(worst, fabs(e));)
    }}
    *norm = fabs(h) * sqrt(sum / DA_NE);
    DA_BY_COMPONENT(if (fabs(h) * worst > DA_WORST * *norm) *norm = fabs(h) * worst / DA_WORST;)"""
    return f"""\
    double fine = 0.0, coarse = 0.0;
    DA_BY_COMPONENT(double finest = 0.0; double coarsest = 0.0;)
    for (j = 0; j < DA_NE; j++) {{
        const double scale = 1.0 / ({size});
{_sum(estimates[0], 8, "const double a = (", ") * scale;")}
{_sum(estimates[1], 8, "const double b = (", ") * scale;")}
        fine += a * a;
        coarse += b * b;
        DA_BY_COMPONENT(finest = da_max(finest, fabs(a)); coarsest = da_max(coarsest, fabs(b));)
    }}
    const double denominator = fine + 0.01 * coarse;
    *norm = denominator == 0.0 ? 0.0 : fabs(h) * fine / sqrt(denominator * DA_NE);
    DA_BY_COMPONENT(const double beside = sqrt(finest * finest + 0.01 * coarsest * coarsest);)
    DA_BY_COMPONENT(const double most = beside > 0.0 ? fabs(h) * finest * finest / beside / DA_WORST : 0.0;)
    DA_BY_COMPONENT(if (most > *norm) *norm = most;)"""


def dense_source(name: str, tableau: Tableau) -> str:
    """`da_name_dense` alone."""
    parameters = f"{STEP}, const double *DA_RESTRICT ynew, const double *DA_RESTRICT fnew, "
    parameters += "double f[DA_DENSE][DA_NW], da_context *ctx"
    first = f"""\
/* What the interpolant on the last step needs besides its slopes; fnew is the slope at its end, on the constraints.
   Returns nonzero where a slope had no value. */
{head(f"DA_FN int da_{name}_dense", parameters)}
"""
    inner = tableau.interpolant
    if isinstance(inner, Powers):
        quiet = "(void)t, (void)y, (void)h, (void)k, (void)ynew, (void)fnew, (void)f, (void)ctx;"
        return f"{first}{{\n    {quiet}\n    return 0;\n}}\n"
    s, lines = tableau.stages, []
    for i, (row, c) in enumerate(zip(inner.a, inner.c, strict=True)):
        lines.append(_stage(row))
        lines.append(f"    if (da_rhs_checked(t + {float(c)!r} * h, s, k[{s + 1 + i}], ctx)) return 1;")
    rows = "\n".join(_sum(row, 8, f"f[{3 + i}][j] = h * (", ");") for i, row in enumerate(inner.rows))
    scratch = "    double s[DA_NW];\n" if lines else "    (void)t, (void)ctx;\n"
    return f"""\
{first}{{
{scratch}    int j;
    for (j = 0; j < DA_NY; j++) k[{s}][j] = fnew[j];
{chr(10).join(lines)}
    for (j = 0; j < DA_NW; j++) {{
        const double change = ynew[j] - y[j];
        f[0][j] = change;
        f[1][j] = h * k[0][j] - change;
        f[2][j] = 2.0 * change - h * (k[{s}][j] + k[0][j]);
{rows}
    }}
    return 0;
}}
"""


def inside_source(name: str, tableau: Tableau) -> str:
    """`da_name_at` and `da_name_doubt` alone."""
    return _at(name, tableau) + _doubt(name, tableau)


def _doubt(name: str, tableau: Tableau) -> str:
    judge = judge_of(tableau)
    parameters = f"{STEP}, double *DA_RESTRICT d, da_context *ctx"
    return f"""
/* The error of the interpolant inside the last step, about: see methods/inside.py. After what it needs besides is
   there; returns nonzero where the slope at it has no value. */
{head(f"DA_FN int da_{name}_doubt", parameters)}
{{
    double s[DA_NW];
    int j;
{_stage(judge.state)}
    if (da_rhs_checked(t + {judge.x!r} * h, s, d, ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
{_sum((*judge.rate,), 8, "d[j] = h * (", f" - {judge.weight!r} * d[j]);")}
    return 0;
}}
"""


def _at(name: str, tableau: Tableau) -> str:
    parameters = "double x, const double *DA_RESTRICT y, double h, double k[][DA_NW], double f[][DA_NW], "
    parameters += "double *DA_RESTRICT out"
    first = f"""\
/* The interpolant at the share x in [0, 1] of the step. */
{head(f"DA_FN void da_{name}_at", parameters)}
"""
    inner = tableau.interpolant
    if isinstance(inner, Nested):
        return f"""\
{first}{{
    (void)h, (void)k;
    for (int j = 0; j < DA_NW; j++) {{
        double sum = 0.0;
        for (int i = {2 + len(inner.rows)}; i >= 0; i--) sum = (sum + f[i][j]) * (i % 2 == 0 ? x : 1.0 - x);
        out[j] = y[j] + sum;
    }}
}}
"""
    degree = max(len(row) for row in inner.weights)
    rows = ",\n".join(
        "        {" + ", ".join(repr(float(w)) for w in (*row, *[0.0] * (degree - len(row)))) + "}"
        for row in inner.weights
    )
    value = f"P[i][{degree - 1}]"
    for power in reversed(range(degree - 1)):
        value = f"P[i][{power}] + x * " + (value if value.endswith("]") and " " not in value else f"({value})")
    return f"""\
{first}{{
    static const double P[{len(inner.weights)}][{degree}] = {{
{rows},
    }};
    (void)f;
    for (int j = 0; j < DA_NW; j++) {{
        double sum = 0.0;
        for (int i = 0; i < {len(inner.weights)}; i++) sum += k[i][j] * ({value});
        out[j] = y[j] + h * x * sum;
    }}
}}
"""

"""The methods of a kernel as C: the steppers of the explicit ones, headers of others, and functions that take the one
that is meant. Which methods there are says `methods/table.py` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from dalembert.kernel.emit.explicit import explicit_source, head
from dalembert.methods.table import METHODS, Method
from dalembert.methods.tableau import Nested

STEP = "t, y, h, k, ynew, rtol, atol, norm"


def methods_of(asked: Collection[str]) -> list[Method]:
    """What a kernel has: methods that all have, and those asked for."""
    return [m for m in METHODS.values() if m.code is not None and (m.in_every_kernel or m.name in asked)]


def optional_methods(asked: Collection[str]) -> tuple[str, ...]:
    """Those asked for that not every kernel has, in the order of the table: the same kernel for the same ones."""
    return tuple(m.name for m in methods_of(asked) if not m.in_every_kernel)


def sizes(methods: Sequence[Method]) -> dict[str, int]:
    """Macros: how many slopes a step keeps at most, and how many rows of coefficients an interpolant has; whether
    methods that not every kernel has are here.
    """
    tableaux = [m.tableau for m in methods if m.tableau is not None]
    nested = [len(t.interpolant.rows) for t in tableaux if isinstance(t.interpolant, Nested)]
    here = {m.name for m in methods}
    return {
        "DA_SLOPES": max(tableau.slopes for tableau in tableaux),
        "DA_DENSE": 3 + max(nested, default=0),
        **{
            f"DA_{m.name.upper()}": int(m.name in here)
            for m in METHODS.values()
            if m.code is not None and m.header is not None
        },
    }


def steppers(methods: Sequence[Method]) -> str:
    """What comes before the watch for stiffness: codes, the explicit methods, and their last stages."""
    codes = ", ".join(f"DA_METHOD_{m.name.upper()} = {m.code}" for m in METHODS.values() if m.code is not None)
    explicit = [(m, m.tableau) for m in methods if m.tableau is not None]
    sources = [f"/* {m.title}: {m.help}. */\n{explicit_source(m.prefix, tableau)}" for m, tableau in explicit]

    def last(m: Method) -> str:
        if m.tableau is None or m.tableau.limit is None:
            return "return 0.0;"
        place = f"*f = k[{m.tableau.stages - 1}];"
        return f"da_{m.prefix}_last(y, h, k, s);\n        {place}\n        return {float(m.tableau.limit)!r};"

    return "\n".join(
        [
            f"enum {{ {codes} }};\n",
            _ask("int", "da_has_method", "int method", methods, lambda m: "return 1;", "return 0;"),
            _ask("int", "da_is_implicit", "int method", [m for m in methods if m.stiff], _one, "return 0;"),
            "/* The estimated error of a step falls with this power of its size. */",
            _ask("int", "da_control", "int method", methods, lambda m: f"return {m.control};", "return 1;"),
            *sources,
            "/* Where the last stage of an explicit step stands, its slope, and the limit of stability; 0: none. */",
            _ask(
                "double",
                "da_last_stage",
                "int method, const double *y, double h, double k[DA_SLOPES][DA_NW], double *s, const double **f",
                [m for m, _ in explicit],
                last,
                "return 0.0;",
            ),
        ]
    )


def _one(method: Method) -> str:
    return "return 1;"


def dispatch(methods: Sequence[Method]) -> str:
    """What comes after the headers of methods: what they keep from step to step, a step, and a state inside it."""
    kept = [m for m in methods if m.header is not None]
    parts = "".join(f" PART(da_{m.prefix}, {m.prefix})" for m in kept)
    parameters = "double t, const double *y, double h, double k[DA_SLOPES][DA_NW]"
    steps = f"int method, {parameters}, double *ynew, double rtol, const double *atol, double *norm, "
    steps += "double dense[DA_DENSE][DA_NW], da_own *own, da_context *ctx"
    dense = f"int method, {parameters}, const double *ynew, const double *fnew, double dense[DA_DENSE][DA_NW], "
    dense += "da_context *ctx"
    doubt = f"int method, {parameters}, double *d, da_context *ctx"
    inside = "int method, double x, const double *y, double h, double k[][DA_NW], double dense[][DA_NW], "
    inside += "const da_own *own, double *out"

    def step(m: Method) -> str:
        own = f"dense, &own->{m.prefix}, " if m.header is not None else ""
        return f"return da_{m.prefix}_step({STEP}, {own}ctx);"

    def more(m: Method) -> str:
        return f"return da_{m.prefix}_dense(t, y, h, k, ynew, fnew, dense, ctx);"

    def doubted(m: Method) -> str:
        return f"return da_{m.prefix}_doubt(t, y, h, k, d, ctx);"

    def at(m: Method) -> str:
        own = f", &own->{m.prefix}" if m.header is not None else ""
        return f"da_{m.prefix}_at(x, y, h, k, dense{own}, out);\n        return;"

    def instead(m: Method) -> str:
        return f"return DA_METHOD_{str(m.instead).upper()};"

    return "\n".join(
        [
            "/* What methods keep from step to step. */",
            f"#define DA_OWN_ARRAYS(ARRAY, PART){parts}",
            "typedef struct {\n    int none; /* where no method keeps anything */",
            "    DA_OWN_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)\n} da_own;\nDA_STRUCTURE(da_own, DA_OWN_ARRAYS)\n",
            *[
                f"/* {why} */\nDA_FN void da_own_{verb}(da_own *own{more_})\n{{\n    (void)own{quiet};\n"
                + "".join(f"    da_{m.prefix}_{verb}(&own->{m.prefix}{given});\n" for m in kept)
                + "}\n"
                for verb, why, more_, given, quiet in (
                    ("begin", "At the start of a run.", ", double rtol", ", rtol", ", (void)rtol"),
                    ("forget", "Where the equations have changed.", "", "", ""),
                    ("go_on", "At a new accepted state.", "", "", ""),
                )
            ],
            "/* What takes a step where a method cannot. */",
            _ask("int", "da_instead", "int method", [m for m in methods if m.instead], instead, "return method;"),
            "/* One step; see the methods. */",
            _ask("int", "da_step_by", steps, methods, step, "return 1;", "(void)dense, (void)own;"),
            "/* What a state inside the last step needs besides it. */",
            _ask("int", "da_dense_by", dense, [m for m in methods if m.tableau is not None], more, "return 0;"),
            "/* How far states inside the last step err; below zero where nothing says so. */",
            _ask("int", "da_doubt_by", doubt, [m for m in methods if m.tableau is not None], doubted, "return -1;"),
            "/* The state at the share x in [0, 1] of a step, before its return to the constraints. */",
            _ask("void", "da_inside_by", inside, methods, at, "return;", "(void)h, (void)k, (void)own;"),
        ]
    )


def _ask(
    kind: str,
    name: str,
    parameters: str,
    methods: Sequence[Method],
    case: Callable[[Method], str],
    otherwise: str,
    quiet: str = "",
) -> str:
    """A function that does one thing or another, by the method."""
    cases = "".join(f"    case DA_METHOD_{m.name.upper()}:\n        {case(m)}\n" for m in methods)
    quiet = f"    {quiet}\n" if quiet else ""
    return (
        f"{head(f'DA_FN {kind} {name}', parameters)}\n{{\n{quiet}    switch (method) {{\n{cases}    default:\n"
        f"        {otherwise}\n    }}\n}}\n"
    )

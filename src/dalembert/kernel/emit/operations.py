"""The operations of CasADi's instructions, each as C: what straight-line code, series and tapes know.

By CasADi's name, without its OP_: its number, and the form, in which {0} and {1} are operands. Functions that are not
of C are in runtime/base/base.h. The numbers are written out here because the libraries that serve every model are
compiled where CasADi is not at hand (`hatch_build.py`); `require_casadi_codes` sees that those of the CasADi in use are
the same.
"""

from __future__ import annotations

from functools import cache

from dalembert.errors import BuildError

BINARY_FORMS = {
    "ADD": (1, "{0} + {1}"),
    "SUB": (2, "{0} - {1}"),
    "MUL": (3, "{0} * {1}"),
    "DIV": (4, "{0} / {1}"),
    "POW": (8, "pow({0}, {1})"),
    "CONSTPOW": (9, "pow({0}, {1})"),
    "ATAN2": (43, "atan2({0}, {1})"),
    "FMIN": (34, "da_min({0}, {1})"),
    "FMAX": (35, "da_max({0}, {1})"),
    "LT": (19, "(double)({0} < {1})"),
    "LE": (20, "(double)({0} <= {1})"),
    "EQ": (21, "(double)({0} == {1})"),
    "NE": (22, "(double)({0} != {1})"),
    "AND": (24, "(double)({0} != 0.0 && {1} != 0.0)"),
    "OR": (25, "(double)({0} != 0.0 || {1} != 0.0)"),
    "IF_ELSE_ZERO": (32, "({0} != 0.0 ? {1} : 0.0)"),
    "COPYSIGN": (31, "copysign({0}, {1})"),
    "HYPOT": (95, "hypot({0}, {1})"),
}
UNARY_FORMS = {
    "NEG": (5, "-{0}"),
    "SQ": (11, "{0} * {0}"),
    "TWICE": (12, "{0} + {0}"),
    "INV": (36, "1.0 / {0}"),
    "SQRT": (10, "sqrt({0})"),
    "SIN": (13, "sin({0})"),
    "COS": (14, "cos({0})"),
    "TAN": (15, "tan({0})"),
    "ASIN": (16, "asin({0})"),
    "ACOS": (17, "acos({0})"),
    "ATAN": (18, "atan({0})"),
    "SINH": (37, "sinh({0})"),
    "COSH": (38, "cosh({0})"),
    "TANH": (39, "tanh({0})"),
    "ASINH": (40, "asinh({0})"),
    "ACOSH": (41, "acosh({0})"),
    "ATANH": (42, "atanh({0})"),
    "EXP": (6, "exp({0})"),
    "LOG": (7, "log({0})"),
    "LOG1P": (93, "log1p({0})"),
    "EXPM1": (94, "expm1({0})"),
    "ERF": (33, "erf({0})"),
    "FABS": (29, "fabs({0})"),
    "SIGN": (30, "da_sign({0})"),
    "FLOOR": (26, "floor({0})"),
    "CEIL": (27, "ceil({0})"),
    "NOT": (23, "(double)({0} == 0.0)"),
    "ASSIGN": (0, "{0}"),
}
BINARY, UNARY = dict(BINARY_FORMS.values()), dict(UNARY_FORMS.values())


def form_of(operation: int) -> str:
    """Of an operation that is known."""
    return BINARY.get(operation) or UNARY[operation]


def no_form(operation: int) -> BuildError:
    """What is raised for one that is not."""
    return BuildError(f"operation {operation} of the model has no form in C")


@cache
def require_casadi_codes() -> None:
    """Raise `BuildError` where the CasADi in use numbers its operations in another way."""
    import casadi as ca

    for name, (code, _) in (BINARY_FORMS | UNARY_FORMS).items():
        if getattr(ca, f"OP_{name}") != code:
            raise BuildError(
                f"CasADi {ca.CasadiMeta.version()} numbers its operations in another way than the versions this "
                "package knows (OP_" + name + "); install casadi 3.8, or use backend='reference'"
            )

"""The operations of CasADi's instructions, each as C: what straight-line code, series and tapes know.

{0} and {1} are operands. Functions that are not of C are in runtime/base/base.h.
"""

from __future__ import annotations

import casadi as ca

from dalembert.errors import BuildError

BINARY = {
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0} * {1}",
    ca.OP_DIV: "{0} / {1}",
    ca.OP_POW: "pow({0}, {1})",
    ca.OP_CONSTPOW: "pow({0}, {1})",
    ca.OP_ATAN2: "atan2({0}, {1})",
    ca.OP_FMIN: "da_min({0}, {1})",
    ca.OP_FMAX: "da_max({0}, {1})",
    ca.OP_LT: "(double)({0} < {1})",
    ca.OP_LE: "(double)({0} <= {1})",
    ca.OP_EQ: "(double)({0} == {1})",
    ca.OP_NE: "(double)({0} != {1})",
    ca.OP_AND: "(double)({0} != 0.0 && {1} != 0.0)",
    ca.OP_OR: "(double)({0} != 0.0 || {1} != 0.0)",
    ca.OP_IF_ELSE_ZERO: "({0} != 0.0 ? {1} : 0.0)",
    ca.OP_COPYSIGN: "copysign({0}, {1})",
    ca.OP_HYPOT: "hypot({0}, {1})",
}
UNARY = {
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "{0} + {0}",
    ca.OP_INV: "1.0 / {0}",
    ca.OP_SQRT: "sqrt({0})",
    ca.OP_SIN: "sin({0})",
    ca.OP_COS: "cos({0})",
    ca.OP_TAN: "tan({0})",
    ca.OP_ASIN: "asin({0})",
    ca.OP_ACOS: "acos({0})",
    ca.OP_ATAN: "atan({0})",
    ca.OP_SINH: "sinh({0})",
    ca.OP_COSH: "cosh({0})",
    ca.OP_TANH: "tanh({0})",
    ca.OP_ASINH: "asinh({0})",
    ca.OP_ACOSH: "acosh({0})",
    ca.OP_ATANH: "atanh({0})",
    ca.OP_EXP: "exp({0})",
    ca.OP_LOG: "log({0})",
    ca.OP_LOG1P: "log1p({0})",
    ca.OP_EXPM1: "expm1({0})",
    ca.OP_ERF: "erf({0})",
    ca.OP_FABS: "fabs({0})",
    ca.OP_SIGN: "da_sign({0})",
    ca.OP_FLOOR: "floor({0})",
    ca.OP_CEIL: "ceil({0})",
    ca.OP_NOT: "(double)({0} == 0.0)",
    ca.OP_ASSIGN: "{0}",
}


def form_of(operation: int) -> str:
    """Of an operation that is known."""
    return BINARY.get(operation) or UNARY[operation]


def no_form(operation: int) -> BuildError:
    """What is raised for one that is not."""
    return BuildError(f"operation {operation} of the model has no form in C")

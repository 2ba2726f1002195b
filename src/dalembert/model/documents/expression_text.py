"""Expressions as text of the document language, which the parser reads back."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.printing.str import StrPrinter

from dalembert.model.language.constants import writable
from dalembert.model.language.functions import Unspecified
from dalembert.model.language.vocabulary import CHOICE, PARTIAL

# Functions of SymPy that the printer writes by others, or under another name.
WRITTEN_BY_OTHERS = {"sec", "csc", "cot", "Heaviside", "Min", "Max", "Piecewise"}


class _DocumentPrinter(StrPrinter):
    """Expressions in the document language."""

    def _print(self, expr: sp.Basic, **kwargs: Any) -> str:
        if not isinstance(expr, Unspecified) or not any(expr.orders) or (len(expr.args) == 1 and expr.orders[0] <= 3):
            return str(super()._print(expr, **kwargs))
        by = ", ".join(str(k) for k, order in enumerate(expr.orders, 1) for _ in range(order))
        return f"{PARTIAL}({expr.title}({', '.join(map(self._print, expr.args))}), {by})"

    def _print_Abs(self, expr: sp.Abs) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Min(self, expr: sp.Min) -> str:
        return f"min({', '.join(self._print(a) for a in expr.args)})"

    def _print_Max(self, expr: sp.Max) -> str:
        return f"max({', '.join(self._print(a) for a in expr.args)})"

    def _print_Float(self, expr: sp.Float) -> str:
        return repr(float(expr))

    def _print_Exp1(self, expr: sp.Basic) -> str:
        return "exp(1)"

    def _print_sec(self, expr: sp.sec) -> str:
        return f"(1/cos({self._print(expr.args[0])}))"

    def _print_csc(self, expr: sp.csc) -> str:
        return f"(1/sin({self._print(expr.args[0])}))"

    def _print_cot(self, expr: sp.cot) -> str:
        return f"(1/tan({self._print(expr.args[0])}))"

    def _print_Heaviside(self, expr: sp.Heaviside) -> str:
        return f"((1 + sign({self._print(expr.args[0])}))/2)"

    def _print_Piecewise(self, expr: sp.Piecewise) -> str:
        *cases, (last, _) = expr.args
        text = str(self._print(last))
        for value, condition in reversed(cases):
            text = self._where(condition, str(self._print(value)), text)
        return text

    def _where(self, condition: sp.Basic, value: str, otherwise: str) -> str:
        """A choice in the document language, whose conditions are single comparisons."""
        if isinstance(condition, sp.And):
            for part in condition.args:
                value = self._where(part, value, otherwise)
            return value
        if isinstance(condition, sp.Or):
            for part in condition.args:
                otherwise = self._where(part, value, otherwise)
            return otherwise
        left, right = (self._print(side) for side in condition.args)
        return f"{CHOICE}({left} {condition.rel_op} {right}, {value}, {otherwise})"


def can_be_written(choice: sp.Piecewise) -> bool:
    """Whether a choice has a value everywhere, and conditions made of comparisons by <, <=, > and >=."""
    comparisons = (sp.StrictLessThan, sp.LessThan, sp.StrictGreaterThan, sp.GreaterThan)

    def known(condition: sp.Basic) -> bool:
        if isinstance(condition, (sp.And, sp.Or)):
            return all(map(known, condition.args))
        return isinstance(condition, comparisons)

    *cases, (_, last) = choice.args
    return last == sp.true and all(known(condition) for _, condition in cases)


class _PagePrinter(_DocumentPrinter):
    """The same for a reader: ∂F/∂x instead of the word of documents."""

    def _print(self, expr: sp.Basic, **kwargs: Any) -> str:
        return str(StrPrinter._print(self, expr, **kwargs))


def text_of(expression: sp.Expr, for_reading: bool = False) -> str:
    """An expression as text of the document language, which `parse` reads back; or as a page shows it."""
    printer = _PagePrinter() if for_reading else _DocumentPrinter()
    return str(printer.doprint(writable(expression)))

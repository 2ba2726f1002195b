"""Expressions on a page: plain text and LaTeX, symbols in the order in which a person writes them."""

from __future__ import annotations

import re
import unicodedata

import sympy as sp
from sympy.core.alphabets import greeks
from sympy.printing.latex import LatexPrinter
from sympy.printing.printer import Printer

from dalembert.model.documents.expression_text import text_of
from dalembert.model.language.adopt import adopt
from dalembert.model.language.functions import Unspecified
from dalembert.model.language.symbols import Moving

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": "$<$",
    ">": "$>$",
    "’": "'",
    "–": "--",
    "—": "---",
    "−": "$-$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "→": r"$\to$",
    "∂": r"$\partial$",
    "∫": r"$\int$",
    "Σ": r"$\Sigma$",
    "√": r"$\surd$",
    "Đ": "D",
    "đ": "d",
    "ß": "ss",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
}
# Greek capitals that LaTeX has a command for; the others look like Latin ones.
_CAPITALS = ("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega")
_GREEK = frozenset({*greeks, *_CAPITALS} - {"omicron"})


class _Shown(sp.Symbol):
    """What moves, on the page: it prints the same but stands after the parameters, m x'' and not x'' m."""

    @classmethod
    def class_key(cls) -> tuple[int, int, str]:
        return 2, 1, cls.__name__

    def _latex(self, printer: Printer, exp: str | None = None) -> str:
        return Moving.named(self.name)._latex(printer, exp)


class _PagePrinter(LatexPrinter):
    def _needs_mul_brackets(self, expr: sp.Basic, first: bool = False, last: bool = False) -> bool:
        """A derivative is a fraction in LaTeX, which stands in a product as it is; in text ∂F/∂x needs parentheses."""
        return not isinstance(expr, Unspecified) and super()._needs_mul_brackets(expr, first, last)


def _shown(expression: sp.Expr) -> sp.Expr:
    expression = adopt(expression)
    return expression.xreplace({s: _Shown(s.name) for s in expression.free_symbols if isinstance(s, Moving)})


def plain(expression: sp.Expr) -> str:
    """Text of the document language.

    >>> from dalembert.model.language.symbols import coordinates, parameters
    >>> (x,), (m,) = coordinates("x"), parameters("m")
    >>> plain(m * x.dd)
    "m*x''"
    """
    return text_of(_shown(expression), for_reading=True)


def latex(expression: sp.Expr) -> str:
    """LaTeX for mathematics mode."""
    text = _PagePrinter().doprint(_shown(expression))
    if text.isascii():
        return text
    parts = re.split(r"(\\text\{[^{}]*\})", text)  # inside these it is text
    return "".join(_in_text(part) if k % 2 else _in_mathematics(part) for k, part in enumerate(parts))


def _in_text(part: str) -> str:
    return "".join(c if c.isascii() else _escaped(c) for c in part)


def _in_mathematics(part: str) -> str:
    return "".join(c if c.isascii() else f"{{{_escaped(c).strip('$')}}}" for c in part)


def lambda_of(k: int) -> sp.Symbol:
    """The multiplier of constraint number k on a page."""
    return sp.Symbol(f"lambda_{k + 1}", real=True)


def ordered_terms(expression: sp.Expr) -> list[sp.Expr]:
    """The terms of a sum in the order in which it is shown."""
    back = {_Shown(s.name): s for s in expression.free_symbols if isinstance(s, Moving)}
    return [term.xreplace(back) for term in _shown(expression).as_ordered_terms()]


def escaped(text: str) -> str:
    """Any text for LaTeX: signs that it reads as commands, Greek letters, letters with accents."""
    return "".join(_escaped(character) for character in unicodedata.normalize("NFC", text))


def _escaped(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character in "#$%&_{}":
        return f"\\{character}"
    if character.isascii():
        return character
    greek = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", unicodedata.name(character, ""))
    if greek:
        name = greek[2].lower().replace("lamda", "lambda")
        name = name.capitalize() if greek[1] == "CAPITAL" else name
        if name in _GREEK:
            return rf"$\{name}$"
    plain = "".join(c for c in unicodedata.normalize("NFKD", character) if c.isascii())
    return "".join(map(_escaped, plain)) if plain else "?"

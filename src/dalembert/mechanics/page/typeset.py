"""Equations on a page of LaTeX: long ones broken at their sums, so that nothing runs over the margin.

TeX alone knows how wide an expression is; here its visible signs are counted, a fraction as its wider part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import sympy as sp

from dalembert.mechanics.page.function_names import by_names
from dalembert.mechanics.page.printing import escaped, latex, ordered_terms

if TYPE_CHECKING:
    from dalembert.mechanics.page.equations import Equations, Line, Section

# Signs on a line of a page with margins of 2 cm, at 10 points, as measured with TeX on the library's equations.
PAGE = 74
# A left side wider than this stands on lines of its own.
LEFT = 34
# A longer label stands below its equation.
LABEL = 24
# A repeated expression narrower than this is shown as it is.
WORTH_A_NAME = 14

PREAMBLE = r"""\documentclass{article}
\usepackage{amsmath}
\usepackage{graphicx}
\usepackage[a4paper, margin=2cm]{geometry}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\begin{document}
"""

_NAMED = re.compile(r"\\(sin|cos|tan|exp|log|sinh|cosh|tanh|operatorname)\b")
_COMMAND = re.compile(r"\\[a-zA-Z]+")


def document(title: str, parts: Sequence[tuple[str, Equations | str]]) -> str:
    """A whole document: for each form its equations, or why there are none."""
    lines = [PREAMBLE + rf"\section*{{{escaped(title)}}}"]
    for form, found in parts:
        if len(parts) > 1:
            lines.append(rf"\subsection*{{{escaped(form)}}}")
        if isinstance(found, str):
            lines.append(rf"Does not apply: {escaped(found)}.\par")
            continue
        lines.append(rf"{{\raggedright\ttfamily {escaped(found.title)}\par}}")
        if found.reason:
            lines.append(rf"\emph{{({escaped(found.reason)})}}\par")
        for section in abbreviated(by_names(found.sections)):
            body = " \\\\\n".join(rows(section.lines, scaled=True))
            lines.append(f"\\medskip\\textbf{{{escaped(section.title)}}}\n\\begin{{align*}}\n{body}\n\\end{{align*}}")
    return "\n".join([*lines, r"\end{document}", ""])


def abbreviated(sections: Sequence[Section]) -> list[Section]:
    """Sections that TeX can set, with repeated expressions named where one of them is too wide to be read."""
    lines = [line for section in sections for line in section.lines]
    parts = [part for line in lines for part in (line.left, *(term for _, term in line.terms))]
    pieces = [piece for part in parts for piece in (ordered_terms(part) if part.is_Add else [part])]
    if all(width(piece) <= PAGE for piece in pieces):
        return list(sections)
    replacements, reduced = sp.cse(parts, symbols=sp.numbered_symbols("s_", start=1), order="none")
    small: dict[sp.Symbol, sp.Expr] = {}
    named: list[tuple[sp.Symbol, sp.Expr]] = []
    for symbol, value in replacements:
        value = value.xreplace(small)
        if width(value) < WORTH_A_NAME:
            small[symbol] = value
            continue
        # Sums can be broken, and so a wide one inside a product or below a fraction bar gets a name of its own.
        inner = {part: sp.Dummy() for part in _wide_sums(value)}
        named += [(name, part) for part, name in inner.items()]
        named.append((symbol, value.xreplace(inner)))
    order = {symbol: sp.Symbol(f"s_{k}") for k, (symbol, _) in enumerate(named, start=1)}
    ready = iter(part.xreplace(small).xreplace(order) for part in reduced)
    changed = [
        replace(section, lines=tuple(
            replace(line, left=next(ready), terms=tuple((label, next(ready)) for label, _ in line.terms))
            for line in section.lines
        ))
        for section in sections
    ]  # fmt: skip
    names = [type(lines[0])(order[symbol], (("", value.xreplace(order)),)) for symbol, value in named]
    return [*changed, type(sections[0])("where", tuple(names))] if names else changed


def _wide_sums(expression: sp.Expr) -> list[sp.Expr]:
    """The sums among the factors of an expression that take more than half a line."""
    if not (expression.is_Mul or expression.is_Pow) or width(expression) <= PAGE / 2:
        return []
    bases = [factor.base if factor.is_Pow else factor for factor in sp.Mul.make_args(expression)]
    return [base for base in bases if base.is_Add and width(base) > PAGE / 2]


def rows(lines: Sequence[Line], scaled: bool = False) -> list[str]:
    """The rows of an `align` environment. scaled: what is too wide and no sum is made smaller (MathJax cannot)."""
    return [row for group in rows_by_line(lines, scaled) for row in group]


def rows_by_line(lines: Sequence[Line], scaled: bool = False) -> list[list[str]]:
    """The same, those of each line together."""
    left = max((width(line.left) for line in lines), default=0.0)
    page = PAGE - max((len(line.label) for line in lines if len(line.label) <= LABEL), default=0)
    return [_beside(line, page - left, scaled) if left <= LEFT else _below(line, page, scaled) for line in lines]


def width(expression: sp.Expr) -> float:
    """How many signs wide an expression is."""
    if expression.is_Add:
        return sum(width(term) + 2 for term in expression.args)
    top, bottom = sp.fraction(expression) if expression.is_Mul or expression.is_Pow else (expression, sp.S.One)
    if bottom != 1:
        return max(width(top), width(bottom))
    signs = _NAMED.sub("xxx", re.sub(r"\\(left|right|dot|ddot)", "", latex(expression)))
    return len(re.sub(r"[{}\s^_]", "", _COMMAND.sub("x", signs)))


def _beside(line: Line, space: float, scaled: bool) -> list[str]:
    """left = right, the right side going on below itself."""
    first, *more = _right(line, space, scaled)
    return [f"{latex(line.left)} &= {first}", *(rf"&\quad {row}" for row in more)]


def _below(line: Line, page: float, scaled: bool) -> list[str]:
    """A left side that goes on below itself, and the right side below that."""
    left = _packed([("", line.left)], page, scaled)
    first, *more = _right(line, page - 6, scaled)
    return [
        f"&{left[0]}",
        *(rf"&\quad {row}" for row in left[1:]),
        rf"&\qquad = {first}",
        *(rf"&\qquad\quad {row}" for row in more),
    ]


def _right(line: Line, space: float, scaled: bool) -> list[str]:
    packed = _packed(line.terms, space, scaled)
    if len(line.label) > LABEL:
        label = escaped(line.label)
        packed.append(rf"\parbox{{0.7\linewidth}}{{\small {label}}}" if scaled else rf"\text{{{label}}}")
    elif line.label:
        packed[-1] += rf" && \text{{{escaped(line.label)}}}"
    return packed


def _packed(terms: Sequence[tuple[str, sp.Expr]], space: float, scaled: bool) -> list[str]:
    """Labelled terms on as few rows as they fit on; a sum is broken where it must be."""
    found: list[str] = []
    used = space + 1
    for label, term in terms:
        for piece in _pieces(term, space):
            wide = width(piece) + 2
            text = latex(piece)
            sign = "" if text.startswith("-") and not label else "+ "
            if label:
                text = rf"\underbrace{{{text}}}_{{{label}}}"
            if wide > space + 2 and scaled:
                text = rf"\resizebox{{{0.9 * space / PAGE:.2f}\linewidth}}{{!}}{{$\displaystyle {text}$}}"
            if used + wide > space:
                found.append(text if not found else sign + text)
                used = wide
            else:
                found[-1] += f" {sign}{text}"
                used += wide
    return found


def _pieces(term: sp.Expr, space: float) -> list[sp.Expr]:
    """A term, or the parts of a sum that is too wide."""
    if width(term) <= space or not term.is_Add:
        return [term]
    pieces: list[list[sp.Expr]] = [[]]
    used = 0.0
    for part in ordered_terms(term):
        wide = width(part) + 2
        if pieces[-1] and used + wide > space:
            pieces.append([])
            used = 0.0
        pieces[-1].append(part)
        used += wide
    return [sp.Add(*parts) for parts in pieces]

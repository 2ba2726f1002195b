"""LaTeX as MathML, which browsers set by themselves, without a script and without fonts from elsewhere.

The converter's tree is put right before it is written: accents are marked as such, parentheses grow only around what is
tall, functions keep their distance, and what stands below a brace stands below a line (style.css draws it), because
browsers cut wide braces.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, tostring

from dalembert.view.markup.elements import Html, element

ACCENTS = frozenset("˙¨^~¯→.\u0307\u0308\u20db")
BRACE = "⏟"
TALL = frozenset({"mfrac", "munder", "munderover", "mtable", "msqrt", "mroot"})
THIN_SPACE = "0.167em"
# SymPy's atan2 has a subscript, which the converter would set as letters of their own.
SUBSCRIPT = re.compile(r"\\operatorname\{(\w+)_\{(\w+)\}\}")


def formula(latex: str) -> Html:
    """A formula in LaTeX as MathML in a line of text; as its source where it cannot be converted."""
    from latex2mathml.converter import convert_to_element

    try:
        tree = convert_to_element(SUBSCRIPT.sub(r"\\operatorname{\1\2}", latex))
    except Exception:  # whatever it stumbles over, the source says the same
        return element("code", latex)
    for each in tree.iter():
        # The converter leaves references to characters in texts, and `tostring` escapes what they stand for.
        each.text = None if each.text is None else html.unescape(each.text)
    for each in list(tree.iter()):
        _mend(each)
    tree.set("displaystyle", "true")
    return Html(tostring(tree, encoding="unicode"))


def _mend(each: Element) -> None:
    if each.tag == "mo" and len(each.text or "") > 1 and (each.text or "").isalpha():
        each.tag = "mi"  # a function by its name: as an operator it would have room on both sides
    if each.tag == "mover" and len(each) == 2 and each[1].text in ACCENTS:
        _set_accent(each)
    if each.tag == "munder" and len(each) == 2 and each[0].tag == "munder" and each[0][-1].text == BRACE:
        each[0] = each[0][0]
        each.set("class", "part")
    fences = [child for child in each if child.tag == "mo" and child.get("fence")]
    if fences and not any(deeper.tag in TALL for deeper in each.iter()):
        for fence in fences:
            fence.set("stretchy", "false")
    for k in range(len(each) - 1, 0, -1):
        if each.tag in ("mrow", "math") and _is_function(each[k]) and each[k - 1].tag not in ("mo", "mspace"):
            each.insert(k, Element("mspace", width=THIN_SPACE))


def _set_accent(over: Element) -> None:
    """Dots over a letter; of a letter with an index, over the letter alone."""
    base = over[0][0] if over[0].tag == "mrow" and len(over[0]) == 1 else over[0]
    if base.tag != "msub":
        over.set("accent", "true")
        return
    letter = Element("mover", accent="true")
    letter.extend([base[0], over[1]])
    over.tag, over[:] = "msub", [letter, base[1]]


def _is_function(each: Element) -> bool:
    base = each[0] if each.tag in ("msup", "msub") and len(each) else each
    return base.tag == "mi" and len(base.text or "") > 1 and (base.text or "").isalpha()


def cells_of(row: str) -> list[str]:
    """A row of an alignment by its columns: split at &, but not inside of braces or of an environment.

    >>> cells_of(r"x &= \\text{a & b} && c")
    ['x ', '= \\\\text{a & b} ', '', ' c']
    """
    return ["".join(part) for part in _split(row)]


def _split(row: str) -> Iterator[list[str]]:
    depth, found = 0, list[str]()
    for sign in re.findall(r"\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\.|[^\\]", row, re.DOTALL):
        if sign == "&" and depth == 0:
            yield found
            found = []
            continue
        depth += (sign == "{" or sign.startswith(r"\begin{")) - (sign == "}" or sign.startswith(r"\end{"))
        found.append(sign)
    yield found

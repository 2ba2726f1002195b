"""Elements that escape, formulas that browsers set, charts, and computations that are given up."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
import weakref
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import sympy as sp
from pages import Parsed

import dalembert as da
from dalembert.mechanics.page.equations import Line
from dalembert.mechanics.page.printing import escaped, latex
from dalembert.view.markup.chart import HEIGHT, LEFT, RIGHT, WIDTH, chart
from dalembert.view.markup.elements import Html, element, fragment
from dalembert.view.markup.equations import equation_table
from dalembert.view.markup.formulas import cells_of, formula
from dalembert.view.markup.scales import Scale, equal_scales, path_of, span_of
from dalembert.view.markup.tables import long_table, number
from dalembert.view.plots.panel import Band, Curve, Mark, Panel
from dalembert.view.report.patience import OutOfTime, within

MATHML = "{http://www.w3.org/1998/Math/MathML}"


def test_text_is_escaped_wherever_it_stands():
    made = element("a", "<b>", [element("i", "&"), None, "'"], title='"><script>', hidden=True, lang=None)
    assert made == '<a title="&quot;&gt;&lt;script&gt;" hidden>&lt;b&gt;<i>&amp;</i>&#x27;</a>'
    assert fragment("\x00 \ud800 \x85") == "� � �"
    assert fragment(Html("<b>")) == "<b>"
    assert element("br") == "<br>"


def test_numbers_are_shown_for_the_eye():
    assert number(-0.0) == "0"
    assert number(-1.5e-7, ".1e") == "−1.5e−07"
    assert number(float("nan")) == "–"
    assert number(float("-inf")) == "−∞"


def test_long_tables_say_what_is_left_out():
    shown = long_table(("", "n"), [[f"r{k}", str(k)] for k in range(50)], "rows", most=7)
    assert len(Parsed(shown).of("tr")) == 8
    assert "The first 7 of 50 rows." in shown


# -- formulas


def tree(made: str) -> ET.Element:
    return ET.fromstring(made)


def test_dots_stand_over_their_letters():
    x = da.coordinates("x")[0]
    for symbol, dots in ((x.d, "˙"), (x.dd, "¨")):
        (over,) = tree(formula(latex(symbol))).iter(f"{MATHML}mover")
        assert over.get("accent") == "true"
        assert ["".join(part.itertext()) for part in over] == ["x", dots]


def test_dots_stand_over_the_letter_and_not_over_its_index():
    made = tree(formula(latex(da.coordinates("e_12")[0].dd)))
    (whole,) = made.iter(f"{MATHML}msub")
    assert ["".join(part.itertext()) for part in whole] == ["e¨", "12"]


def test_a_function_by_its_name_is_no_operator():
    made = tree(formula(r"\mu \operatorname{sign}{\left(x \right)}"))
    assert "sign" in [each.text for each in made.iter(f"{MATHML}mi")]


def test_functions_keep_their_distance_and_parentheses_their_height():
    a, b = sp.symbols("a b")
    flat = tree(formula(latex(a * sp.sin(b))))
    assert [each.get("width") for each in flat.iter(f"{MATHML}mspace")] == ["0.167em"]
    assert {each.get("stretchy") for each in flat.iter(f"{MATHML}mo") if each.text in "()"} == {"false"}
    tall = tree(formula(latex(a * sp.sin(a / b, evaluate=False))))
    assert {each.get("stretchy") for each in tall.iter(f"{MATHML}mo") if each.text in "()"} == {"true"}


def test_what_stands_below_a_brace_stands_below_a_line():
    part = tree(formula(r"\underbrace{m g}_{\text{impressed}}")).find(f".//{MATHML}munder[@class='part']")
    assert ["".join(each.itertext()) for each in part] == ["mg", "impressed"]


@pytest.mark.parametrize(
    "text", [r"a < b \& \text{<script>alert(1)</script>}", r"\text{&lt;script&gt;}", r"x \& \#", escaped("<b>&amp;")]
)
def test_a_formula_holds_no_elements_but_its_own(text):
    made = formula(text)
    assert not {each.tag for each in tree(made).iter()} & {f"{MATHML}script", f"{MATHML}b", "script", "b"}
    assert "<script" not in made


def test_what_cannot_be_converted_is_shown_as_it_is():
    assert formula(r"\left( x") == r"<code>\left( x</code>"


@pytest.mark.parametrize(
    "expression",
    ["atan2(y, x)", "abs(x)*sign(y)", "max(x, y)", "sqrt(x^2 + y^2)", "exp(-x)/(1 + y)", "x'*y''", "log(x)^2"],
)
def test_the_language_of_models_is_set(expression):
    system = da.System("s", coordinates="x y", kinetic="x'^2 + y'^2", outputs={"o": expression})
    made = formula(latex(system.outputs["o"]))
    assert made.startswith("<math")
    words = "".join(tree(made).itertext())
    assert "\\" not in words
    assert "atan2" in words or "atan" not in words


def test_rows_are_split_at_their_own_columns_only():
    assert cells_of(r"x &= \begin{cases} 1 & a \\ 0 & b \end{cases} + \& && c") == [
        "x ", r"= \begin{cases} 1 & a \\ 0 & b \end{cases} + \& ", "", " c",
    ]  # fmt: skip


def test_names_of_equations_are_texts():
    x = sp.Symbol("x")
    made = equation_table([Line(x, (("", x**2),), "<b> & $x$")], [r"\le"])
    assert Parsed(made).faults == []
    assert Parsed(made).text.endswith("<b> & $x$")
    assert "≤" in made


@pytest.mark.parametrize("name", ["stick_slip", "hinged_rods", "bouncing_ball", "liberated_rods"])
def test_equations_of_the_library_are_set(name):
    from dalembert.view.report.sections.equations import equations_block

    made = equations_block(da.library.get(name).equations())
    parsed = Parsed(made)
    assert parsed.faults == []
    # One piece of code is the title; any other would be a formula that could not be converted.
    assert len(parsed.of("code")) == 1
    assert "\\" not in parsed.text


# -- charts


def test_ticks_are_round_numbers_between_the_ends():
    ticks, power = Scale(-0.37, 2.9, 0, 100).ticks(6)
    assert [label for _, label in ticks] == ["0", "1", "2"]
    assert power == ""
    ticks, power = Scale(0, 3.4e-9, 0, 100).ticks(6)
    assert [label for _, label in ticks] == ["0", "1", "2", "3"]
    assert power == "×10⁻⁹"
    ticks, _ = Scale(1e-12, 1e3, 0, 100, log=True).ticks(6)
    assert [label for _, label in ticks][:2] == ["10⁻¹²", "10⁻¹⁰"]


def test_a_constant_is_a_line_and_not_its_rounding():
    low, high = span_of([np.array([5.0, 5.0 + 1e-12])], False, 0.05)
    assert (low, high) == pytest.approx((4.5, 5.5))


def test_equal_scales_have_one_length_for_one_unit():
    x, y = equal_scales(Scale(0, 10, 0, 400), Scale(0, 1, 200, 0))
    assert float(x(1.0) - x(0.0)) == pytest.approx(float(y(0.0) - y(1.0)))


def test_gaps_part_a_curve():
    assert path_of(np.array([0.0, 1, 2, 3, 4]), np.array([0.0, 1, np.nan, 1, 2])) == "M0.0 0.0L1.0 1.0M3.0 1.0L4.0 2.0"


def test_a_chart_shows_curves_bands_and_marks_inside_of_itself():
    t = np.linspace(0, 10, 3001)
    curves = (Curve("<a>", t, np.sin(t)), Curve("b", t, np.cos(t), "nonideal", 1))
    panel = Panel("p", "a <title>", "t", "y", curves, marks=(Mark(5.0, "hit <now>", "impact"),))
    made = chart(panel)
    parsed = Parsed(made)
    assert parsed.faults == []
    assert "<a>" in parsed.text
    assert "a <title>" in parsed.text
    paths = [each for each in parsed.of("path") if each.get("class") == "curve"]
    assert [each["stroke"] for each in paths] == ["var(--hue-0)", "var(--hue-1)"]
    numbers = np.array([float(x) for x in paths[0]["d"].replace("M", " ").replace("L", " ").split()]).reshape(-1, 2)
    assert len(numbers) <= 600
    assert numbers[:, 0].min() == LEFT
    assert numbers[:, 0].max() == WIDTH - RIGHT
    assert 0 < numbers[:, 1].min() < numbers[:, 1].max() < HEIGHT
    mark = next(each for each in parsed.of("line") if each.get("class") == "mark")
    assert float(mark["x1"]) == pytest.approx((LEFT + WIDTH - RIGHT) / 2, abs=0.1)
    bands = chart(Panel("c", "contacts", "t", "", bands=(Band(0, 0, 4, "slip"), Band(0, 4, 10, "stick")), rows=("r",)))
    widths = [float(each["width"]) for each in Parsed(bands).of("rect") if each["x"] != "6"]  # that is the legend
    assert widths[1] == pytest.approx(1.5 * widths[0], abs=0.2)


def test_long_names_stay_inside_of_a_chart():
    """About 6 units to a letter: names of rows have their room, and what would be cut off ends with an ellipsis."""
    long = "a name that goes on and on " * 5
    bands = chart(Panel("c", "contacts", long, "", bands=(Band(0, 0, 4, "slip"),), rows=("the left foot", long)))
    beside = [each for each in Parsed(bands).of("text") if each["text-anchor"] == "end"]
    assert all(float(each["x"]) >= 6.0 * 22 for each in beside)
    assert "the left foot" in bands
    assert long not in Parsed(bands).text
    curves = Parsed(chart(Panel("p", "p", "t", long, (Curve("", np.arange(3.0), np.arange(3.0)),))))
    assert max(map(len, curves.texts)) * 6 < HEIGHT


# -- patience


def work_for_ever() -> None:
    """Takes every `Exception` for its own, as some of SymPy's functions do."""
    x = sp.Symbol("x")
    while True:
        with contextlib.suppress(Exception):
            sp.expand((x + 1) ** 20)


def test_what_takes_too_long_is_given_up():
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(OutOfTime):
        within(0.02, work_for_ever)
    assert within(5.0, lambda: 7) == 7
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_nothing_is_raised_where_python_would_lose_it(monkeypatch):
    """A callback of a weak reference that is at work when the time is up: the exception waits until it has ended."""
    lost: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)

    class Kept:
        pass

    def spend(_: object) -> None:
        first = time.process_time()
        while time.process_time() - first < 0.1:
            pass

    def let_go_then_work() -> None:
        kept = Kept()
        reference = weakref.ref(kept, spend)
        del kept
        assert reference() is None
        work_for_ever()

    with pytest.raises(OutOfTime):
        within(0.02, let_go_then_work)
    assert not lost


def test_a_thread_has_no_limit():
    found: list[int] = []

    def count() -> int:
        first = time.thread_time()
        while time.thread_time() - first < 0.03:
            pass
        return 3

    thread = threading.Thread(target=lambda: found.append(within(1e-3, count)))
    thread.start()
    thread.join()
    assert found == [3]

"""Sections of a page, found by a part of their titles."""

from __future__ import annotations

import pytest

import dalembert as da


def test_a_section_is_found_by_the_number_of_its_equation():
    page = da.library.penny().equations("transposition")
    section = page.section("(33)")
    assert str(section).startswith("rules that make displaced states possible, (33) and (52)\n  [delta x'")
    assert str(section) in str(page)


def test_what_no_title_has_is_told_with_the_titles():
    with pytest.raises(da.ModelError, match=r"no section of this page has '\(99\)' in its title.*; multipliers"):
        da.library.penny().equations().section("(99)")


def test_titles_say_which_relation_is_meant():
    bent = da.System(
        "bent", coordinates="x y", kinetic="(x'^2 + y'^2)/2", constraints={"bend": "x'*y'' - x''*y' = 1"},
        initial={"x": 0, "y": 0, "x'": 1, "y'": 0.5},
    )  # fmt: skip
    both = bent.replace(constraints={"bend": "x'*y'' - x''*y' = 1", "knife": "x' - x*y'"}, initial={"x": 2})
    titles = [s.equations("transposition").title for s in (da.library.penny(), bent, both)]
    assert ["(31)" in title for title in titles] == [True, False, True]
    assert ["(51)" in title for title in titles] == [False, True, True]

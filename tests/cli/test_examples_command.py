"""`dalembert examples`: a line each; with a name, a paragraph and a document."""

from __future__ import annotations

import dalembert as da


def test_one_line_for_each_system(dalembert):
    lines = dalembert("examples").out.splitlines()
    listed = [line.split()[0] for line in lines[: len(da.library.names())]]
    assert listed == list(da.library.names())
    assert max(map(len, lines)) <= 100


def test_a_name_gives_the_paragraph_and_the_document(dalembert):
    text = dalembert("examples", "penny").out
    comment = " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
    assert da.library.penny().description in comment
    assert "alpha=0.3" in comment
    assert da.loads(text).structure == da.library.penny().structure

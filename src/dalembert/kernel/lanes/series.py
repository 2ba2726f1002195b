"""The sums of products that each order of a series needs, in lanes.

Two orders at a time, since the numbers that one needs the next needs too: at odd k the sums Σ a_j b_{k−j} of order k,
and of order k + 1 all but their ends, a_1 b_k and a_k b_1, which are not known yet; at even k these. What the order
before has just made comes last into the sums, so that processors begin with the others while it is being made.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

# Products of one loop: their sums, those of the next order and the numbers at hand fill the registers, of which a
# processor with lanes of 512 bits has thirty-two, others mostly sixteen.
WIDE_BLOCK, BLOCK = 6, 3


def sums_source(pairs: Sequence[tuple[int, int]], ahead: Sequence[tuple[int, int]]) -> str:
    """`da_expansion`, what is kept while series are made, and `da_taylor_sums`, `da_taylor_sums_ahead`. pairs, ahead:
    places of factors, of those that are made an order ahead.
    """
    places, places_ahead = (1 + max((place for pair in some for place in pair), default=0) for some in (pairs, ahead))
    return f"""\
/* of: the factors of products, order by order. later: what is known of the sums of the next order. last: of the order
   before, for sums with straight lines. The same of what is made an order ahead. */
typedef struct {{
    da_lane of[DA_TAYLOR_MOST][{places}], sum[DA_TAYLOR_PAIRS], later[DA_TAYLOR_PAIRS], last[DA_TAYLOR_LAST];
    da_lane of_ahead[DA_TAYLOR_MOST + 1][{places_ahead}], sum_ahead[DA_TAYLOR_PAIRS_AHEAD];
    da_lane later_ahead[DA_TAYLOR_PAIRS_AHEAD], last_ahead[DA_TAYLOR_LAST_AHEAD];
    da_taylor_unknowns u;
}} da_expansion;

{_function("", pairs)}
{_function("_ahead", ahead)}
"""


def _function(which: str, pairs: Sequence[tuple[int, int]]) -> str:
    of, now, later = (f"e->{name}{which}" for name in ("of", "sum", "later"))
    ends = "\n".join(
        f"        {now}[{l}] = {later}[{l}] + {of}[1][{a}] * {of}[k - 1][{b}] + {of}[k - 1][{a}] * {of}[1][{b}];"
        for l, (a, b) in enumerate(pairs)
    )
    first = "\n".join(f"        {now}[{l}] = DA_R(0.0);" for l in range(len(pairs)))
    second = "\n".join(f"        {now}[{l}] = {of}[1][{a}] * {of}[1][{b}];" for l, (a, b) in enumerate(pairs))
    return f"""\
/* Σ a_j b_(k−j) over 0 < j < k, for all pairs. */
DA_LANE void da_taylor_sums{which}(da_expansion *e, int k)
{{
    if (k == 1) {{
{first}
        return;
    }}
    if (k == 2) {{
{second}
        return;
    }}
    if (k % 2 == 0) {{
{ends}
        return;
    }}
#if DA_LANES == 8
{_blocks(which, pairs, WIDE_BLOCK)}
#else
{_blocks(which, pairs, BLOCK)}
#endif
}}
"""


def _blocks(which: str, pairs: Sequence[tuple[int, int]], most: int) -> str:
    """Loops over so many pairs at most, of about equally many: a short one waits for its own results."""
    numbered, count = list(enumerate(pairs)), -(-len(pairs) // most)
    edges = [len(pairs) * k // count for k in range(count + 1)] if count else [0]
    return "\n".join(_block(which, numbered[first:last]) for first, last in pairwise(edges))


def _block(which: str, block: Sequence[tuple[int, tuple[int, int]]]) -> str:
    of, body, last = f"e->of{which}", [], []
    names = [f"now{l} = DA_R(0.0), later{l} = DA_R(0.0), before{l} = {of}[k - 2][{b}]" for l, (_, b) in block]
    first = [f"            now{l} = {of}[2][{a}] * before{l};" for l, (a, _) in block]
    for l, (a, b) in block:
        body += [
            f"            da_lane a{l} = up[{a}], b{l} = down[{b}];",
            f"            DA_HOLD(a{l});",
            f"            now{l} += a{l} * b{l}, later{l} += a{l} * before{l}, before{l} = b{l};",
        ]
        last += [
            f"        now{l} += {of}[1][{a}] * {of}[k - 1][{b}];",
            f"        now{l} += {of}[k - 1][{a}] * {of}[1][{b}];",
            f"        later{l} += {of}[2][{a}] * {of}[k - 1][{b}];",
            f"        if (k > 3) later{l} += {of}[k - 1][{a}] * {of}[2][{b}];",
            f"        e->sum{which}[{l}] = now{l}, e->later{which}[{l}] = later{l};",
        ]
    newline = "\n"
    return f"""\
    {{
        da_lane {(", " + newline + "            ").join(names)};
        if (k > 3) {{
{newline.join(first)}
        }}
        for (int j = 3; j < k - 1; j++) {{
            const da_lane *up = {of}[j], *down = {of}[k - j];
{newline.join(body)}
        }}
{newline.join(last)}
    }}"""

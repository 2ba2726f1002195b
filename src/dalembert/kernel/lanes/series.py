"""The sums of products that each order of a series needs, in lanes.

Two orders at a time, since the numbers that one needs the next needs too: at odd k the sums Σ a_j b_{k−j} of order k,
and of order k + 1 all but their ends, a_1 b_k and a_k b_1, which are not known yet; at even k these.
"""

from __future__ import annotations

from collections.abc import Sequence

# Products of one loop: their sums, those of the next order and the numbers at hand fill the registers.
BLOCK = 4


def sums_source(pairs: Sequence[tuple[int, int]]) -> str:
    """`da_expansion`, what is kept while series are made, and `da_taylor_sums`. pairs: places of factors."""
    places = 1 + max((place for pair in pairs for place in pair), default=0)
    blocks = [list(enumerate(pairs))[first : first + BLOCK] for first in range(0, len(pairs), BLOCK)]
    ends = "\n".join(
        f"        e->sum[{l}] = e->later[{l}] + e->of[1][{a}] * e->of[k - 1][{b}] + e->of[k - 1][{a}] * e->of[1][{b}];"
        for l, (a, b) in enumerate(pairs)
    )
    second = "\n".join(f"        e->sum[{l}] = e->of[1][{a}] * e->of[1][{b}];" for l, (a, b) in enumerate(pairs))
    return f"""\
/* of: the factors of products, order by order. later: what is known of the sums of the next order. last: of the order
   before, for sums with straight lines. */
typedef struct {{
    da_lane of[DA_TAYLOR_MOST][{places}], sum[DA_TAYLOR_PAIRS], later[DA_TAYLOR_PAIRS], last[DA_TAYLOR_LAST];
    da_taylor_unknowns u;
}} da_expansion;

/* Σ a_j b_(k−j) over 0 < j < k, for all pairs. */
DA_LANE void da_taylor_sums(da_expansion *e, int k)
{{
    if (k == 2) {{
{second}
        return;
    }}
    if (k % 2 == 0) {{
{ends}
        return;
    }}
{chr(10).join(map(_block, blocks))}
}}
"""


def _block(block: Sequence[tuple[int, tuple[int, int]]]) -> str:
    names = [f"now{l} = DA_R(0.0), later{l} = DA_R(0.0), before{l} = DA_R(0.0)" for l, _ in block]
    first = [f"            before{l} = e->of[k - 1][{b}], now{l} = e->of[1][{a}] * before{l};" for l, (a, b) in block]
    body = []
    for l, (a, b) in block:
        body += [
            f"            da_lane a{l} = up[{a}], b{l} = down[{b}];",
            f"            DA_HOLD(a{l});",
            f"            now{l} += a{l} * b{l}, later{l} += a{l} * before{l}, before{l} = b{l};",
        ]
    last = [f"        e->sum[{l}] = now{l}, e->later[{l}] = later{l};" for l, _ in block]
    newline = "\n"
    return f"""\
    {{
        da_lane {(", " + newline + "            ").join(names)};
        if (k > 1) {{
{newline.join(first)}
        }}
        for (int j = 2; j < k; j++) {{
            const da_lane *up = e->of[j], *down = e->of[k - j];
{newline.join(body)}
        }}
{newline.join(last)}
    }}"""

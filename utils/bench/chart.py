# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws a plot of horizontal bars on a logarithmic axis, as SVG."""

import html
import math

from page import number

LEFT, RIGHT, TOP_MARGIN, ROW, BAR = 190, 60, 52, 30, 10
WIDTH = 760
LOWEST = 1.0  # ns at the left end of the axis, where all bars begin
GREY = "#808080"  # readable on white and on black
MPROF, OTHER, NONE = "#d9701e", "#4f8fc0", "#8c979f"  # colours of bars


def svg(title, heading, legend, rows):
    """Returns the SVG text. rows: [(name, colour, [nanoseconds of each bar])]. A row
    has one or two bars."""
    slowest = max(ns for _, _, bars in rows for ns in bars)
    decades = max(1, math.ceil(math.log10(slowest / LOWEST)))
    height = TOP_MARGIN + ROW * len(rows) + 30

    def x(ns):
        share = math.log10(max(ns, LOWEST) / LOWEST) / decades
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" '
        'width="%d" height="%d" font-family="sans-serif" font-size="12" '
        'fill="%s" role="img">' % (WIDTH, height, WIDTH, height, GREY),
        "<title>%s</title>" % html.escape(title),
        '<text x="10" y="18" font-size="14" font-weight="bold">%s</text>'
        % html.escape(heading),
        '<text x="10" y="36">%s</text>' % html.escape(legend),
    ]
    bottom = TOP_MARGIN + ROW * len(rows)
    for d in range(decades + 1):
        at = x(LOWEST * 10 ** d)
        out.append('<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s" '
                   'stroke-opacity="0.35"/>' % (at, TOP_MARGIN, at, bottom, GREY))
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>'
                   % (at, bottom + 16, "{:,.0f}".format(LOWEST * 10 ** d)))
    for i, (name, colour, bars) in enumerate(rows):
        y = TOP_MARGIN + ROW * i + 4
        out.append('<text x="%d" y="%d" text-anchor="end">%s</text>'
                   % (LEFT - 8, y + 14, html.escape(name)))
        for top, ns, opacity in zip((y, y + BAR + 1), bars, (1.0, 0.55)):
            out.append(
                '<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s" '
                'fill-opacity="%.2f"/>'
                % (LEFT, top, x(ns) - LEFT, BAR, colour, opacity))
            out.append('<text x="%.1f" y="%d" font-size="10">%s</text>'
                       % (x(ns) + 4, top + 9, number(ns)))
    out.append("</svg>")
    return "\n".join(out) + "\n"

# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws a profile as a flame graph in SVG.

  go tool pprof -traces [-sample_index=TYPE] [-hide=REGEXP] PROFILE |
    flame_graph.py TITLE [ROOT] > FILE.svg

A row of the picture is one level of the stacks, and callers are below their callees.
The width of a function is its share of the profile. ROOT is the function in the lowest
row; the callers of ROOT are not shown. Without ROOT, all callers are shown. README.md
shows docs/flame-graph.svg, which these commands made:

  mprof-clang -fmprof -O2 -g -I/usr/share/duktape utils/demo/duk_host.c \\
    /usr/share/duktape/duktape.c -lm -o duk
  ./duk utils/demo/json.js
  plumbing='^duk_+(handle|pcall|safe_call|executor|js_execute_bytecode_inner|'
  plumbing="${plumbing}heap_mem|default_alloc|heap_strtable_intern_checked|strtable_do)"
  go tool pprof -traces -sample_index=alloc_space \\
    -hide="$plumbing|_(shared|raw|helper|inner)\\$" duk mprof.duk.*.heap.pb.gz |
    flame_graph.py "Bytes allocated in Duktape while it runs json.js, by stack" \\
      duk_js_execute_bytecode > docs/flame-graph.svg
"""

import html
import re
import sys

WIDTH, ROW, HEAD, LETTER = 760, 18, 26, 6.2
NARROWEST = 4  # pixels; functions that would be narrower are not drawn
COLOURS = ("#e8a15c", "#e58f4a", "#ecb277", "#dd8244", "#efbf8c")
UNITS = {"B": 1, "kB": 2**10, "MB": 2**20, "GB": 2**30, "": 1}


def stacks(lines):
    """Yields (value, [functions, outermost first]) for each stack in the lines, which
    are the output of pprof -traces."""
    value, functions = 0, []
    for line in lines:
        first = re.match(r" *([\d.]+)(\w*)   (\S.*)", line)
        if line.startswith("-----"):
            if functions:
                yield value, functions[::-1]
            functions = []
        elif first and not functions:
            value = float(first[1]) * UNITS[first[2]]
            functions = [first[3]]
        elif functions and line.strip():
            functions.append(line.strip())
    if functions:
        yield value, functions[::-1]


def tree_of(lines, root):
    """Returns the stacks as a tree: [value, {function: tree of its callees}]."""
    tree = [0, {}]
    for value, functions in stacks(lines):
        functions = [re.sub(r" \((partial-)?inline\)$", "", f) for f in functions]
        at = tree
        at[0] += value
        for function in functions[functions.index(root) if root in functions else 0 :]:
            at = at[1].setdefault(function, [0, {}])
            at[0] += value
    return tree


def boxes(tree, x, width, level):
    """Yields (function, value, x, width, level) for each function that is wide enough.
    Of the callees of a function, the widest comes first."""
    for function, below in sorted(tree[1].items(), key=lambda f: -f[1][0]):
        share = width * below[0] / tree[0]
        if share >= NARROWEST:
            yield function, below[0], x, share, level
            yield from boxes(below, x, share, level + 1)
        x += share


def main():
    title, root = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    tree = tree_of(sys.stdin, root)
    drawn = list(boxes(tree, 0, WIDTH, 0))
    height = HEAD + ROW * (1 + max(level for *_, level in drawn))
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" '
          'height="%d" font-family="sans-serif" font-size="11" role="img">'
          % (WIDTH, height, WIDTH, height))
    print('<title>%s</title>' % html.escape(title))
    print('<text x="4" y="17" font-size="14" font-weight="bold" fill="#808080">'
          '%s</text>' % html.escape(title))
    for i, (function, value, x, width, level) in enumerate(drawn):
        y = height - ROW * (level + 1)
        print('<g><title>%s: %.1f MB, %.1f %%</title><rect x="%.1f" y="%d" '
              'width="%.1f" height="%d" rx="2" fill="%s"/>'
              % (html.escape(function), value / 2**20, 100 * value / tree[0], x, y,
                 width - 0.5, ROW - 1, COLOURS[i % len(COLOURS)]))
        room = int((width - 6) / LETTER)
        if room >= 4:
            name = function if len(function) <= room else function[: room - 1] + "…"
            print('<text x="%.1f" y="%d">%s</text>' % (x + 3, y + 13,
                                                       html.escape(name)))
        print("</g>")
    print("</svg>")


main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# manual.py TITLE FILE...: prints the documents FILE as one text in Markdown, from
# which lowdown makes a manual page. A FILE is a page of docs/ or the header
# mprof.h.
#
# A table with many words does not fit into a manual page. So each row becomes a
# paragraph, which begins with the first cell. Links to other pages become plain
# text, because a manual page has no files beside it.

import re
import sys


def cells(row):
    # "\|" does not end a cell.
    return [c.strip() for c in re.split(r"(?<!\\)\|", row.strip()[1:-1])]


def table(rows):
    head, body = cells(rows[0]), [cells(row) for row in rows[2:]]
    out = []
    for first, *rest in body:
        short = rest[:-1] if len(rest) > 1 else []
        words = ["%s: %s" % (h, c) for h, c in zip(head[1:], short) if c]
        out += ["%s%s" % (first, " (%s)" % "; ".join(words) if words else ""), ""]
        out += [": " + (rest[-1] if rest else ""), ""]
    return out


def of_page(text):
    # [text](other.md#part) -> text (other.md). Web addresses stay.
    text = re.sub(r"\[([^]]+)\]\((?!http)([a-z-]+\.md)[^)]*\)", r"\1 (\2)", text)
    text = re.sub(r"\[([^]]+)\]\((?!http)[^)]*\)", r"\1", text)
    text = re.sub(r"\b([a-z-]+\.md) \(\1\)", r"\1", text)
    text = re.sub(r"<!--.*?-->\n", "", text, flags=re.S)
    out, rows, is_code = [], [], False
    for line in text.split("\n") + [""]:
        is_code ^= line.startswith("```")
        if line.startswith("|") and not is_code:
            rows.append(line)
            continue
        if rows:
            out += table(rows)
            rows = []
        out.append(line)
    return "\n".join(out)


# Yields each comment that begins a line of a header, and the declarations behind
# it.
def parts(text):
    for found in re.finditer(
        r"^/\*((?:.|\n)*?)\*/\n?((?:(?!/\*).*\n)*)", text, flags=re.M
    ):
        lines = [re.sub(r"^ \* ?", "", x) for x in found[1].split("\n")]
        yield "\n".join(lines).strip(), found[2]


# Separates the sentences about arguments and results of a comment: "len: ...",
# "Returns ..." and "(Go: ...)" begin a line after the end of a sentence. The
# lines that are indented continue such a line.
def paragraphs(comment):
    text = re.sub(r"\n +(void .*)", r"\n\n    \1\n", comment)  # an example
    text = re.sub(r"(?<!\n)\n +", " ", text)
    return re.sub(
        r"(?<=[.:;])\n(?=[*\w, ]+: |Returns |No function |\(Go: | )", "\n\n", text
    )


def of_header(text):
    out = ["# Synopsis", "", "    #include <mprof/mprof.h>", "", "# Description"]
    begins = text.index("#define MPROF_MPROF_H")
    first, _ = next(parts(text))
    out += ["", paragraphs(first.split("\n\n", 1)[1]), ""]
    # What follows is for the inline functions of the header only.
    ends = text.index("#ifndef MPROF_RUNTIME\n")
    for comment, code in parts(text[begins:ends]):
        heading = re.fullmatch(r"--- (.*) ---", comment)
        if heading:
            out += ["# " + heading[1].capitalize(), ""]
            continue
        code = "\n".join(
            x.replace("MPROF_INLINE_ ", "")
            for x in code.split("\n")
            if not re.match(r"#(if|el|end|define MPROF_INLINE)", x)
        )
        if not code.strip():
            out += [paragraphs(comment), ""]
            continue
        out += ["```", code.strip(), "```", ""]
        out += [paragraphs(comment), ""]
    return "\n".join(out)


def main():
    title, *files = sys.argv[1:]
    print("# NAME\n\n%s\n" % title)
    for path in files:
        with open(path) as file:
            text = file.read()
        print(of_header(text) if path.endswith(".h") else of_page(text))
    print("# Files\n\n`share/doc/mprof/docs`\n\n"
          ":   the pages that this page names, such as `reading.md`. They are "
          "installed beside `bin`.\n")


main()

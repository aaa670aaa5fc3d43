# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parses the configuration files of docs/fleet.

    fleet_configurations.py DOCS PROGRAM

PROGRAM is http_app.c.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../../rt/Inputs")
from http_app import App, equal  # noqa: E402

docs, program = sys.argv[1:]


def parse_alloy(text):
    """Parses blocks, attributes, lists and objects. Returns the labels of all
    blocks and the references to them."""
    text = re.sub(r"^\s*//.*", "", text, flags=re.M)
    tokens = re.findall(r'"[^"]*"|[\w.]+|[{}\[\]=,]', text)
    assert "".join(tokens) == re.sub(r"\s", "", text), "unknown characters"
    at = 0

    def take(wanted=None):
        nonlocal at
        at += 1
        assert wanted is None or tokens[at - 1] == wanted, (wanted, tokens[at - 3 : at + 2])
        return tokens[at - 1]

    labels, references = [], []

    def value():
        token = take()
        if token == "[":
            while tokens[at] != "]":
                value()
                if tokens[at] == ",":
                    take(",")
            take("]")
        elif token == "{":
            while tokens[at] != "}":
                take()
                take("=")
                value()
                if tokens[at] == ",":
                    take(",")
            take("}")
        elif token not in ("true", "false") and token[0] != '"' and not token.isdigit():
            references.append(token)

    def body(end):
        while at < len(tokens) and tokens[at] != end:
            name = take()
            if tokens[at] == "=":
                take("=")
                value()
                continue
            if tokens[at][0] == '"':
                labels.append(name + "." + take().strip('"'))
            take("{")
            body("}")
            take("}")

    body(None)
    return labels, references


def check_alloy(text):
    labels, references = parse_alloy(text)
    for reference in references:
        assert reference.rpartition(".")[0] in labels, (reference, labels)


def check_yaml(text):
    import yaml

    tree = yaml.safe_load(text)
    for pipeline in tree.get("service", {}).get("pipelines", {}).values():
        for kind in ("receivers", "exporters"):
            for name in pipeline[kind]:
                assert name in tree[kind], name
    assert "service" in tree or tree["scrape_configs"][0]["static_configs"]


pages = set()
names = sorted(os.listdir(docs + "/fleet"))
texts = "".join(open(os.path.join(docs, f)).read() for f in os.listdir(docs) if f.startswith("fleet") and f.endswith(".md"))
equal(len(names) >= 4, True)
for name in names:
    text = open(os.path.join(docs, "fleet", name)).read()
    (check_alloy if name.endswith(".alloy") else check_yaml)(text)
    assert "(fleet/%s)" % name in texts, "no document names " + name
    pages |= set(re.findall(r"/debug/pprof/\w+", text))
with App(program) as app:
    assert len(pages) >= 6, pages
    for page in pages:
        # Without a duration, this page measures for 30 seconds.
        seconds = "?seconds=1" if page.endswith("/profile") else ""
        equal((page, app.ask(page + seconds).status), (page, 200))

# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks SARIF from standard input, and prints a line for each result.

    check_sarif.py [DIR]

FORMS has the objects that MProf writes, from the specification of SARIF 2.1.0: the
types of their properties, and those that are required (!). Other properties are
errors. The rules that a schema cannot express are in check_run. DIR: the
directory in which the files of the results must have their lines.
"""

import json
import os
import re
import sys
import urllib.parse

FORMS = {
    "sarifLog": {"$schema": "uri", "version!": "2.1.0", "runs!": ["run"]},
    "run": {"tool!": "tool", "automationDetails": "runAutomationDetails",
            "originalUriBaseIds": {"": "artifactLocation"}, "invocations": ["invocation"],
            "results": ["result"]},
    "tool": {"driver!": "toolComponent"},
    "toolComponent": {"name!": str, "version": str, "rules": ["reportingDescriptor"]},
    "reportingDescriptor": {"id!": str, "shortDescription": "multiformatMessageString",
                            "fullDescription": "multiformatMessageString",
                            "help": "multiformatMessageString",
                            "defaultConfiguration": "reportingConfiguration"},
    "reportingConfiguration": {"level": "level"},
    "multiformatMessageString": {"text!": "message text"},
    "runAutomationDetails": {"id": str},
    "invocation": {"executionSuccessful!": bool,
                   "toolExecutionNotifications": ["notification"]},
    "notification": {"message!": "message", "level": "level"},
    "result": {"ruleId": str, "ruleIndex": int, "level": "level", "message!": "message",
               "locations": ["location"], "partialFingerprints": {"": str},
               "stacks": ["stack"], "codeFlows": ["codeFlow"], "properties": {"": int}},
    "message": {"text!": "message text"},
    "location": {"physicalLocation": "physicalLocation",
                 "logicalLocations": ["logicalLocation"], "message": "message"},
    "physicalLocation": {"artifactLocation!": "artifactLocation", "region": "region"},
    "artifactLocation": {"uri": "uri", "uriBaseId": str},
    "region": {"startLine!": "line"},
    "logicalLocation": {"fullyQualifiedName": str, "kind": str},
    "stack": {"message": "message", "frames!": ["stackFrame"]},
    "stackFrame": {"location": "location", "module": str},
    "codeFlow": {"threadFlows!": ["threadFlow"]},
    "threadFlow": {"locations!": ["threadFlowLocation"]},
    "threadFlowLocation": {"location": "location"},
}
# Arrays that may not be empty.
FILLED = {"codeFlow.threadFlows", "threadFlow.locations"}


def check_text(text, form, path):
    assert isinstance(text, str) and text, path
    if form == "uri":
        assert re.fullmatch(r"[A-Za-z0-9/\-._~+:]*(%[0-9A-F]{2}[A-Za-z0-9/\-._~+:]*)*", text), \
            (path, text)
    if form == "level":
        assert text in ("none", "note", "warning", "error"), (path, text)
    if form == "message text":
        # Without arguments, a message has no placeholder, so braces are doubled.
        assert not re.search(r"[{}]", text.replace("{{", "").replace("}}", "")), (path, text)
        assert not re.search(r"\[[^\]]*\]\(", text), "%s has a link: %s" % (path, text)


def check(value, form, path):
    if isinstance(form, list):
        assert isinstance(value, list), path
        for i, item in enumerate(value):
            check(item, form[0], "%s[%d]" % (path, i))
    elif isinstance(form, dict):
        assert isinstance(value, dict), path
        for name, item in value.items():
            check(item, form[""], path + "." + name)
    elif isinstance(form, type):
        assert isinstance(value, form) and (form is bool or value is not True), (path, value)
    elif form == "line":
        assert isinstance(value, int) and value >= 1, (path, value)
    elif form in FORMS:
        check_object(value, form, path)
    elif form == "2.1.0":
        assert value == form, (path, value)
    else:
        check_text(value, form, path)


def check_object(value, form, path):
    assert isinstance(value, dict), (path, value)
    known = {name.rstrip("!"): kind for name, kind in FORMS[form].items()}
    for name in FORMS[form]:
        assert not name.endswith("!") or name[:-1] in value, "%s lacks %s" % (path, name)
    for name, item in value.items():
        assert name in known, "%s has %s" % (path, name)
        check(item, known[name], path + "." + name)
        assert item != [] or "%s.%s" % (form, name) not in FILLED, path + "." + name


def locations(value):
    """All physical locations, at any depth."""
    if isinstance(value, dict):
        if "artifactLocation" in value:
            yield value
        for item in value.values():
            yield from locations(item)
    elif isinstance(value, list):
        for item in value:
            yield from locations(item)


def check_run(run, directory):
    rules = run["tool"]["driver"]["rules"]
    ids = [rule["id"] for rule in rules]
    assert len(set(ids)) == len(ids)
    bases = run.get("originalUriBaseIds", {})
    for base in bases.values():
        assert base["uri"].startswith("file:///") and base["uri"].endswith("/")
    for place in locations(run):
        where = place["artifactLocation"]
        path = urllib.parse.unquote(where["uri"])
        if "uriBaseId" in where:
            assert where["uriBaseId"] in bases and not path.startswith("/"), where
            assert ".." not in path.split("/"), where
        if directory and "uriBaseId" in where and "region" in place:
            with open(os.path.join(directory, path)) as source:
                assert place["region"]["startLine"] <= len(source.readlines()), place
    prints = [tuple(sorted(r["partialFingerprints"].items())) for r in run["results"]]
    assert len(set(prints)) == len(prints), "two results have the same fingerprint"
    for r in run["results"]:
        # Code hosts refuse a file with a result without a place.
        assert r["locations"] and ids[r["ruleIndex"]] == r["ruleId"]
        place = r["locations"][0]["physicalLocation"]
        print("%s %s:%d %s %s: %s" % (
            r["level"], urllib.parse.unquote(place["artifactLocation"]["uri"]),
            place.get("region", {}).get("startLine", 0), r["ruleId"],
            r["partialFingerprints"]["primaryLocationLineHash"], r["message"]["text"]))


def main():
    log = json.load(sys.stdin)
    check(log, "sarifLog", "log")
    for run in log["runs"]:
        check_run(run, sys.argv[1] if len(sys.argv) > 1 else None)


if __name__ == "__main__":
    main()

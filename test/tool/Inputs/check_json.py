# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Validates JSON from standard input.

    check_json.py SCHEMA NAME

The text must be as $defs.NAME of the JSON Schema says. Knows the keywords that the
schema uses, and refuses others.
"""

import json
import sys

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
}


def is_type(value, name):
    if name in ("integer", "number"):
        kinds = int if name == "integer" else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check(value, schema, defs, path):
    known = {"$ref", "type", "const", "description", "items", "properties", "required",
             "additionalProperties"}
    assert set(schema) <= known, "unknown keywords %s" % (set(schema) - known)
    if "$ref" in schema:
        prefix = "#/$defs/"
        assert schema["$ref"].startswith(prefix)
        check(value, defs[schema["$ref"][len(prefix):]], defs, path)
    if "const" in schema:
        assert value == schema["const"], "%s is %r" % (path, value)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    assert not names or any(is_type(value, n) for n in names), "%s is %r" % (path, value)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            assert name in value, "%s has no %s" % (path, name)
        for name, member in value.items():
            assert name in properties or schema.get("additionalProperties", True), \
                "%s has %s" % (path, name)
            check(member, properties.get(name, {}), defs, path + "." + name)
    if isinstance(value, list):
        for i, item in enumerate(value):
            check(item, schema.get("items", {}), defs, "%s[%d]" % (path, i))


def main():
    with open(sys.argv[1]) as f:
        defs = json.load(f)["$defs"]
    value = json.load(sys.stdin)
    check(value, defs[sys.argv[2]], defs, sys.argv[2])
    lists = [v for v in value.values() if isinstance(v, list)]
    print("%s is valid, with %d rows" % (sys.argv[2], max(map(len, lists))))


if __name__ == "__main__":
    main()

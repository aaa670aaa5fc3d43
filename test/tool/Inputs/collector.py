# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Receives profiles as utils/fleet/collector does, without the code of other
projects, and with the same options and replies.

    collector.py [-fail N] [-status CODE] [-wait SECONDS] [-reject N]

Decodes the messages by the numbers of their fields. -reject: replies to OTLP
requests that N profiles were rejected. TOKEN in the environment: requires this bearer token.
"""

import argparse
import collections
import gzip
import http.server
import os
import re
import urllib.parse

parser = argparse.ArgumentParser(prefix_chars="-")
for name, default in [("-fail", 0), ("-status", 503), ("-wait", 0), ("-reject", 0)]:
    parser.add_argument(name, type=int, default=default)
args = parser.parse_args()
sums = collections.Counter()
ids = set()
count = collections.Counter()


# --- protobuf ---


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def message(data):
    """Returns {number of field: [values]}."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = int.from_bytes(data[at : at + 8], "little"), at + 8
        elif tag & 7 == 2:
            n, at = varint(data, at)
            value, at = data[at : at + n], at + n
            assert len(value) == n, "truncated"
        else:
            raise ValueError("wire type %d" % (tag & 7))
        fields[tag >> 3].append(value)
    return fields


def one(fields, number, default=0):
    return fields[number][-1] if fields[number] else default


def packed(fields, number):
    values = []
    for data in fields[number]:
        at = 0
        while at < len(data):
            value, at = varint(data, at)
            values.append(value - (1 << 64) if value >> 63 else value)
    return values


def add(service, kind, names, value):
    for name in set(names):
        sums["%s %s %s" % (service, kind, name)] += value


def note_id(value):
    assert value not in ids, "sent twice"
    ids.add(value)


# --- the protocols ---


def otlp(body):
    request = message(body)
    tables = message(one(request, 2, b""))
    strings = [s.decode() for s in tables[5]]
    assert strings[0] == ""
    for table in (1, 2, 3, 4, 6, 7):
        assert tables[table][0] == b"", "the first element of a table is the default"
    locations, stacks = list(map(message, tables[2])), list(map(message, tables[7]))
    functions, attributes = list(map(message, tables[3])), list(map(message, tables[6]))
    for resource_profiles in map(message, request[1]):
        resource = {}
        for pair in map(message, message(one(resource_profiles, 1))[1]):
            resource[one(pair, 1).decode()] = one(message(one(pair, 2)), 1).decode()
        for scope_profiles in map(message, resource_profiles[2]):
            for profile in map(message, scope_profiles[2]):
                note_id(one(profile, 7))
                kind = message(one(profile, 1))
                kind = "%s/%s" % (strings[one(kind, 1)], strings[one(kind, 2)])
                for sample in map(message, profile[2]):
                    names = []
                    for l in packed(stacks[one(sample, 1)], 1):
                        assert one(locations[l], 1) < len(tables[1])
                        for line in map(message, locations[l][3]):
                            names.append(strings[one(functions[one(line, 1)], 1)])
                    for a in packed(sample, 2):
                        value = message(one(attributes[a], 2))
                        text = one(value, 1).decode() if value[1] else str(one(value, 3))
                        names.append("%s=%s" % (strings[one(attributes[a], 1)], text))
                    (value,) = packed(sample, 4)
                    add(resource["service.name"], kind, names, value)
    for key in sorted(resource):
        sums["%s resource %s=%s" % (resource["service.name"], key, resource[key])] += 1
    if not args.reject:
        return b""
    number, count = b"", args.reject % 2**64
    while count > 0x7f:
        number, count = number + bytes([count & 0x7f | 0x80]), count >> 7
    part = b"\x08" + number + bytes([count]) + b"\x12\x05wrong"
    return b"\x0a" + bytes([len(part)]) + part


def pprof(service, data):
    p = message(gzip.decompress(data))
    strings = [s.decode() for s in p[6]]
    types = [message(t) for t in p[1]]
    functions = {one(f, 1): strings[one(f, 2)] for f in map(message, p[5])}
    locations = {one(l, 1): l for l in map(message, p[4])}
    for sample in map(message, p[2]):
        names = []
        for l in packed(sample, 1):
            names += [functions[one(message(line), 1)] for line in locations[l][4]]
        for t, value in zip(types, packed(sample, 2)):
            add(service, "%s/%s" % (strings[one(t, 1)], strings[one(t, 2)]), names, value)


def push(body):
    for series in map(message, message(body)[1]):
        labels = {one(l, 1).decode(): one(l, 2).decode() for l in map(message, series[1])}
        for name in labels:
            assert re.fullmatch("[a-zA-Z_][a-zA-Z0-9_]*", name), name
        assert labels["__name__"]
        for sample in map(message, series[2]):
            note_id(one(sample, 2))
            pprof(labels["service_name"], one(sample, 1))
    return b""


def ingest(query, body):
    q = urllib.parse.parse_qs(query)
    assert q["format"] == ["pprof"] and q["from"] and q["until"]
    pprof(q["name"][0].split("{")[0], body)
    return b""


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *unused):
        pass

    def reply(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        lines = ["requests %d" % count["good"]] + sorted("%s %d" % s for s in sums.items())
        self.reply(200, ("\n".join(lines) + "\n").encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        path, _, query = self.path.partition("?")
        count["all"] += 1
        if "TOKEN" in os.environ and self.headers["Authorization"] != "Bearer " + os.environ["TOKEN"]:
            self.reply(401, b"wrong token\n")
        elif count["all"] <= args.fail:
            self.reply(args.status, b"try again\n", [("Retry-After", str(args.wait))] * bool(args.wait))
        else:
            count["good"] += 1
            pages = {
                ("/v1development/profiles", "application/x-protobuf"): lambda: otlp(body),
                ("/push.v1.PusherService/Push", "application/proto"): lambda: push(body),
                ("/ingest", "application/octet-stream"): lambda: ingest(query, body),
            }
            try:
                reply = pages[path, self.headers["Content-Type"]]()
            except (AssertionError, LookupError, ValueError) as e:
                self.reply(400, ("%s\n" % e).encode())
            else:
                self.reply(200, reply)


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()

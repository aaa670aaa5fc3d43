# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads pprof profiles without protobuf or pprof, and checks that they are valid.

Prints each profile as lines for grep and FileCheck:

  sample_types: alloc_objects/count alloc_space/bytes ...
  period: space/bytes 524288
  drop_frames: REGEX                      (and keep_frames, default_sample_type,
  comment: TEXT                            doc_url, time_nanos, duration_nanos)
  mapping: 1 0x1000-0x2000 0x0 /bin/x build_id=0123 functions filenames ...
  sample: 1 1024 0 0 bytes=1024 : 0x1010 0x1020        leaf first

With --symbolize, samples have names instead of addresses, such as
"main <- __libc_start_call_main", including inlined functions. With --totals or
--by-function NAME it prints sums instead:

  total: alloc_objects=3 alloc_space=3072 inuse_objects=0 inuse_space=0
  flat NAME: alloc_objects=3 ...          samples with NAME as the leaf
  cum NAME: alloc_objects=3 ...           samples with NAME anywhere

A name given to --by-function matches with or without its parameters. If the file
is not a valid profile, the exit status is 1, with the reason on stderr. Invalid
are files that pprof's CheckValid refuses, and also ids that are not 1, 2, 3, ...,
a location without a mapping or outside it, unknown fields, and bytes after the end.
"""

import argparse
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib


class Invalid(Exception):
    """The error in the profile."""


def need(condition, text):
    if not condition:
        raise Invalid(text)


def gunzip(data):
    """Returns the content of exactly one gzip member, or data if it is not gzip."""
    if data[:2] != b"\x1f\x8b":
        return data
    member = zlib.decompressobj(wbits=31)
    try:
        plain = member.decompress(data) + member.flush()
    except zlib.error as error:
        raise Invalid("gzip: %s" % error) from error
    need(member.eof, "gzip: cut off")
    need(not member.unused_data, "gzip: bytes after the end")
    return plain


def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data), "varint: cut off")
        need(shift < 70, "varint: longer than 10 bytes")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            need(value < 1 << 64, "varint: more than 64 bits")
            return value, at


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


# Field number -> (name, kind). Kinds: u is uint64, i int64, b bytes; * means
# repeated (packed or not). Any other kind is the name of a message. Messages
# are repeated, except period_type.
MESSAGES = {
    "Profile": {
        1: ("sample_type", "ValueType"),
        2: ("sample", "Sample"),
        3: ("mapping", "Mapping"),
        4: ("location", "Location"),
        5: ("function", "Function"),
        6: ("string_table", "b"),
        7: ("drop_frames", "i"),
        8: ("keep_frames", "i"),
        9: ("time_nanos", "i"),
        10: ("duration_nanos", "i"),
        11: ("period_type", "ValueType"),
        12: ("period", "i"),
        13: ("comment", "i*"),
        14: ("default_sample_type", "i"),
        15: ("doc_url", "i"),
    },
    "ValueType": {1: ("type", "i"), 2: ("unit", "i")},
    "Sample": {
        1: ("location_id", "u*"),
        2: ("value", "i*"),
        3: ("label", "Label"),
    },
    "Label": {
        1: ("key", "i"),
        2: ("str", "i"),
        3: ("num", "i"),
        4: ("num_unit", "i"),
    },
    "Mapping": {
        1: ("id", "u"),
        2: ("memory_start", "u"),
        3: ("memory_limit", "u"),
        4: ("file_offset", "u"),
        5: ("filename", "i"),
        6: ("build_id", "i"),
        7: ("has_functions", "u"),
        8: ("has_filenames", "u"),
        9: ("has_line_numbers", "u"),
        10: ("has_inline_frames", "u"),
    },
    "Location": {
        1: ("id", "u"),
        2: ("mapping_id", "u"),
        3: ("address", "u"),
        4: ("line", "Line"),
        5: ("is_folded", "u"),
    },
    "Line": {1: ("function_id", "u"), 2: ("line", "i"), 3: ("column", "i")},
    "Function": {
        1: ("id", "u"),
        2: ("name", "i"),
        3: ("system_name", "i"),
        4: ("filename", "i"),
        5: ("start_line", "i"),
    },
}

VARINT, LENGTH_DELIMITED = 0, 2


class Message:
    """A decoded message; its fields are attributes."""

    def __init__(self, kind, data):
        self.kind = kind
        fields = MESSAGES[kind]
        for name, type_ in fields.values():
            many = type_ == "b" or type_.endswith("*") or type_ in MESSAGES
            setattr(self, name, [] if many else 0)
        at = 0
        while at < len(data):
            tag, at = varint(data, at)
            number, wire = tag >> 3, tag & 7
            need(number in fields, "%s: no field %d" % (kind, number))
            name, type_ = fields[number]
            where = "%s.%s" % (kind, name)
            if wire == VARINT:
                value, at = varint(data, at)
                need(type_[0] in "ui", where + ": a number")
                self.put(name, type_, [value])
            elif wire == LENGTH_DELIMITED:
                length, at = varint(data, at)
                need(at + length <= len(data), where + ": cut off")
                self.put_bytes(name, type_, data[at : at + length], where)
                at += length
            else:
                raise Invalid("%s: wire type %d" % (where, wire))

    def put(self, name, type_, values):
        if type_[0] == "i":
            values = [signed(v) for v in values]
        if type_.endswith("*"):
            getattr(self, name).extend(values)
        else:
            setattr(self, name, values[-1])

    def put_bytes(self, name, type_, data, where):
        if type_ == "b":
            getattr(self, name).append(data)
        elif type_ in MESSAGES:
            getattr(self, name).append(Message(type_, data))
        else:
            need(type_.endswith("*"), where + ": not a number")
            values, at = [], 0
            while at < len(data):
                value, at = varint(data, at)
                values.append(value)
            self.put(name, type_, values)


class Profile:
    def __init__(self, data):
        self.raw = Message("Profile", gunzip(data))
        try:
            self.strings = [s.decode() for s in self.raw.string_table]
        except UnicodeDecodeError as error:
            raise Invalid("string_table: not UTF-8") from error
        self.check()

    def text(self, index):
        return self.strings[index]

    def check_strings(self, message):
        """Checks every index of a string, in this message and all messages below."""
        indexes = {
            "Profile": [
                "drop_frames",
                "keep_frames",
                "comment",
                "default_sample_type",
                "doc_url",
            ],
            "ValueType": ["type", "unit"],
            "Label": ["key", "str", "num_unit"],
            "Mapping": ["filename", "build_id"],
            "Function": ["name", "system_name", "filename"],
        }
        for name in indexes.get(message.kind, []):
            value = getattr(message, name)
            for index in value if isinstance(value, list) else [value]:
                need(
                    0 <= index < len(self.strings),
                    "%s.%s: no string %d" % (message.kind, name, index),
                )
        for name, type_ in MESSAGES[message.kind].values():
            if type_ in MESSAGES:
                for part in getattr(message, name):
                    self.check_strings(part)

    def check(self):
        raw = self.raw
        need(self.strings, "string_table: empty")
        need(self.strings[0] == "", "string_table: the first is not empty")
        self.check_strings(raw)
        need(raw.sample_type or not raw.sample, "samples without sample_type")
        need(len(raw.period_type) <= 1, "more than one period_type")
        for name in ("mapping", "location", "function"):
            ids = [m.id for m in getattr(raw, name)]
            need(
                ids == list(range(1, len(ids) + 1)),
                "%s: ids are not 1, 2, 3, ...: %s" % (name, ids[:9]),
            )
        for mapping in raw.mapping:
            need(
                mapping.memory_start < mapping.memory_limit,
                "mapping %d: empty" % mapping.id,
            )
        default = self.text(raw.default_sample_type)
        names = [self.text(t.type) for t in raw.sample_type]
        need(not default or default in names, "default_sample_type: " + default)
        for location in raw.location:
            self.check_location(location)
        for number, sample in enumerate(raw.sample):
            self.check_sample("sample %d" % number, sample)

    def check_location(self, location):
        where = "location %d" % location.id
        need(
            1 <= location.mapping_id <= len(self.raw.mapping),
            "%s: no mapping %d" % (where, location.mapping_id),
        )
        mapping = self.raw.mapping[location.mapping_id - 1]
        need(
            mapping.memory_start <= location.address < mapping.memory_limit,
            "%s: %#x is outside mapping %d"
            % (where, location.address, mapping.id),
        )
        for line in location.line:
            need(
                1 <= line.function_id <= len(self.raw.function),
                "%s: no function %d" % (where, line.function_id),
            )

    def check_sample(self, where, sample):
        need(
            len(sample.value) == len(self.raw.sample_type),
            "%s: %d values" % (where, len(sample.value)),
        )
        for location_id in sample.location_id:
            need(
                1 <= location_id <= len(self.raw.location),
                "%s: no location %d" % (where, location_id),
            )
        keys = [self.text(label.key) for label in sample.label]
        need(len(set(keys)) == len(keys), where + ": a label twice")
        for key, label in zip(keys, sample.label):
            need(key, where + ": a label without a key")
            need(not key.startswith("pprof::"), where + ": reserved label")
            need(not (label.str and label.num), where + ": label of two kinds")


def file_address(path, offset):
    """Returns the address that the ELF file gives to the byte at offset."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:5] != b"\x7fELF\x02":
        return None
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        type_, _, begin, address, _, length = struct.unpack_from(
            "<IIQQQQ", data, start + i * size
        )
        if type_ == 1 and begin <= offset < begin + length:
            return address + offset - begin
    return None


def run_symbolizer(path, addresses):
    """Returns the names of the functions at each address, innermost first."""
    tool = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")
    if not tool:
        sys.exit("mprof_read: no llvm-symbolizer-19 on PATH")
    result = subprocess.run(
        [tool, "--obj=" + path, "--inlines", "--output-style=JSON"],
        input="".join("%#x\n" % a for a in addresses),
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    frames = [json.loads(line) for line in result.stdout.splitlines()]
    return [[f["FunctionName"] for f in r.get("Symbol", [])] for r in frames]


def symbolize(profile, binary):
    """Returns location id -> names, innermost first, or the address without a name.

    The scopes of types (pass/BlockTypes.h) are left out.

    If the profile is symbolized already, its own names are returned. The file
    binary replaces the mapped file of the same name; all other files are read at
    the path that the profile has.
    """
    raw = profile.raw
    names = {}
    wanted = {}
    for location in raw.location:
        names[location.id] = ["%#x" % location.address]
        if location.line:
            names[location.id] = [
                profile.text(raw.function[line.function_id - 1].name)
                for line in location.line
            ]
            continue
        mapping = raw.mapping[location.mapping_id - 1]
        path = profile.text(mapping.filename)
        if binary and os.path.basename(path) == os.path.basename(binary):
            path = binary
        if not os.path.isfile(path):
            continue
        offset = location.address - mapping.memory_start + mapping.file_offset
        address = file_address(path, offset)
        if address is not None:
            wanted.setdefault(path, []).append((location.id, address))
    for path, pairs in wanted.items():
        results = run_symbolizer(path, [address for _, address in pairs])
        for (location_id, _), found in zip(pairs, results):
            if found and any(found):
                names[location_id] = [n or "??" for n in found]
    # The scopes with the types of blocks, which drop_frames leaves out.
    return {
        location_id: [n for n in found if not n.startswith("typeinfo name for ")]
        for location_id, found in names.items()
    }


def print_head(profile):
    raw = profile.raw

    def value_type(v):
        return "%s/%s" % (profile.text(v.type), profile.text(v.unit))

    print("sample_types:", *[value_type(t) for t in raw.sample_type])
    for period_type in raw.period_type:
        print("period:", value_type(period_type), raw.period)
    for name in ("default_sample_type", "drop_frames", "keep_frames", "doc_url"):
        if getattr(raw, name):
            print("%s: %s" % (name, profile.text(getattr(raw, name))))
    for name in ("time_nanos", "duration_nanos"):
        if getattr(raw, name):
            print("%s: %d" % (name, getattr(raw, name)))
    for comment in raw.comment:
        print("comment:", profile.text(comment))
    for m in raw.mapping:
        line = "mapping: %d %#x-%#x %#x %s" % (
            m.id,
            m.memory_start,
            m.memory_limit,
            m.file_offset,
            profile.text(m.filename) or "?",
        )
        if m.build_id:
            line += " build_id=" + profile.text(m.build_id)
        for has in ("functions", "filenames", "line_numbers", "inline_frames"):
            if getattr(m, "has_" + has):
                line += " " + has
        print(line)


def print_samples(profile, names):
    for sample in profile.raw.sample:
        words = [str(v) for v in sample.value]
        for label in sample.label:
            value = profile.text(label.str) if label.str else str(label.num)
            words.append("%s=%s" % (profile.text(label.key), value))
        if names is None:
            addresses = [
                "%#x" % profile.raw.location[i - 1].address
                for i in sample.location_id
            ]
            stack = " ".join(addresses)
        else:
            stack = " <- ".join(n for i in sample.location_id for n in names[i])
        print("sample:", " ".join(words), ":", stack)


def print_sums(profile, title, samples):
    sums = [0] * len(profile.raw.sample_type)
    for sample in samples:
        sums = [a + b for a, b in zip(sums, sample.value)]
    names = [profile.text(t.type) for t in profile.raw.sample_type]
    print("%s:" % title, *["%s=%d" % pair for pair in zip(names, sums)])


def matches(name, function):
    return name == function or re.sub(r"\(.*", "", function) == name


def print_by_function(profile, names, wanted):
    for name in wanted:
        flat, cum = [], []
        for sample in profile.raw.sample:
            stack = [n for i in sample.location_id for n in names[i]]
            if stack and matches(name, stack[0]):
                flat.append(sample)
            if any(matches(name, n) for n in stack):
                cum.append(sample)
        print_sums(profile, "flat " + name, flat)
        print_sums(profile, "cum " + name, cum)


def print_profile(path, args):
    with open(path, "rb") as file:
        data = file.read()
    try:
        profile = Profile(data)
    except Invalid as error:
        sys.exit("mprof_read: %s: %s" % (path, error))

    names = None
    if args.symbolize or args.by_function:
        names = symbolize(profile, args.binary)
    if args.totals:
        print_sums(profile, "total", profile.raw.sample)
    if args.by_function:
        print_by_function(profile, names, args.by_function)
    if not args.totals and not args.by_function:
        print_head(profile)
        print_samples(profile, names)


def main():
    parser = argparse.ArgumentParser(
        description="Print pprof profiles, or say why one is not valid."
    )
    parser.add_argument("files", metavar="file", nargs="+")
    parser.add_argument("--symbolize", action="store_true")
    parser.add_argument("--binary", metavar="EXE")
    parser.add_argument("--totals", action="store_true")
    parser.add_argument("--by-function", metavar="NAME", action="append")
    args = parser.parse_args()
    for path in args.files:
        print_profile(path, args)


if __name__ == "__main__":
    main()

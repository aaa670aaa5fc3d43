"""Writes good.pb.gz, and for each rule of mprof_read.py one file that breaks it.

Prints the names of the broken files. The files are encoded by hand, so that a
mistake in the tables of the reader is not repeated here.
"""

import gzip


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def num(field, n):
    return varint(field << 3) + varint(n % (1 << 64))


def data(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def profile(**change):
    p = {
        "strings": ["", "space", "bytes", "main", "/bin/x", "cafe"],
        "sample_type": num(1, 1) + num(2, 2),
        "sample": data(1, varint(1) + varint(2))
        + data(2, varint(48))
        + data(3, num(1, 2) + num(3, 48)),
        "mapping": num(1, 1) + num(2, 0x1000) + num(3, 0x2000),
        "location1": num(1, 1) + num(2, 1) + num(3, 0x1000),
        "location2": num(1, 2) + num(2, 1) + num(3, 0x1FFF),
        "rest": b"",
    }
    p.update(change)
    out = data(1, p["sample_type"]) + data(2, p["sample"])
    out += data(3, p["mapping"] + num(5, 4) + num(6, 5))
    out += data(4, p["location1"]) + data(4, p["location2"])
    for s in p["strings"]:
        out += data(6, s if isinstance(s, bytes) else s.encode())
    return out + data(11, num(1, 1) + num(2, 2)) + num(12, 512) + p["rest"]


good = gzip.compress(profile(), mtime=0)
label = data(1, varint(1)) + data(2, varint(48))
broken = {
    "gzip-cut": good[:-1],
    "gzip-crc": good[:-8] + b"\0" + good[-7:],
    "gzip-more": good + b"\0",
    "strings-none": profile(strings=[]),
    "strings-first": profile(strings=["x"] * 6),
    "strings-utf8": profile(strings=["", b"\xff", "", "", "", ""]),
    "string-range": profile(rest=num(13, 6)),
    "string-negative": profile(rest=num(7, -1)),
    "label-string": profile(sample=label + data(3, num(1, 2) + num(2, 9))),
    "label-twice": profile(sample=label + 2 * data(3, num(1, 2) + num(3, 1))),
    "label-keyless": profile(sample=label + data(3, num(3, 1))),
    "values-more": profile(sample=data(2, varint(1) + varint(2))),
    "values-none": profile(sample=data(1, varint(1))),
    "no-location": profile(sample=data(1, varint(3)) + data(2, varint(1))),
    "no-mapping": profile(location1=num(1, 1) + num(3, 0x1000)),
    "mapping-range": profile(location1=num(1, 1) + num(2, 2) + num(3, 0x1000)),
    "address-below": profile(location1=num(1, 1) + num(2, 1) + num(3, 0xFFF)),
    "address-above": profile(location2=num(1, 2) + num(2, 1) + num(3, 0x2000)),
    "location-order": profile(location1=num(1, 2) + num(2, 1) + num(3, 0x1000)),
    "location-zero": profile(location1=num(2, 1) + num(3, 0x1000)),
    "mapping-id": profile(mapping=num(1, 2) + num(2, 0x1000) + num(3, 0x2000)),
    "mapping-empty": profile(mapping=num(1, 1) + num(2, 0x1000)),
    "no-function": profile(rest=data(4, num(1, 3) + num(2, 1) + num(3, 4096)
                                     + data(4, num(1, 1)))),
    "default-type": profile(rest=num(14, 3)),
    "unknown-field": profile(rest=num(16, 1)),
    "cut": profile()[:-1],
    "wire-type": profile(rest=varint(12 << 3 | 5) + b"\0\0\0\0"),
    "string-as-number": profile(rest=num(6, 1)),
    "number-as-string": profile(rest=data(12, b"")),
}
with open("good.pb.gz", "wb") as file:
    file.write(good)
for name, content in broken.items():
    with open(name, "wb") as file:
        file.write(content)
    print(name)

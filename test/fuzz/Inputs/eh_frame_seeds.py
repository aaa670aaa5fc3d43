# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# eh_frame_seeds.py DIRECTORY: writes inputs of eh_frame_fuzz.c with corrupt
# bytes that random changes of good inputs seldom make.

import os
import struct
import sys

FRONT = bytes(3)  # asks for the first address; the header comes first
HEADER_SIZE = 20
BEGIN, FRAME = 0, HEADER_SIZE  # offsets from the header


def header(entry):
    encodings = bytes([1, 0x1B, 0x03, 0x3B])
    return encodings + struct.pack("<iIii", FRAME, 1, BEGIN, entry)


def entry(body):
    return struct.pack("<I", len(body)) + body


def uleb(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def with_cie(augmentation, data):
    # version 1, code_align 1, data_align -8, return address 16
    cie = entry(bytes(4) + b"\1" + augmentation + b"\1\x78\x10" + data)
    fde_at = FRAME + len(cie)
    fde = entry(struct.pack("<IiIB", len(cie) + 4, 0, 64, 0) + b"\x41\x0e\x10")
    return header(fde_at) + cie + fde


# The CIE lies in the entry that names it, one byte before the entry's body, and
# its augmentation reaches to the end of the module.
overlap = struct.pack("<IIi", 256, 1, 1 << 24)
overlap += b"z".ljust(FRAME + 3 + 4 + 256 - FRAME - len(overlap), b"S")

SEEDS = {
    "good": with_cie(b"zR\0", b"\1\x1b\x0c\7\x08"),
    "unterminated_augmentation": header(FRAME) + overlap,
    # The augmentation's data ends before the module begins.
    "length_wraps_around": with_cie(b"zR\0", uleb(2**64 - 4096) + b"\x1b\0\0"),
    "no_augmentation": with_cie(b"\0", b"\x0c\7\x08"),
    "unknown_augmentation": with_cie(b"eh\0", b"\0\0\0"),
    "restore_unremembered": with_cie(b"zR\0", b"\1\x1b\x0b\x0b"),
    "large_operands": with_cie(b"zR\0", b"\1\x1b\x86" + uleb(2**63 - 1)),
}
for name, data in SEEDS.items():
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(FRONT + data)

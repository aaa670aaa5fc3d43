# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# fuzz_alloc_log.py READER RUNS: passes RUNS allocation logs with random changes
# to mprof-alloc-log, always the same ones. Fails on an exception and on an exit
# status other than 0 or 2, and leaves the log that caused it.

import contextlib
import importlib.machinery
import importlib.util
import io
import random
import subprocess
import sys
import traceback

PROGRAM_RUNS = 20  # by the program itself; all others call its main function

path, runs = sys.argv[1], int(sys.argv[2])
loader = importlib.machinery.SourceFileLoader("reader", path)
reader = importlib.util.module_from_spec(importlib.util.spec_from_loader("reader", loader))
loader.exec_module(reader)
choose = random.Random(1)


def stack():
    frames = ["\t0x%x app+0x%x" % (0x401000 + i, i) for i in range(choose.randrange(4))]
    return frames + choose.choice([[], [], ["\t[truncated]"], ["\t0x7f0000000000"]])


def record(time):
    block = "0x%x" % (0x1000 * choose.randrange(1, 6))
    size = "0x%x" % choose.choice([1, 8, 32, 1 << 40])
    of = choose.choice(["", "", ", gc", ", custom"])
    call, end = choose.choice(
        [
            ("alloc(%s, %s%s)" % (block, size, of), []),
            ("free(%s, %s%s)" % (block, size, of), []),
            ("free(%s)" % block, []),
            ("gc()", ["end tracegc"]),
        ]
    )
    thread = "thread %d [%.6f]:" % (choose.randrange(1, 4), time / 1e6)
    return ["trace" + call, thread, *stack(), *end, ""]


def log(part):
    lines = [
        "# MProf allocation log 1, pid 71, part %d, begun 1763760000000000000" % part,
        "# heap_rate 1",
        "# modules 2",
        "# module 0x401000-0x402000 0x400000 00ff /none/app",
        "# module 0x7f0000000000-0x7f0000001000 0x7f0000000000 %s %s"
        % (reader.build_id(sys.executable), sys.executable),
    ]
    for i in range(choose.randrange(1, 12)):
        lines += record(1000 * part + i)
        if choose.randrange(8) == 0:
            lines.append("# lost %d" % choose.randrange(9))
    return "\n".join(lines).encode() + b"\n"


PIECES = [b"0", b"9" * 5000, b"f" * 5000, b"-1", b"1e999", b"nan", b"0x", b"\t", b"\n", b"\n\n"]
PIECES += [b"# ", b"# lost ", b"# heap_rate ", b"# module ", b"\r", b"\0", b"\xff\xfe", b", ", b"()"]
PIECES += [b", gc", b", custom", b"\xd9\xa3", b"tracealloc(0x1)\n", b"tracegc()\n", b"end tracegc\n"]


def changed(data):
    data = bytearray(data)
    for _ in range(choose.choice([1, 1, 1, 2, 4])):
        at = choose.randrange(len(data) + 1)
        length = choose.randrange(1, choose.choice([2, 8, 80]))
        what = choose.randrange(10)
        if what == 0:
            data[at : at + 1] = bytes([choose.randrange(256)])
        elif what == 1:
            del data[at : at + length]
        elif what == 2:
            data[at:at] = data[at : at + length]
        elif what == 3:
            data[at:at] = choose.choice(PIECES)
        elif what == 4:
            data[at : at + length] = choose.choice(PIECES)
        elif what == 5:
            lines = data.split(b"\n")
            i, k = choose.randrange(len(lines)), choose.randrange(len(lines))
            lines[i], lines[k] = lines[k], lines[i]
            data = bytearray(b"\n".join(lines))
        else:
            digits = [i for i, byte in enumerate(data) if chr(byte) in "0123456789"]
            data[choose.choice(digits or [0])] = ord(choose.choice("0123456789"))
    return bytes(data)


def call_main(words):
    sys.argv = ["mprof-alloc-log", *words]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            return reader.main(), ""
        except Exception:
            return None, traceback.format_exc()


def run_program(words):
    done = subprocess.run([sys.executable, path, *words], capture_output=True)
    text = done.stderr.decode(errors="replace")
    return (None if "Traceback" in text else done.returncode), text


done = 0
for run in range(runs):
    part = choose.choice([1, 1, 2])
    if part == 2:
        with open("log.1", "wb") as file:
            before = log(1)
            file.write(changed(before) if choose.random() < 0.5 else before)
    with open("log", "wb") as file:
        file.write(changed(log(part)))
    words = ["log", "--top", str(choose.choice([0, 1, 10]))]
    words += choose.choice([[], ["--print"]])
    # "true" gives no names. It is started for the logs with an address in the
    # module whose file exists.
    words += ["--no-names"] if choose.random() < 0.9 else ["--symbolizer", "true"]
    status, text = (run_program if run < PROGRAM_RUNS else call_main)(words)
    if status not in (0, 2):
        sys.exit("run %d: %s: exit status %s\n%s" % (run, " ".join(words), status, text))
    done += status == 0
print("%d of %d logs were read" % (done, runs))
# Otherwise the changes are so large that only the first check is tested.
assert runs // 4 < done < runs

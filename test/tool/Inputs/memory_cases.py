# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# memory_cases.py MPROF PROGRAM [CASE...]: runs each case of memory_cases, reads its
# memory by mprof memory PID, and compares it with what the kernel counts and with what
# the program knows of itself.

import json
import os
import re
import shutil
import subprocess
import sys

mprof, program, *cases = sys.argv[1:]
if not cases:
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    cases = [c for c in out.split() if c != "ready"]
commands = {c: ([program, c], {}) for c in cases}
# Other allocators, and languages that have heaps of their own.
if len(sys.argv) == 3:
    for name in ("jemalloc.so.2", "tcmalloc_minimal.so.4", "mimalloc.so.2"):
        commands[name] = ([program, "leak"], {"LD_PRELOAD": f"lib{name}"})
    code = "import sys; x = [[i] * 9 for i in range(200000)]; print('ready', flush=True); sys.stdin.read()"
    commands["python"] = ([sys.executable, "-c", code], {})
    code = "let a = []; for (let i = 0; i < 1e5; i++) a.push(Buffer.alloc(300)); console.log('ready'); process.stdin.resume()"
    if shutil.which("node"):
        commands["node"] = (["node", "-e", code], {})

bad = 0
for case, (command, environment) in commands.items():
    p = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    truth = {}
    for line in p.stdout:
        if line == "ready\n":
            break
        part, value = line.rsplit(None, 1)
        truth[f"[{part}]"] = int(value)
        if case == "main_stack":
            break
    out = subprocess.run([mprof, "memory", str(p.pid), "--format=json"], capture_output=True, text=True)
    rollup = open(f"/proc/{p.pid}/smaps_rollup").read()
    kernel = {
        key: 1024 * int(re.search(rf"^{name}: *(\d+) kB", rollup, re.M).group(1))
        for key, name in (("rss", "Rss"), ("private_dirty", "Private_Dirty"), ("swap", "Swap"))
    }
    p.communicate()
    if out.returncode != 0 or out.stderr:
        print(case, "fails:", out.stderr)
        bad += 1
        continue
    shown = json.loads(out.stdout)
    parts = {x["part"]: x for x in shown["parts"]}
    for key, value in kernel.items():
        for sum_of in (shown[key], sum(x[key] for x in parts.values())):
            # Languages have threads that work while they are read.
            if abs(sum_of - value) > (64 * 1024 if command[0] == program else value / 100):
                print(f"{case}: {key} {sum_of}, the kernel counts {value}")
                bad += 1
    for part in parts.values():
        for key in kernel:
            if sum(r[key] for r in part["rows"]) != part[key]:
                print(f"{case}: the rows of {part['part']} do not add up to its {key}")
                bad += 1
    if environment:
        # Another allocator does not say from outside how much is in use.
        used = truth.pop("[malloc: in use]")
        found = parts["[malloc: in use or free]"]["rss"]
        unknown = parts.get("[anonymous memory]", {"rss": 0})["rss"]
        if not used * 0.9 < found < used * 1.5 or unknown > shown["rss"] / 50:
            print(f"{case}: {found} and {unknown} of unknown origin, the program uses {used}")
            bad += 1
    for part, value in truth.items():
        # What the loader and libc use themselves is less than 256 KiB.
        found = parts.get(part, {"rss": 0})["rss"]
        if not -4096 - value / 100 <= found - value <= 256 * 1024 + value / 100:
            print(f"{case}: {part} {found}, the program uses {value}")
            bad += 1
print(f"{len(commands)} cases, {bad} differ")

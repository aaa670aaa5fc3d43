#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# reach.py [NAME...]: see ../reach.sh. Exits with 1 if the output or the exit
# status of a program differs, or if the counts of a process are not exact.

import glob
import json
import os
import re
import shutil
import subprocess
import sys

from programs import PROGRAMS, REASONS

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MPROF = os.path.join(TOP, "build", "bin", "mprof")
WORK = os.path.join(TOP, "build", "reach")
OPTIONS = "--heap-rate=1 --block --mutex --threads -O block_kinds=all"
PATIENCE = 300


def write(name, text):
    with open(os.path.join(WORK, name), "w") as f:
        f.write(text)


def prepare():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    write("big.json", json.dumps([{"a": i, "b": "x" * (i % 40)} for i in range(30000)]))
    write("words", "\n".join(str(i * 7919 % 100003) for i in range(100000)))
    write(
        "big.sql",
        "create table t(a integer primary key, b text, c);\n"
        "with recursive c(x) as (select 1 union all select x + 1 from c where x < 50000) "
        "insert into t select x, 'abc' || x, x % 97 from c;\n"
        "create index i on t(c);\n"
        "select count(*), sum(a) from t where c = 5;\n"
        "select b from t order by b desc limit 3;\n",
    )
    write("page.c", "#include <stdio.h>\nint main(void) { puts(\"page\"); return 0; }\n")
    write("Makefile", "all: a b c\na b c:\n\t@echo $@ | tr a-z A-Z > $@.out\n")
    write(
        "lighttpd.conf",
        f'server.document-root = "{WORK}"\nserver.bind = "{WORK}/l.sock"\n'
        f'server.pid-file = "{WORK}/l.pid"\n',
    )
    write(
        "nginx.conf",
        f"daemon off;\nmaster_process on;\nworker_processes 2;\npid {WORK}/n.pid;\nuser root;\n"
        "events {}\n"
        f"http {{ access_log off; server {{ listen unix:{WORK}/n.sock; root {WORK}; }} }}\n",
    )
    write(
        "Lines.java",
        "import java.nio.file.*;\nimport java.util.*;\n"
        "public class Lines { public static void main(String[] a) throws Exception {\n"
        "String s = Files.readString(Path.of(a[0])); List<String> l = new ArrayList<>();\n"
        "for (String p : s.split(\"}\")) l.add(p + p.length());\n"
        "System.out.println(String.join(\"\", l).length()); } }\n",
    )
    write("graph.dot", "digraph { " + " ".join(f"a{i} -> a{i * i % 97};" for i in range(97)) + "}\n")
    write("page.ps", "/Times-Roman findfont 40 scalefont setfont 50 50 moveto (page) show showpage\n")
    write("page.tcl", "for {set i 0} {$i < 20000} {incr i} {lappend l $i$i}\nputs [llength $l]\n")
    write(
        "page.ml",
        "let () = List.init 20000 string_of_int |> String.concat \"\" |> String.length |> print_int\n",
    )
    write("page.cmake", "foreach(i RANGE 5000)\nlist(APPEND l x${i})\nendforeach()\nmessage(\"${l}\")\n")
    write("page.1", ".TH page 1\n.SH NAME\npage \\- a page\n" + ".PP\nSome more text.\n" * 200)
    write("big.xml", "<a>" + "".join(f"<b c='{i}'>text</b>" for i in range(20000)) + "</a>\n")
    write("page.f90", "program page\nprint *, sum([(i * i, i = 1, 100)])\nend program\n")
    quiet = {"cwd": WORK, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["gcc", "-g", "-o", "page", "page.c"], **quiet)
    subprocess.run(["gcc", "-fPIC", "-c", "page.c"], **quiet)
    subprocess.run(["javac", "Lines.java"], **quiet)
    source = os.path.join(TOP, "utils", "reach", "count.c")
    library = "-O2 -fno-builtin -shared -fPIC -o count.so".split()
    subprocess.run(["gcc", *library, source], **quiet)
    subprocess.run(
        "git init -q repository && cd repository && git config user.name x && "
        "git config user.email x@example && for i in $(seq 40); do seq $i > f$i; "
        "git add . && git commit -qm $i; done",
        shell=True,
        **quiet,
    )


def run(command, before):
    for name in ("l.sock", "r.sock", "n.sock", "m.sock"):
        if os.path.exists(os.path.join(WORK, name)):
            os.remove(os.path.join(WORK, name))
    try:
        r = subprocess.run(
            ["bash", "-c", command.format(run=before)],
            cwd=WORK,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "no end", b"", b""
    return r.returncode, r.stdout, r.stderr


# Returns for each process that has written a report: the id of the process, the
# number of blocks, and the bytes.
def mprof_totals(directory):
    found = {}
    for path in glob.glob(directory + "/*.txt"):
        text = open(path, errors="replace").read()
        m = re.search(r"^Allocated: +(?:.*\()?([0-9,]+) bytes\)? in ([0-9,]+) block", text, re.M)
        if m:
            found[path.split(".")[-2]] = tuple(int(g.replace(",", "")) for g in (m[2], m[1]))
    return found


# The same as the library beneath MProf's has counted.
def counted_totals(directory):
    found = {}
    for path in glob.glob(directory + "/*"):
        words = open(path).read().split()
        if len(words) == 2:
            found[os.path.basename(path)] = (int(words[0]), int(words[1]))
    return found


def heaptrack_totals(directory):
    found = []
    for path in glob.glob(directory + "/*"):
        out = subprocess.run(
            ["heaptrack_print", path], capture_output=True, text=True, check=False
        ).stdout
        calls = re.search(r"calls to allocation functions: (\d+)", out)
        if calls:
            found.append(int(calls[1]))
    return max(found, default=None)


def examine(name):
    command = PROGRAMS[name]
    profiles, counts, tracked = (os.path.join(WORK, d) for d in ("profiles", "counts", "heaptrack"))
    for directory in (profiles, counts, tracked):
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
    plain = run(command, "")
    again = run(command, "")
    profiled = run(command, f"{MPROF} run -q -o {profiles} {OPTIONS} --")
    is_same = plain[:2] == profiled[:2] and (plain[2] == profiled[2] or plain[2] != again[2])
    files = len(os.listdir(profiles))
    for path in glob.glob(profiles + "/*"):
        os.remove(path)
    run(
        command,
        f"env COUNT_DIR={counts} LD_PRELOAD={WORK}/count.so "
        # The library beneath would count the block of a thread of MProf itself.
        f"{MPROF} run -q -o {profiles} --heap-rate=1 -O memory=0 --",
    )
    ours, truth = mprof_totals(profiles), counted_totals(counts)
    wrong = {pid: (v, truth.get(pid)) for pid, v in ours.items() if truth.get(pid) != v}
    run(command, f"heaptrack -o {tracked}/h")
    main_process = max(ours, key=ours.get, default=None)
    most = ours.get(main_process, ("-", "-"))
    true_most = truth.get(main_process, ("-", "-"))
    theirs = heaptrack_totals(tracked)
    print(
        f"{name:16} {'same' if is_same else 'DIFFERS':8} {plain[0]!s:>6} {files:5} "
        f"{most[0]:>9} {true_most[0]:>9} {most[1]:>11} {true_most[1]:>11} "
        f"{theirs if theirs is not None else '-':>9}  {REASONS.get(name, '')}",
        flush=True,
    )
    if not is_same:
        for label, result in (("plain", plain), ("mprof", profiled)):
            print(f"   {label}: {result[0]} {result[1][-200:]} {result[2][-300:]}")
    for pid, (found, true) in wrong.items():
        print(f"   process {pid}: {found}, not {true}")
    return is_same and bool(ours) and not wrong


def main():
    names = sys.argv[1:] or list(PROGRAMS)
    prepare()
    print(
        "program          output   status files    blocks      true       bytes        true heaptrack"
    )
    results = [examine(name) for name in names]
    print(f"{sum(results)} of {len(results)} programs run as without MProf, with exact counts")
    sys.exit(0 if all(results) else 1)


main()

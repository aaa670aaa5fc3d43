# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# door_checks.py CHECK PROGRAM [ARGUMENT...]: runs one of the checks below, for
# the tests door-*.test. PROGRAM is door_app.c.

import os
import re
import socket
import stat
import subprocess
import sys
import time

from door import App, equal, read_profile, until

CHECKS = {}
# The program runs under an emulator of its processor, whose own memory, threads
# and signals the kernel shows as the program's.
IS_EMULATED = "MPROF_TEST_EMULATED" in os.environ


def check(f):
    CHECKS[f.__name__] = f
    return f


# --- pages ---

PROFILE_HEADERS = {
    "Content-Type": "application/octet-stream",
    "X-Content-Type-Options": "nosniff",
}


@check
def pages(program):
    with App(program) as app:
        index = app.ask("/debug/pprof/")
        equal(index.status, 200)
        equal(index.headers["Content-Type"], "text/html; charset=utf-8")
        names = re.findall(r"<a href='(\w+)\?debug=1'>", index.text)
        for name in ("heap", "allocs", "block", "mutex", "threadcreate", "goroutine"):
            assert name in names, names
        assert "peak" not in names, "listed without its option"
        for name in names:
            r = app.ask("/debug/pprof/" + name)
            equal((name, r.status), (name, 200))
            for header, value in PROFILE_HEADERS.items():
                equal(r.headers[header], value)
            equal(r.headers["Content-Disposition"], 'attachment; filename="%s"' % name)
            equal(r.body[:2], b"\x1f\x8b")
        for name in ("heap", "growth", "contention"):
            equal(app.ask("/pprof/" + name).status, 200)
        equal(app.ask("/debug/pprof/cmdline").body, os.path.abspath(program).encode())
        equal(app.ask("/debug/pprof/symbol").text, "num_symbols: 1\n")


@check
def errors(program):
    with App(program) as app:
        for path, method, status, text in [
            ("/debug/pprof/nope", "GET", 404, "Unknown profile\n"),
            ("/debug/pprof/nope?seconds=1", "GET", 404, "Unknown profile\n"),
            ("/debug/pprof/heap?seconds=0", "GET", 400, None),
            ("/debug/pprof/heap?seconds=1x", "GET", 400, None),
            ("/debug/pprof/heap?seconds=1&debug=1", "GET", 400, None),
            ("/debug/pprof/threadleak?seconds=1", "GET", 400, None),
            ("/debug/pprof/peak", "GET", 404, None),
            ("/debug/pprof/profile", "GET", 501, None),
            ("/debug/pprof/heap", "POST", 405, None),
        ]:
            r = app.ask(path, method)
            equal((path, r.status, r.headers["X-Go-Pprof"]), (path, status, "1"))
            equal(r.headers["Content-Type"], "text/plain; charset=utf-8")
            equal(r.headers["Content-Disposition"], None)
            assert text is None or r.text == text, r.text
        equal(app.ask("/debug/pprof/heap", "DELETE").headers["Allow"], "GET, HEAD")
        equal(app.ask("/debug/pprof/symbol", "PUT").headers["Allow"], "GET, HEAD, POST")
        for path in ("/", "/debug", "/debug/pprofx", "/debug/../debug/pprof/heap", "//debug/pprof/heap"):
            r = app.ask(path)
            equal((path, r.status, r.headers["X-Go-Pprof"]), (path, 404, None))
        r = app.ask("/debug/pprof")
        equal((r.status, r.headers["Location"]), (301, "/debug/pprof/"))
        head = app.ask("/debug/pprof/heap", "HEAD")
        equal((head.status, head.body), (200, b""))
        assert int(head.headers["Content-Length"]) > 100


@check
def heap_alone(program):
    with App(program) as app:
        app.command("alloc 3 5000")
        equal(samples(app.profile("heap"), "grow"), [3, 15000, 3, 15000])
        for name in ("mutex", "goroutine", "trace", "mutex?seconds=1", "delta_block"):
            r = app.ask("/debug/pprof/" + name)
            equal((name, r.status), (name, 404))
            assert "linked without" in r.text, r.text
        assert ">mutex<" not in app.ask("/debug/pprof/").text
        r = app.ask("/debug/mprof/trace/last", "POST")
        equal((r.status, r.text.split("; ")[1]), (404, "link with -fmprof=trace\n"))


@check
def text_forms(program):
    with App(program) as app:
        app.command("alloc 3 5000")
        heap = app.ask("/debug/pprof/heap?debug=1")
        equal(heap.headers["Content-Type"], "text/plain; charset=utf-8")
        equal(heap.headers["Content-Disposition"], None)
        assert heap.text.startswith("heap profile: "), heap.text[:80]
        assert re.search(r"^3: 15000 \[3: 15000\] @ ", heap.text, re.M), heap.text
        assert app.ask("/debug/pprof/heap?debug=2").text.startswith("heap profile: ")
        app.command("threads 1")
        assert "wait_for_ever" in app.ask("/debug/pprof/goroutine?debug=2").text
        assert "goroutine profile: total 2" in app.ask("/debug/pprof/goroutine?debug=1").text


# --- profiles ---


def samples(text, function):
    """Sums the values of the samples that contain a function."""
    sums = None
    for line in text.split("\n"):
        if not line.startswith("sample: ") or function not in line:
            continue
        values = [int(v) for v in line.split(" : ")[0].split()[1:] if re.match(r"-?\d+$", v)]
        sums = [a + b for a, b in zip(sums, values)] if sums else values
    return sums


@check
def deltas(program):
    with App(program) as app:
        app.command("alloc 10 4000")
        end = app.begin("/debug/pprof/heap?seconds=1")
        app.command("alloc 3 4000")
        app.command("free 7")
        delta = read_profile(end().body)
        equal(samples(delta, "grow"), [3, 12000, -4, -16000])
        duration = int(re.search(r"^duration_nanos: (\d+)", delta, re.M)[1])
        assert duration >= 10**9, delta
        # The delta paths begin where the last reply ended, and show the blocks
        # in use at the moment.
        equal(samples(app.profile("delta_heap"), "grow"), [13, 52000, 6, 24000])
        app.command("alloc 2 4000")
        equal(samples(app.profile("delta_heap"), "grow"), [2, 8000, 8, 32000])
        equal(samples(app.profile("delta_heap"), "grow"), [0, 0, 8, 32000])


@check
def wait_deltas(program):
    with App(program) as app:
        app.command("contend 2")
        equal(samples(app.profile("delta_mutex"), "contend")[0], 2)
        app.command("contend 1")
        equal(samples(app.profile("delta_mutex"), "contend")[0], 1)
        equal(samples(app.profile("delta_mutex"), "contend"), None)
        equal(samples(app.profile("mutex"), "contend")[0], 3)
        app.command("contend 1")
        equal(samples(app.profile("delta_block"), "lock_once")[0], 4)


@check
def thread_deltas(program):
    with App(program) as app:
        app.command("threads 2")
        names = ("goroutine", "threadcreate")
        ends = {name: app.begin("/debug/pprof/%s?seconds=1" % name) for name in names}
        app.command("threads 3")
        r = {name: read_profile(end().body) for name, end in ends.items()}
        equal(samples(r["goroutine"], "wait_for_ever"), [3])
        equal(samples(r["threadcreate"], "start_threads"), [3])


@check
def cycles(program):
    with App(program) as app:
        app.command("cycle")
        app.command("alloc 5 4000")
        equal(samples(app.profile("heap"), "grow"), None)
        equal(samples(app.profile("heap?gc=1"), "grow"), [5, 20000, 5, 20000])


@check
def symbols(program):
    with App(program) as app:
        app.command("alloc 1 4000")
        raw = read_profile(app.ask("/debug/pprof/heap?symbolize=0").body, None)
        assert " functions" not in raw, raw
        addresses = re.search(r"bytes=4000 : (.*)", raw).group(1).split()
        body = "+".join(addresses)
        names = app.ask("/debug/pprof/symbol", "POST", body).text
        # On arm64, the call of the runtime is in a function of its own.
        assert re.search(r"^%s grow(\.cold)?$" % addresses[0], names, re.M), names
        equal(app.ask("/debug/pprof/symbol?" + body).text, names)
        big = "+".join(["0x1"] * 300000)
        equal(app.ask("/debug/pprof/symbol", "POST", big[:1000000]).status, 200)
        equal(app.ask("/debug/pprof/symbol", "POST", big).status, 413)


@check
def go_reads(program, go):
    with App(program, listen="127.0.0.1:0") as app:
        app.command("alloc 3 5000")
        app.command("contend 1")
        app.command("threads 1")
        for name, function in [("heap", "grow"), ("mutex", "contend"), ("heap?symbolize=0", "grow"), ("goroutine", "wait_for_ever")]:
            url = "http://127.0.0.1:%d/debug/pprof/%s" % (app.port(), name)
            out = subprocess.run(
                [go, "tool", "pprof", "-top", "-nodefraction=0", url],
                capture_output=True,
                text=True,
                env=dict(os.environ, PPROF_TMPDIR=app.dir),
            )
            assert function in out.stdout, (name, out.stdout, out.stderr)


@check
def trace(program, trace_check):
    with App(program) as app:
        app.command("threads 1")
        app.command("workers 1")
        end = app.begin("/debug/pprof/trace?seconds=0.5")
        second = app.ask("/debug/pprof/trace?seconds=0.1")
        equal((second.status, second.headers["X-Go-Pprof"]), (500, "1"))
        equal(second.text, "Could not enable tracing: tracing is already enabled\n")
        reply = end()
        equal(reply.headers["Content-Disposition"], 'attachment; filename="trace"')
        body = reply.body
        path = os.path.join(app.dir, "trace")
        open(path, "wb").write(body)
        subprocess.run([trace_check, path], check=True, stdout=subprocess.DEVNULL)
        assert b"mprof-door" not in body


# --- options ---


@check
def options(program):
    with App(program) as app:
        lines = app.ask("/debug/mprof/get").text.splitlines()
        assert "heap_rate=1" in lines and "report=0" in lines, lines
        fixed = [line for line in lines if line.startswith("stack_depth=128 (cannot change: ")]
        equal(len(fixed), 1)
        equal(app.ask("/debug/mprof/get?name=report_top").text, "report_top=20\n")

        def set(query, **kwargs):
            r = app.ask("/debug/mprof/set?" + query, "POST", **kwargs)
            return r.status, r.text

        equal(set("report_top=7"), (200, "report_top=7\n"))
        equal(app.ask("/debug/mprof/get?name=report_top").text, "report_top=7\n")
        equal(set("mutex_fraction=0"), (200, "mutex_fraction=0\n"))
        app.command("contend 1")
        equal(samples(app.profile("mutex"), "contend"), None)
        set("mutex_fraction=1")
        app.command("contend 2")
        equal(samples(app.profile("mutex"), "contend")[0], 2)
        equal(set("heap_rate=0")[0], 200)
        app.command("alloc 5 5000")
        equal(samples(app.profile("heap"), "grow"), None)
        equal(set("heap_rate=1")[0], 200)
        app.command("alloc 3 5000")
        equal(samples(app.profile("heap"), "grow"), [3, 15000, 3, 15000])
        equal(set("stack_depth=64")[0], 409)
        equal(set("nonsense=1"), (404, "unknown option 'nonsense'; 'mprof ctl PID get' lists the options\n"))
        equal(set("heaprate=1"), (404, "unknown option 'heaprate', did you mean 'heap_rate'\n"))
        status, text = set("heap_rate=x")
        assert status == 400 and text.startswith("value 'x' of option 'heap_rate' is not a number from 0 to "), text
        equal(set("report=maybe"), (400, "value 'maybe' of option 'report' is not 0, 1, true, false, yes or no\n"))
        equal(set("heap_rate")[0], 400)
        equal(set("heap_rate=2", headers={"Origin": "http://x"})[0], 403)
        equal(app.ask("/debug/mprof/set?heap_rate=2").status, 405)
        equal(app.ask("/debug/mprof/get", "POST").status, 405)


@check
def ctl(program, mprof):
    def run(*words, status=0):
        p = subprocess.run([mprof, *words], capture_output=True, text=True)
        equal((p.returncode, p.stderr if p.returncode == 0 else ""), (status, ""))
        return p.stdout if status == 0 else p.stderr

    with App(program, listen="127.0.0.1:0") as tcp:
        until(tcp.door_tid)
        name = os.path.basename(program) + ".mutex.pb.gz"
        equal(run("ctl", "127.0.0.1:%d" % tcp.port(), "dump", "mutex"), "wrote %s\n" % name)
        equal(run("ctl", str(tcp.pid), "get", "listen").split(" ")[0], "listen='127.0.0.1:0'")
        equal(run("ctl", "127.0.0.1:%d" % tcp.port(), "get", "heap"), run("ctl", str(tcp.pid), "get", "heap"))
    with App(program, listen="[::1]:0") as tcp:
        until(tcp.door_tid)
        equal(run("ctl", "[::1]:%d" % tcp.port(), "get", "heap"), run("ctl", str(tcp.pid), "get", "heap"))
    with App(program) as app:
        until(app.door_tid)
        app.command("threads 1")
        pid, socket_path = str(app.pid), app.path()
        equal(run("ctl", pid, "get", "report_top"), "report_top=20\n")
        equal(run("ctl", socket_path, "set", "heap_rate", "64k"), "heap_rate=65536\n")
        assert "memory for the present value" in run("ctl", pid, "set", "stack_depth", "1", status=2)
        assert "unknown option 'nonsense'" in run("ctl", pid, "set", "nonsense", "1", status=2)
        assert "wait_for_ever" in run("ctl", pid, "threads")
        assert "wait_for_ever" in run("threads", "--color=never", pid)
        assert "wait_for_ever" in run("threads", "--color=never", socket_path)
        assert "stuck" in run("ctl", pid, "stuck")
        heap, trace = app.dir + "/heap", app.dir + "/trace"
        run("ctl", pid, "dump", "heap", "-o", heap)
        equal(open(heap, "rb").read(2), b"\x1f\x8b")
        # The name of the file says what it has.
        name = "%s.%s." % (os.path.basename(program), pid)
        equal(run("ctl", pid, "dump", "heap"), "wrote %sheap.pb.gz\n" % name)
        equal(run("ctl", pid, "dump", "heap"), "replaced %sheap.pb.gz\n" % name)
        equal(run("ctl", socket_path, "dump", "block"), "wrote %sblock.pb.gz\n" % name)
        equal(run("ctl", pid, "dump", "trace"), "wrote %strace\n" % name)
        equal(run("ctl", pid, "trace", "0.1"), "replaced %strace\n" % name)
        equal(run("ctl", pid, "dump", "cmdline"), "wrote %scmdline.txt\n" % name)
        assert open(name + "cmdline.txt").read().startswith("/"), name
        run("ctl", pid, "dump", "heap", "-o", "/dev/null")
        run("ctl", pid, "trace", "0.1", "-o", trace)
        equal(open(trace, "rb").read(3), b"go ")
        # A wrong name: the message lists the profiles.
        wrong = run("ctl", pid, "dump", "nope", "-o", heap, status=2)
        assert wrong.startswith("mprof ctl: unknown profile 'nope'; the profiles of the program are "), wrong
        names = wrong.strip().split(" are ")[1].split(", ")
        assert {"heap", "block", "trace"} < set(names) and "nope" not in names, names
        for name in names:
            run("ctl", pid, "dump", name, "-o", "/dev/null")
        equal(run("ctl", pid, "get", "nope", status=2), "mprof ctl: unknown option 'nope'; 'mprof ctl PID get' lists the options\n")
        assert "unknown option 'block'; mprof ctl %s dump block gets the profile\n" % pid in run("ctl", pid, "get", "block", status=2)
        equal(open(heap, "rb").read(2), b"\x1f\x8b")  # the file of the first dump
        assert "usage: " in run("ctl", pid, "nonsense", status=2)
    assert "there is no process" in run("ctl", pid, "get", status=2)
    with App(program, listen="") as app:
        assert "has no door" in run("ctl", str(app.pid), "get", status=2)


@check
def ctl_trace(program, mprof, trace_check):
    def run(app, *words, status=0):
        p = subprocess.run([mprof, "ctl", str(app.pid), "trace", *words], capture_output=True, text=True)
        equal((p.returncode, p.stderr if p.returncode == 0 else ""), (status, ""))
        return p.stdout if status == 0 else p.stderr

    def check_file(app):
        path = app.dir + "/trace"
        subprocess.run([trace_check, path], check=True, stdout=subprocess.DEVNULL)
        data = open(path, "rb").read()
        assert b"mprof-door" not in data
        os.remove(path)
        return data

    with App(program) as app:
        until(app.door_tid)
        out = ["-o", app.dir + "/trace"]
        assert "No trace was started" in run(app, "stop", *out, status=2)
        assert "without a flight recorder; start it with MPROF_OPTIONS=trace_last=10s\n" in run(
            app, "last", *out, status=2
        )
        assert not os.path.exists(app.dir + "/trace")
        open(app.dir + "/trace", "w").write("old")
        assert "No trace was started" in run(app, "stop", *out, status=2)
        assert "give a number of seconds" in run(app, "Stop", *out, status=2)
        equal(open(app.dir + "/trace").read(), "old")
        for _ in range(2):
            run(app, "start")
            assert "already enabled" in run(app, "start", status=2)
            app.command("contend 3")
            run(app, "stop", *out)
            assert b"lock_once" in check_file(app)
        run(app, "start")
        equal(app.exit(), 0)
        equal(sorted(os.listdir(app.dir)), ["err"])
    with App(program, "trace_last=10s") as app:
        until(app.door_tid)
        out = ["-o", app.dir + "/trace"]
        for _ in range(2):
            app.command("contend 3")
            run(app, "last", *out)
            assert b"lock_once" in check_file(app)


@check
def control_signal(program, mprof):
    def get(pid, status=0):
        p = subprocess.run([mprof, "ctl", str(pid), "get", "heap_rate"], capture_output=True, text=True)
        equal(p.returncode, status)
        return p.stdout + p.stderr

    with App(program, "control_signal=USR2", listen="") as app:
        path = "/tmp/mprof.%d.sock" % app.pid
        until(lambda: app.thread_named(r"mprof-signal-\d+"))
        app.command("threads 1")
        assert not os.path.exists(path)
        equal(get(app.pid), "heap_rate=1\n")
        equal(stat.S_IMODE(os.lstat(path).st_mode), 0o600)
        threads = subprocess.run([mprof, "ctl", str(app.pid), "threads"], capture_output=True, text=True).stdout
        assert "wait_for_ever" in threads and "mprof-" not in threads, threads
        child = app.command("fork")
        until(lambda: get_or_none(child, mprof))
        app.command("kill %d" % child)
        os.remove("/tmp/mprof.%d.sock" % child)
        equal(app.command("listen -"), 0)
        until(lambda: not os.path.exists(path))
        until(lambda: app.door_tid() is None)
        equal(get(app.pid), "heap_rate=1\n")
        equal(app.exit(), 0)
        assert not os.path.exists(path)
    with App(program, "control_signal=12", listen="") as app:
        os.kill(app.pid, 12)
        path = "/tmp/mprof.%d.sock" % app.pid
        until(lambda: os.path.exists(path))
        equal(app.exit(), 0)
    for value in ("KILL", "NOPE", "USR1:dump_on_signal=USR1"):
        with App(program, "control_signal=" + value, listen="") as app:
            assert "control_signal has no effect: " in app.err(), app.err()
            assert "has no door" in get(app.pid, 2)


def get_or_none(pid, mprof):
    return subprocess.run([mprof, "ctl", str(pid), "get"], capture_output=True).returncode == 0


# --- the process that gives names ---


def children(pid):
    """Returns the ids of the child processes."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open("/proc/%s/stat" % name).read().rpartition(")")[2].split()
        except OSError:  # the process has ended
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(name))
    return found


@check
def names(program):
    with App(program) as app:
        app.command("alloc 3 5000")
        equal(samples(app.profile("heap"), "grow"), [3, 15000, 3, 15000])
        first = children(app.pid)
        equal(len(first), 1)
        equal(len(children(first[0])), 1)
        nice = open("/proc/%d/stat" % children(first[0])[0]).read().rpartition(")")[2].split()[16]
        equal(int(nice), min(os.nice(0) + 10, 19))
        # Its parent has no copy of the program's memory.
        pages = int(open("/proc/%d/statm" % first[0]).read().split()[0])
        assert pages * 4 <= 2048 or IS_EMULATED, pages
        app.command("contend 1")
        equal(samples(app.profile("mutex"), "contend")[0], 1)
        equal(children(app.pid), first)
        # A new process replaces one that was killed.
        os.kill(children(first[0])[0], 9)
        until(lambda: not children(first[0]))
        app.command("threads 1")
        assert "wait_for_ever" in app.profile("goroutine")
        second = children(app.pid)
        assert len(second) == 1 and second != first, (first, second)
        # The program may close the descriptor of the connection.
        app.command("close")
        app.command("fill")
        filled = app.command("filled")
        app.command("free 1")
        app.command("cycle")

        def mutex():
            try:
                return samples(app.profile("block"), "lock_once")
            except OSError:
                return None

        assert until(mutex)[0] >= 1
        equal(app.command("filled"), filled)
        # A program that executes another one leaves no process behind.
        app.profile("heap")
        third = children(app.pid)
        app.send("exec")
        equal(app.process.stdout.readline(), "ready\n")
        until(lambda: not os.path.exists("/proc/%d" % third[0]) if third else True)
        until(lambda: app.is_open(app.pid))
        # A forked child does not use its parent's process.
        child = app.command("fork")
        until(lambda: app.is_open(child))
        body = read_profile(app.ask("/debug/pprof/threads", pid=child).body)
        # The stack of a thread in pause comes from registers that the kernel reports.
        assert ("state=unread" if IS_EMULATED else "make_child") in body, body
        app.command("kill %d" % child)
        equal(app.exit(), 0)
        until(lambda: not [p for p in first + second if os.path.exists("/proc/%d" % p)])


# --- programs that give up rights, and libraries ---


@check
def few_rights(program):
    # The emulator has no seccomp filters.
    for command in ("chroot", "setuid 65534", "filter")[: 2 if IS_EMULATED else 3]:
        with App(program) as app:
            app.command("alloc 3 5000")
            until(app.door_tid)
            equal((command, app.command(command)), (command, 0))
            pages = ("heap?symbolize=0", "heap", "threads?debug=1", "cmdline")
            for page in pages[: 3 if command == "chroot" else 4]:  # there is no /proc
                equal((command, page, app.ask("/debug/pprof/" + page).status), (command, page, 200))
            equal(app.exit(), 0)


@check
def unloads(program):
    loads, seconds = (50, 8) if IS_EMULATED else (200, 1)
    kept = [loads, loads * 5000] * 2
    with App(program) as app:
        end = app.begin("/debug/pprof/heap?seconds=%d" % seconds)
        app.send("load %d" % loads)
        for _ in range(20):
            assert app.profile("heap")
        equal(app.process.stdout.readline(), "0\n")
        equal(samples(read_profile(end().body), "keep"), kept)
        equal(samples(app.profile("heap"), "keep"), kept)


# --- the thread ---


def threads(pid):
    """Returns the number of threads of a process, without the emulator's own."""
    return len(os.listdir("/proc/%d/task" % pid)) - IS_EMULATED


@check
def absent(program):
    with App(program) as app:
        app.command("threads 1")
        tid = until(app.door_tid)
        if not IS_EMULATED:  # the emulator blocks other signals of the kernel's
            equal(app.status(tid)["SigBlk"], "fffffffe7ffbfeff")
        for name in ("threads", "goroutine", "threadcreate", "threadleak"):
            text = app.ask("/debug/pprof/%s?debug=1" % name).text
            assert "mprof-door" not in text and str(tid) not in text.split("MAPPED")[0], text
        assert "mprof-door" not in app.ask("/debug/pprof/threads?debug=2").text
        assert "goroutine profile: total 2\n" in app.ask("/debug/pprof/goroutine?debug=1").text
        index = app.ask("/debug/pprof/").text
        assert "<td>2</td><td><a href='goroutine" in index, index


def memory_kb(pid):
    text = open("/proc/%d/smaps_rollup" % pid).read()
    return int(re.search(r"^Anonymous: +(\d+) kB", text, re.M).group(1))


@check
def idle(program):
    """A door that nobody uses never wakes up and needs at most 64 KiB."""
    with App(program) as app, App(program, listen="") as plain:
        tid = until(app.door_tid)
        until(lambda: app.status(tid)["State"].startswith("S"))
        before = app.status(tid)["voluntary_ctxt_switches"]
        memory = memory_kb(app.pid) - memory_kb(plain.pid)
        assert memory <= 64 or IS_EMULATED, memory
        time.sleep(1)
        equal(app.status(tid)["voluntary_ctxt_switches"], before)
        equal(threads(plain.pid), 1)


# --- hostile clients ---


@check
def slow_clients(program):
    """Clients that send or read slowly do not keep others from the door."""
    with App(program) as app:
        app.command("alloc 1000 100")
        slow = [app.raw() for _ in range(40)]
        for s in slow[::2]:
            s.sendall(b"GET /debug/pprof/heap HTTP/1.1\r\nHo")
        for s in slow[1::2]:
            s.sendall(b"GET /debug/pprof/heap HTTP/1.1\r\nHost: x\r\n\r\n")
        equal(app.ask("/debug/pprof/cmdline").status, 200)


@check
def bad_requests(program):
    with App(program) as app:

        def reply_to(data):
            s = app.raw()
            s.sendall(data)
            try:
                reply = b"".join(iter(lambda: s.recv(65536), b""))
            except ConnectionResetError:
                reply = b"reset"
            s.close()
            return reply.split(b"\r\n")[0].decode()

        host = b"Host: x\r\n"
        for data, status in [
            (b"\x16\x03\x01\x02\x00", 400),
            (b"GET\r\n\r\n", 400),
            (b"GET /debug/pprof/heap\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
            (b"GET /%00 HTTP/1.1\r\n" + host + b"\r\n", 400),
            (b"GET / HTTP/1.1\r\n" + host + host + b"\r\n", 400),
            (b"POST /debug/pprof/symbol HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n", 501),
            (b"GET / HTTP/2.0\r\n" + host + b"\r\n", 505),
            (b"GET / HTTP/1.1\r\nA: " + b"a" * 9000, 431),
            (b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n", 431),
        ]:
            got = reply_to(data)
            assert got.startswith("HTTP/1.1 %d " % status), (data[:60], got)
        equal(app.ask("/debug/pprof/cmdline").status, 200)


@check
def pipelining(program):
    with App(program) as app:
        s = app.raw()
        one = b"GET /debug/pprof/cmdline HTTP/1.1\r\nHost: x\r\n\r\n"
        last = one.replace(b"Host", b"Connection: close\r\nHost")
        s.sendall(one * 50 + b"POST /debug/pprof/symbol HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n0x1" + last)
        reply = b"".join(iter(lambda: s.recv(65536), b""))
        equal(reply.count(b"HTTP/1.1 200 OK"), 52)
        equal(reply.count(program.split("/")[-1].encode()), 51)
        # A connection stays open, one of HTTP/1.0 does not.
        c = app.client()
        for _ in range(3):
            c.request("GET", "/debug/pprof/cmdline")
            equal(c.getresponse().read(), os.path.abspath(program).encode())
        s = app.raw()
        s.sendall(b"GET /debug/pprof/cmdline HTTP/1.0\r\n\r\n")
        assert b"".join(iter(lambda: s.recv(65536), b"")).startswith(b"HTTP/1.1 200")


@check
def closed_early(program):
    """Clients that close the connection in the middle of a reply or a wait."""
    with App(program, "trace_max_mb=8") as app:
        app.command("alloc 50000 16")
        descriptors = len(os.listdir("/proc/%d/fd" % app.pid))
        for path in ("heap", "goroutine?debug=2", "heap?seconds=60", "trace?seconds=60", "delta_heap"):
            for _ in range(4):
                s = app.raw()
                s.sendall(b"GET /debug/pprof/%s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())
                s.close()
        equal(app.ask("/debug/pprof/cmdline").status, 200)
        until(lambda: len(os.listdir("/proc/%d/fd" % app.pid)) <= descriptors + 1)
        # The trace of the client that is gone has ended, and its lost reply
        # does not change where the next delta begins.
        equal(app.ask("/debug/pprof/trace?seconds=0.1").status, 200)


@check
def many_connections(program):
    with App(program) as app:
        sockets = []
        for _ in range(1000):
            s = socket.socket(socket.AF_UNIX)
            s.setblocking(False)
            try:
                s.connect(app.path())
            except BlockingIOError:
                pass
            sockets.append(s)
        for s in sockets:
            s.close()
        equal(app.ask("/debug/pprof/cmdline").status, 200)
        assert len(os.listdir("/proc/%d/fd" % app.pid)) < 40


def is_open(s):
    s.setblocking(False)
    try:
        return s.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


@check
def connections_with_requests(program):
    """300 clients that are connected at the same time, more than the door and its
    queue hold: each gets a reply, or sees that its connection was ended in favour
    of another."""
    with App(program, listen="127.0.0.1:0") as app:
        # Clients that send nothing take all connections. Each is ended when another
        # client needs its place, and not by the limit for its own request, which
        # would end all of them.
        silent = [socket.create_connection(("127.0.0.1", app.port())) for _ in range(32)]
        for _ in range(50):
            equal(app.ask("/debug/pprof/cmdline").status, 200)
        assert not all(map(is_open, silent)), "no client was ended"
        assert any(map(is_open, silent)), "all clients were ended"
        for s in silent:
            s.close()
        clients = []
        for i in range(300):
            s = socket.socket()
            s.settimeout(30)
            s.connect(("127.0.0.1", app.port()))
            if i % 2:
                s.sendall(b"GET /debug/pprof/cmdline HTTP/1.0\r\n\r\n")
            clients.append(s)
        replies = 0
        for s in clients[1::2]:
            try:
                reply = s.recv(100)
            except ConnectionResetError:
                reply = b""
            assert reply == b"" or reply.startswith(b"HTTP/1.1 200"), reply
            replies += reply != b""
        assert replies >= 120, replies
        for s in clients:
            s.close()
        equal(app.ask("/debug/pprof/cmdline").status, 200)
        assert len(os.listdir("/proc/%d/fd" % app.pid)) < 40


@check
def counts_no_loss(program):
    """The door's own thread is no loss of the heap profile."""
    with App(program) as app:
        equal(app.ask("/debug/pprof/heap").status, 200)
        assert "reentrant" not in app.ask("/debug/pprof/heap?debug=1").text


@check
def foreign_host_names(program):
    """A web page cannot read profiles by a host name that it controls."""
    with App(program, listen="127.0.0.1:0") as app:
        for host, status in [("evil.example:80", 403), ("localhost:80", 200), ("127.0.0.1", 200), ("[::1]:80", 200)]:
            equal((host, app.ask("/debug/pprof/cmdline", headers={"Host": host}).status), (host, status))


# --- the socket ---


@check
def unix_socket(program):
    with App(program) as app:
        mode = os.lstat(app.path()).st_mode
        assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, oct(mode)
        assert "mprof: listening at unix:%s\n" % app.path() in app.err(), app.err()
        equal(app.exit(), 0)
        assert not os.path.lexists(app.path())
    with App(program) as app:
        app.exit("_exit 0")
        assert not os.path.lexists(app.path())


@check
def unusable_paths(program):
    with App(program, listen="unix:%s/s") as first:
        path = first.dir + "/s"

        def refused(listen, why):
            with App(program, listen=listen) as app:
                equal(app.err().count("mprof: "), 1)
                assert why in app.err(), app.err()
                equal(app.door_tid(), None)

        refused("unix:" + path, "another process listens there")
        os.symlink(path, first.dir + "/link")
        refused("unix:%s/link" % first.dir, "the path is a symbolic link")
        open(first.dir + "/file", "w").close()
        refused("unix:%s/file" % first.dir, "the path exists and is not a socket")
        refused("unix:/tmp/" + 110 * "x", "the path is longer than 107 bytes")
        refused("unix:relative", "cannot listen at 'unix:relative': the path must be absolute")
        refused("unix:/nowhere/at/all", "no such file or directory")
        refused("nonsense:99", "not an address")
        refused("127.0.0.1:99999", "not an address")
        refused(":6060", "not an address")
        with socket.create_server(("127.0.0.1", 0)) as other:
            address = "127.0.0.1:%d" % other.getsockname()[1]
            refused(address, "cannot listen at '%s': address already in use\n" % address)
        assert os.path.exists(path)
        # The socket of a dead process is replaced.
        first.process.kill()
        first.process.wait()
        with App(program, listen="unix:" + path) as app:
            equal(app.err(), "mprof: listening at unix:%s\n" % path)
            until(app.door_tid)


@check
def other_users(program):
    if os.getuid() != 0:
        return
    with App(program) as app:
        os.chmod(app.dir, 0o755)
        os.chmod(app.path(), 0o666)
        code = (
            "import os, socket; os.setuid(65534); s = socket.socket(socket.AF_UNIX)\n"
            "s.connect(%r); s.sendall(b'GET /debug/pprof/heap HTTP/1.0\\r\\n\\r\\n')\n"
            "print(s.recv(1000))" % app.path()
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "403 Forbidden" in out.stdout and "x1f" not in out.stdout, out


@check
def addresses(program):
    with App(program, listen="0.0.0.0:0") as app:
        assert "warning: everybody who can reach this address" in app.err(), app.err()
        equal(app.ask("/debug/pprof/cmdline").status, 200)
    with App(program, listen="127.0.0.1:0") as app:
        assert re.fullmatch(r"mprof: listening at 127\.0\.0\.1:[1-9]\d*\n", app.err()), app.err()
    # An address of IPv6 needs no quotes, also before another option.
    with App(program, "report_top=7", listen="[::1]:0") as app:
        assert re.fullmatch(r"mprof: listening at \[::1\]:[1-9]\d*\n", app.err()), app.err()
        equal(app.ask("/debug/mprof/get?name=report_top").text, "report_top=7\n")


@check
def function(program):
    """The function mprof_listen."""
    EINVAL, EBUSY, EADDRINUSE = 22, 16, 98
    with App(program, listen="") as app:
        app.listen = "unix:%s/%d.sock" % (app.dir, app.pid)
        equal(app.command("listen nonsense"), EINVAL)
        equal(app.command("listen -"), 0)
        equal(app.command("listen unix:%s/%%p.sock" % app.dir), 0)
        equal(app.ask("/debug/pprof/cmdline").status, 200)
        equal(app.command("listen 127.0.0.1:0"), EBUSY)
        equal(app.command("listen -"), 0)
        until(lambda: app.door_tid() is None)
        assert not os.path.lexists(app.path())
        equal(app.command("listen unix:%s/%%p.sock" % app.dir), 0)
        equal(app.ask("/debug/pprof/cmdline").status, 200)
        with App(program, listen="") as other:
            equal(other.command("listen unix:" + app.path()), EADDRINUSE)


# --- the life of the process ---


def sockets(pid):
    """Returns the sockets that are open in a process."""
    folder = "/proc/%d/fd/" % pid
    links = set()
    for fd in os.listdir(folder):
        try:
            links.add(os.readlink(folder + fd))
        except FileNotFoundError:
            pass  # the descriptor was closed meanwhile
    return {link for link in links if link.startswith("socket:")}


@check
def forks(program):
    with App(program) as app:
        app.command("alloc 3 4000")
        child = app.command("fork")
        until(lambda: app.is_open(child))
        equal(app.ask("/debug/pprof/heap?debug=1", pid=child).text.count("3: 12000"), 0)
        assert "3: 12000" in app.ask("/debug/pprof/heap?debug=1").text
        app.command("kill %d" % child)
        equal(app.ask("/debug/pprof/cmdline").status, 200)
    with App(program, listen="unix:%s/s") as app:
        app.path = lambda pid=None: app.dir + "/s"
        child = app.command("fork")
        equal(app.ask("/debug/pprof/cmdline").status, 200)
        equal(threads(child), 1)
        # The child does not keep the parent's socket open. It may not have run
        # its fork handlers yet when the parent answers. Sockets of the test's own
        # caller are in all processes.
        until(lambda: not sockets(child) - sockets(os.getpid()))
        app.command("kill %d" % child)


@check
def daemons(program):
    """daemon ends the parent without exit handlers. The child removes its socket."""
    with App(program) as app:
        equal(app.ask("/debug/pprof/cmdline").status, 200)
        child = app.command("daemon")
        app.process.wait(20)
        until(lambda: app.is_open(child))
        until(lambda: not os.path.lexists(app.path()))
        equal(app.ask("/debug/pprof/cmdline", pid=child).status, 200)
        app.send("exit 0")
        until(lambda: not os.path.lexists(app.path(child)))


@check
def forks_under_load(program):
    with App(program, listen="unix:%s/s") as app:
        app.path = lambda pid=None: app.dir + "/s"
        app.command("workers 2")
        app.send("forks 60")
        for i in range(30):
            equal(app.ask("/debug/pprof/" + ("heap", "goroutine", "mutex")[i % 3]).status, 200)
        equal(app.process.stdout.readline(), "0\n")


@check
def executes(program):
    with App(program) as app:
        equal(app.ask("/debug/pprof/cmdline").status, 200)
        kept = app.raw()
        app.send("exec")
        equal(app.process.stdout.readline(), "ready\n")
        try:
            equal(kept.recv(10), b"")
        except ConnectionResetError:  # it was not accepted yet
            pass
        equal(app.ask("/debug/pprof/cmdline").status, 200)
        assert "cannot" not in app.err(), app.err()


@check
def executes_under_load(program):
    """Requests of all sorts while the process calls exec."""
    for _ in range(3):
        with App(program) as app:
            app.command("alloc 20000 16")
            clients = [app.raw() for _ in range(8)]
            paths = ["heap", "goroutine", "heap?seconds=9", "trace?seconds=9"]
            for s, path in zip(clients, paths * 2):
                s.sendall(b"GET /debug/pprof/%s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())
            app.send("exec")
            equal(app.process.stdout.readline(), "ready\n")
            # No client waits for a program that is gone.
            for s in clients:
                s.settimeout(20)
                try:
                    while s.recv(65536):
                        pass
                except ConnectionResetError:
                    pass
            equal(app.ask("/debug/pprof/heap").status, 200)
            assert "cannot" not in app.err(), app.err()


@check
def no_memory_under_load(program):
    """Requests while no memory can be had: the program goes on, and each request gets
    a reply."""
    with App(program) as app:
        if IS_EMULATED:  # the emulator ignores limits of the address space
            return
        app.command("alloc 20000 16")
        equal(app.command("space 1"), 0)
        for _ in range(5):
            clients = [app.raw() for _ in range(6)]
            for s, path in zip(clients, ["heap", "goroutine", "mutex", "heap?debug=1", "delta_heap", "trace?seconds=0.1"]):
                s.sendall(b"GET /debug/pprof/%s HTTP/1.0\r\n\r\n" % path.encode())
            for s in clients:
                reply = s.recv(100)
                assert re.match(rb"HTTP/1.1 (200|500|503) ", reply), reply
                s.close()
            equal(app.command("alloc 1 16"), 0)
        equal(app.exit(), 0)


@check
def closed_descriptors(program):
    with App(program) as app:
        equal(app.ask("/debug/pprof/cmdline").status, 200)
        app.command("close")

        def answers():
            try:
                return app.ask("/debug/pprof/cmdline").status == 200
            except OSError:
                return False

        until(answers)
        # The door leaves descriptors alone that the program has opened under
        # the numbers of the door's own.
        app.command("close")
        app.command("fill")
        filled = app.command("filled")
        until(answers)
        equal(app.command("filled"), filled)


@check
def exits_under_load(program):
    for line in ("exit 7", "_exit 7"):
        with App(program) as app:
            app.command("alloc 20000 16")
            app.begin("/debug/pprof/trace?seconds=9")
            clients = [app.raw() for _ in range(6)]
            for s, path in zip(clients, ["heap", "goroutine", "heap?seconds=9"] * 2):
                s.sendall(b"GET /debug/pprof/%s HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())
            equal(app.exit(line), 7)
            # The trace of a client is not an output of the process.
            assert ".trace" not in app.err(), app.err()


@check
def few_resources(program):
    with App(program) as app:
        # The limit is for the numbers of descriptors. The door's own have high
        # numbers, which a lower limit does not close.
        fds = len([fd for fd in os.listdir("/proc/%d/fd" % app.pid) if int(fd) < 100])
        equal(app.command("nofile %d" % fds), 0)
        s = app.raw()
        s.sendall(b"GET /debug/pprof/heap HTTP/1.0\r\n\r\n")
        time.sleep(0.2)  # no descriptor is left for the connection
        equal(app.command("nofile %d" % (fds + 1)), 0)
        assert s.recv(1000).startswith(b"HTTP/1.1 503"), "no descriptor for the profile"
        equal(app.command("nofile 100"), 0)
        equal(app.ask("/debug/pprof/heap").status, 200)
        if IS_EMULATED:  # the emulator ignores limits of the address space
            return
        app.command("alloc 20000 16")
        equal(app.command("space 1"), 0)
        equal(app.ask("/debug/pprof/heap").status, 503)


CHECKS[sys.argv[1]](*sys.argv[2:])

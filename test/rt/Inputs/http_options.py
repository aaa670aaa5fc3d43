# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The checks of the ways to steer a program: options, mprof ctl, control_signal.

import os
import signal
import stat
import subprocess
import time

from http_app import App, check, equal, samples, until


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
        # An amount above the maximum is refused as a whole.
        equal(set("heap_rate=99999999999")[0], 400)
        equal(app.ask("/debug/mprof/get?name=heap_rate").text, "heap_rate=1\n")
        equal(set("heap_rate")[0], 400)
        equal(set("heap_rate=2", headers={"Origin": "http://x"})[0], 403)
        equal(app.ask("/debug/mprof/set?heap_rate=2").status, 405)
        equal(app.ask("/debug/mprof/get", "POST").status, 405)


@check
def options_fixed(program):
    with App(program, "heap=0") as app:

        def set(query):
            r = app.ask("/debug/mprof/set?" + query, "POST")
            return r.status, r.text

        before = app.ask("/debug/mprof/get").text
        places = {name: app.dir + "/" + name for name in ("log_path", "alloc_log", "persist")}
        for name in [line.split("=")[0] for line in before.splitlines() if "='" in line]:
            status, why = set("%s=%s" % (name, places.get(name, "60s")))
            equal((name, status), (name, 409))
            assert why.startswith(name + " cannot change: "), why
            assert " (%s)\n" % why.strip().partition(" ")[2] in before, why
        equal(set("snapshot_every=garbage"), (409, "snapshot_every cannot change: it has an effect only at the start of the program\n"))
        equal(set("persist=x"), (409, "persist cannot change: only the start of the program can choose files\n"))
        equal(set("heap_rate=2"), (409, "heap_rate cannot change: it has no effect, because the option heap is 0\n"))
        equal(app.ask("/debug/mprof/get").text, before)
        # A later child begins with the same options.
        child = app.command("fork")
        until(lambda: app.is_open(child))
        equal(app.ask("/debug/mprof/get", pid=child).text, before)
        app.command("kill %d" % child)
        assert not any(os.path.exists(path) for path in places.values())


@check
def ctl(program, mprof):
    def run(*words, status=0):
        p = subprocess.run([mprof, *words], capture_output=True, text=True)
        equal((p.returncode, p.stderr if status == 0 else ""), (status, ""))
        return p.stdout if status == 0 else p.stderr

    with App(program, listen="127.0.0.1:0") as tcp:
        until(tcp.http_tid)
        name = os.path.basename(program) + ".mutex.pb.gz"
        equal(run("ctl", "127.0.0.1:%d" % tcp.port(), "dump", "mutex"), "wrote %s\n" % name)
        equal(run("ctl", str(tcp.pid), "get", "listen").split(" ")[0], "listen='127.0.0.1:0'")
        equal(run("ctl", "127.0.0.1:%d" % tcp.port(), "get", "heap"), run("ctl", str(tcp.pid), "get", "heap"))
        # Commands that read profiles take a running program as well.
        tcp.command("alloc 30 1000000")
        address = "127.0.0.1:%d" % tcp.port()
        url = "http://" + address
        for target in (str(tcp.pid), address, url, url + "/", url + "/debug/pprof/allocs"):
            assert "grow" in run("top", target), target
        for command in ("traces", "tree", "info", "leaks --exitcode=0", "convert", "check"):
            assert run(*command.split(), str(tcp.pid)), command
        assert "contentions" in run("info", url + "/debug/pprof/block")
        assert "contentions" in run("top", "--sample=contentions", address)
        assert url + "/nope: 404 page not found" in run("top", url + "/nope", status=2)
    with App(program, listen="[::1]:0") as tcp:
        until(tcp.http_tid)
        equal(run("ctl", "[::1]:%d" % tcp.port(), "get", "heap"), run("ctl", str(tcp.pid), "get", "heap"))
    with App(program) as app:
        until(app.http_tid)
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
            # By itself, the CPU profile takes 30 seconds.
            run("ctl", pid, "dump", name, *["1"] * (name == "profile"), "-o", "/dev/null")
        equal(run("ctl", pid, "get", "nope", status=2), "mprof ctl: unknown option 'nope'; 'mprof ctl PID get' lists the options\n")
        assert "unknown option 'block'; mprof ctl %s dump block gets the profile\n" % pid in run("ctl", pid, "get", "block", status=2)
        equal(open(heap, "rb").read(2), b"\x1f\x8b")  # the file of the first dump
        assert "usage: " in run("ctl", pid, "nonsense", status=2)
    assert "there is no process" in run("ctl", pid, "get", status=2)
    with App(program, listen="") as app:
        assert "has no HTTP server" in run("ctl", str(app.pid), "get", status=2)


@check
def ctl_measure(program, mprof):
    def fraction():
        return subprocess.run([mprof, "ctl", str(app.pid), "get", "mutex_fraction"], capture_output=True, text=True).stdout

    def measure(duration):
        p = subprocess.Popen([mprof, "ctl", str(app.pid), "mutex", duration], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until(lambda: fraction() == "mutex_fraction=1\n")
        return p

    with App(program, options="mutex_fraction=0") as app:
        until(app.http_tid)
        equal(fraction(), "mutex_fraction=0\n")
        p = measure("2s")
        while p.poll() is None:
            app.command("contend 2")
        text, errors = p.communicate()
        equal((p.returncode, errors), (0, ""))
        name = "%s.%s.mutex.pb.gz" % (os.path.basename(program), app.pid)
        assert text.startswith("wrote %s\ndelay of " % name) and "  contend  http_app.c" in text, text
        equal(fraction(), "mutex_fraction=0\n")
        # Ctrl-C ends it, and switches the profile off.
        p = measure("500")
        p.send_signal(signal.SIGINT)
        equal((*p.communicate(), p.returncode), ("", "mprof ctl: interrupted\n", 2))
        equal(fraction(), "mutex_fraction=0\n")
        # A profile that the user has switched on stays on.
        subprocess.run([mprof, "ctl", str(app.pid), "set", "mutex_fraction", "1"], check=True, capture_output=True)
        measure("1").communicate()
        equal(fraction(), "mutex_fraction=1\n")
        # The request itself switches the profiles cpu and wall on.
        for kind, title in (("cpu", "cpu of "), ("wall", "wall of ")):
            p = subprocess.run([mprof, "ctl", str(app.pid), kind, "1s"], capture_output=True, text=True)
            equal((p.returncode, p.stderr), (0, ""))
            name = "%s.%s.%s.pb.gz" % (os.path.basename(program), app.pid, kind)
            assert p.stdout.startswith("wrote %s\n%s" % (name, title)), p.stdout
        for wrong in ("0", "x", "10d", "1.5", "10h"):
            p = subprocess.run([mprof, "ctl", str(app.pid), "block", wrong], capture_output=True, text=True)
            said = "block %s: give a time, such as 10s" % wrong
            if wrong == "10h":
                said = "seconds may be at most 600, the value of the option listen_max_seconds"
            equal((p.returncode, p.stderr), (2, "mprof ctl: %s\n" % said))


@check
def ctl_trace(program, mprof, *trace_check):
    def run(app, *words, status=0):
        p = subprocess.run([mprof, "ctl", str(app.pid), "trace", *words], capture_output=True, text=True)
        equal((p.returncode, p.stderr if p.returncode == 0 else ""), (status, ""))
        return p.stdout if status == 0 else p.stderr

    def check_file(app):
        path = app.dir + "/trace"
        subprocess.run([*trace_check, path], check=True, stdout=subprocess.DEVNULL)
        data = open(path, "rb").read()
        assert b"mprof-http" not in data
        os.remove(path)
        return data

    with App(program) as app:
        until(app.http_tid)
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
        until(app.http_tid)
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

    begin = time.time()
    with App(program, "control_signal=USR2", listen="") as app:
        path = "/tmp/mprof.%d.sock" % app.pid
        until(lambda: app.thread_named(r"mprof-signal-\d+"))
        app.command("threads 1")
        # An older process of this number may have been killed with its socket.
        assert not os.path.exists(path) or os.lstat(path).st_mtime < begin - 1
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
        until(lambda: app.http_tid() is None)
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
            assert "has no HTTP server" in get(app.pid, 2)


def get_or_none(pid, mprof):
    return subprocess.run([mprof, "ctl", str(pid), "get"], capture_output=True).returncode == 0

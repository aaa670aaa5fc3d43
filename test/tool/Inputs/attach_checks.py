# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# attach_checks.py MPROF CHECK: attaches to the program ./app (attach_app.c), and checks
# what mprof attach writes, and that the program goes on.

import csv
import glob
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

MPROF, CHECK = sys.argv[1:]
SHOWN = "profiles app ("


class App:
    """The program, which replies to each command when it has carried it out."""

    def __init__(self, command="./app", **environment):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self.pid = self.process.pid

    def do(self, *commands):
        said = ""
        for command in commands:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            said = self.process.stdout.readline()
            assert said.endswith("ok\n"), (command, said)
        return said

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0, self.process.returncode


class Attach:
    """mprof attach, from the moment on at which the program is profiled."""

    def __init__(self, app, *options, shown=SHOWN):
        shutil.rmtree("out", ignore_errors=True)
        self.process = subprocess.Popen(
            [MPROF, "attach", str(app.pid), "-o", "out", "--heap-rate=1", *options],
            stderr=subprocess.PIPE,
            text=True,
        )
        self.begin = self.process.stderr.readline()
        assert shown in self.begin, self.begin

    def wait(self, status=0):
        said = self.process.communicate(timeout=120)[1]
        assert self.process.returncode == status, (self.process.returncode, said)
        return said

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.wait()


def refused(pid, *options):
    """Returns why mprof does not attach to the process."""
    done = subprocess.run(
        [MPROF, "attach", str(pid), "--seconds=1", *options],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2, (done.returncode, done.stderr)
    return done.stderr


def values(kind, sample, function):
    """Returns the value of the function with its callees, or 0."""
    (path,) = glob.glob("out/mprof.app.*.%s.pb.gz" % kind)
    text = subprocess.run(
        [MPROF, "top", "-n", "0", "--sample=" + sample, "--format=csv", path],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = csv.DictReader(text.splitlines())
    return sum(int(r["cum"]) for r in rows if r["function"] == function)


def same(found, wanted):
    assert found == wanted, "%r, expected %r" % (found, wanted)


def sockets(app):
    return glob.glob("/tmp/mprof-attach.%d.*" % app.pid)


def counts():
    app = App()
    app.do("a 10")
    attach = Attach(app)
    app.do("a 5", "f", "a 3")
    said = attach.end()
    same(values("heap", "alloc_objects", "app_alloc"), 8)
    same(values("heap", "inuse_space", "app_alloc"), 3000)
    assert "without older blocks" in said, said
    app.do("a 4", "f")
    app.end()


def again():
    app = App()
    for wanted in (3, 7, 1):
        attach = Attach(app)
        app.do("a %d" % wanted)
        attach.end()
        same(values("heap", "alloc_objects", "app_alloc"), wanted)
        same(values("heap", "inuse_objects", "app_alloc"), wanted)
        app.do("f", "a 2")
    app.end()
    assert not glob.glob("mprof.*"), glob.glob("mprof.*")


def locks():
    app = App()
    app.do("c")
    attach = Attach(app, "--block", "--mutex", "--threads")
    app.do("c")
    attach.end()
    same(values("block", "contentions", "wait_for_lock"), 1)
    same(values("mutex", "contentions", "app_contend"), 1)
    same(values("threads", "threads", "sleep_for_ever"), 3)
    same(values("locks", "contentions", "wait_for_lock"), 1)
    attach = Attach(app, "--mutex")
    app.do("c", "c")
    attach.end()
    same(values("locks", "contentions", "wait_for_lock"), 2)
    app.do("c")
    app.end()


def lock_orders():
    app = App()
    attach = Attach(app, "--lock-order")
    app.do("l")
    assert "potential deadlock" not in attach.end()
    # Unseen, both locks end, and others begin at their addresses.
    app.do("n")
    attach = Attach(app, "--lock-order")
    app.do("r")
    assert "potential deadlock" not in attach.end()
    attach = Attach(app, "--lock-order")
    app.do("l", "r")
    said = attach.end()
    assert "1 potential deadlock" in said and "app_take" in said, said
    app.end()
    app = App()
    Attach(app).end()
    said = Attach(app, "--lock-order").end()
    assert "its first mprof attach had no --lock-order" in said, said
    app.end()


def processor():
    app = App()
    app.do("b")
    for _ in range(2):
        attach = Attach(app, "--cpu")
        app.do("b")
        attach.end()
        with open("/proc/%d/timers" % app.pid) as f:
            assert "6d704350" not in f.read(), "a timer is left"
        used = values("cpu", "cpu", "use_processor")
        assert 2 * 10**8 < used < 4 * 10**8, used
        for path in glob.glob("out/*"):
            os.remove(path)
    # A signal that a thread has blocked may arrive after the end.
    app.do("m")
    attach = Attach(app, "--cpu")
    app.do("b")
    attach.end()
    with open("/proc/%d/status" % app.pid) as f:
        (caught,) = [int(line.split()[1], 16) for line in f if line.startswith("SigCgt")]
    assert caught >> (signal.SIGPROF - 1) & 1, "a late signal would end the process"
    app.do("u", "b")
    app.end()


def traces():
    app = App()
    attach = Attach(app, "--trace")
    app.do("a 5", "c")
    said = attach.end()
    assert "The longest waits" in said and "app_alloc" in said, said
    (path,) = glob.glob("out/mprof.app.*.trace")
    subprocess.run([MPROF, "trace", "check", path], check=True, stdout=subprocess.DEVNULL)
    app.end()


def libraries():
    app = App()
    attach = Attach(app)
    app.do("d ./plugin.so")
    attach.end()
    same(values("heap", "inuse_space", "plugin_alloc"), 2000)
    app.end()


def exits():
    app = App()
    attach = Attach(app)
    app.do("a 6")
    app.process.stdin.write("x\n")
    app.process.stdin.flush()
    said = attach.wait()
    assert "%d has ended" % app.pid in said, said
    same(app.process.wait(60), 3)
    same(values("heap", "inuse_objects", "app_alloc"), 6)
    app = App()
    attach = Attach(app)
    app.process.kill()
    app.process.wait(60)
    said = attach.wait(2)
    assert "has written no profiles" in said, said
    same(sockets(app), [])


def executes():
    app = App()
    attach = Attach(app)
    app.do("a 6", "e")
    app.do("a 1")  # the new program runs
    said = attach.end()
    assert "has executed another program" in said, said
    same(values("heap", "inuse_objects", "app_alloc"), 6)
    app.end()


def forks():
    app = App()
    attach = Attach(app)
    app.do("a 2")
    same(app.do("k"), "child 7 ok\n")
    attach.end()
    same(values("heap", "inuse_objects", "app_alloc"), 2)
    same(len(glob.glob("out/*.heap.pb.gz")), 1)
    app.end()


def workers():
    app = App()
    attach = Attach(app)
    app.pid, parent = int(app.do("w").split()[0]), app.pid
    attach.end()
    attach = Attach(app)
    app.do("a 3")
    attach.end()
    path = "out/mprof.app.%d.heap.pb.gz" % app.pid
    assert app.pid != parent and os.path.exists(path), path
    same(values("heap", "inuse_objects", "app_alloc"), 3)
    app.do("w", "a 1")
    app.end()


def leaves_nothing():
    app = App()
    app.do("a 1")
    descriptors = sorted(os.listdir("/proc/%d/fd" % app.pid))
    for _ in range(2):
        Attach(app).end()
        app.do("a 1")
        for _ in range(1000):
            tasks = glob.glob("/proc/%d/task/*/comm" % app.pid)
            names = [open(t).read() for t in tasks]
            if not any("mprof" in name for name in names):
                break
            time.sleep(0.01)
        assert not any("mprof" in name for name in names), names
        same(sorted(os.listdir("/proc/%d/fd" % app.pid)), descriptors)
        same(sockets(app), [])
    app.end()


def allocators():
    with subprocess.Popen(["./app", "align"]) as app:
        try:
            for _ in range(5):
                attach = Attach(app, "--seconds=1")
                attach.process.kill()
                attach.process.communicate()
                assert app.poll() is None, app.poll()
        finally:
            app.kill()


def interrupted():
    app = App()
    for _ in range(3):
        attach = Attach(app)
        app.do("a 2")
        attach.process.send_signal(signal.SIGINT)
        attach.process.send_signal(signal.SIGINT)
        attach.process.communicate(timeout=120)
        for _ in range(1000):
            tasks = glob.glob("/proc/%d/task/*" % app.pid)
            if len(tasks) == 4:
                break
            time.sleep(0.01)
        same(len(tasks), 4)
    app.end()


def two():
    app = App()
    attach = Attach(app)
    said = refused(app.pid)
    assert "another mprof attach" in said, said
    app.do("a 1")
    attach.end()
    same(values("heap", "inuse_objects", "app_alloc"), 1)
    app.end()


def killed():
    app = App()
    attach = Attach(app)
    app.do("a 2")
    attach.process.kill()
    attach.wait(-signal.SIGKILL)
    app.do("a 3")
    attach = Attach(app)
    app.do("a 4")
    attach.end()
    same(values("heap", "inuse_objects", "app_alloc"), 4)
    app.end()


def started():
    # The loader looks for libc in each of the directories first.
    app = App(LD_LIBRARY_PATH=":".join("/%d" % i for i in range(20000)))
    attach = Attach(app)
    app.do("a 2")
    attach.end()
    same(values("heap", "inuse_objects", "app_alloc"), 2)
    app.end()


def becomes():
    # A shell executes itself many times, and then the program.
    script = '[ $1 = 0 ] && exec ./app; exec sh -c "$0" "$0" $(($1 - 1))'
    app = App(["sh", "-c", script, script, "300"])
    attach = Attach(app, shown="profiles ")
    if SHOWN in attach.begin:
        app.do("a 2")
        attach.end()
        same(values("heap", "inuse_objects", "app_alloc"), 2)
    app.do("a 1")
    app.end()
    attach.process.communicate(timeout=120)
    same(sockets(app), [])


def stopped():
    app = App()
    attach = Attach(app)
    app.do("a 2")
    app.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, app.pid, os.WSTOPPED | os.WNOWAIT)
    attach.process.send_signal(signal.SIGINT)
    said = attach.process.stderr.readline()
    assert "is stopped" in said, said
    app.process.send_signal(signal.SIGCONT)
    attach.wait()
    same(values("heap", "inuse_objects", "app_alloc"), 2)
    app.do("a 1")
    app.end()


def filtered():
    app = App()
    app.do("s")
    assert "its seccomp filter may kill it" in refused(app.pid)
    attach = Attach(app, "--allow-seccomp")
    app.do("a 2")
    attach.end()
    same(values("heap", "inuse_objects", "app_alloc"), 2)
    app.end()


# A program of which only the first thread makes the system call exit.
WITHOUT_FIRST_THREAD = """
import ctypes, platform, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
ctypes.CDLL(None).syscall(60 if platform.machine() == "x86_64" else 93, 0)
"""


def refuses():
    app = App()
    assert "no such process" in refused(2**22 + 1)
    assert "is not the id of another process" in refused("self")
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    said = refused(thread.native_id)
    assert "it is a thread of process %d" % os.getpid() in said, said
    done.set()
    assert "--seconds=0" in refused(app.pid, "--seconds=0")
    assert "--heap-rate=much" in refused(app.pid, "--heap-rate=much")
    app.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, app.pid, os.WSTOPPED | os.WNOWAIT)
    assert "is stopped" in refused(app.pid)
    app.process.send_signal(signal.SIGCONT)
    app.do("a 1")
    app.end()
    static = subprocess.Popen(["./static"], stdin=subprocess.PIPE)
    assert "linked statically" in refused(static.pid)
    static.communicate()
    headless = subprocess.Popen([sys.executable, "-c", WITHOUT_FIRST_THREAD])
    while "State:\tZ" not in open("/proc/%d/status" % headless.pid).read():
        time.sleep(0.01)
    assert "its first thread has ended" in refused(headless.pid)
    headless.kill()
    headless.wait()
    start = "start it with MPROF_OPTIONS=listen=unix:/tmp/%p.sock or control_signal=USR2"
    for options, wanted in (
        ("heap_rate=0", "built or started with MProf, but has no HTTP server for commands; " + start),
        ("heap_rate=0:dump_on_signal=terminate+SIGUSR1", "kill -USR1 %d writes its profiles to files; "),
        ("heap_rate=0:listen=127.0.0.1:0", "was built or started with MProf; mprof ctl %d asks it"),
    ):
        own = App(LD_PRELOAD=os.environ["PRELOAD"], MPROF_OPTIONS="quiet=1:" + options)
        own.do("a 1")
        said = refused(own.pid)
        assert (wanted % own.pid if "%d" in wanted else wanted) in said, said
        got = subprocess.run([MPROF, "ctl", str(own.pid), "get", "heap_rate"], capture_output=True, text=True)
        if "listen" in options:
            same((got.returncode, got.stdout.strip()), (0, "heap_rate=0"))
        else:
            assert "it has no HTTP server for commands; " in got.stderr, got.stderr
            assert start in got.stderr and "mprof attach" not in got.stderr, got.stderr
        own.end()


globals()[CHECK]()

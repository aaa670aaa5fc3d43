# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The checks of the HTTP server during the life of a process: helpers, rights, forks,
# exec, exit and few resources.

import os
import re
import time

from http_app import TIMEOUT, App, IS_EMULATED, check, equal, read_profile, samples, threads, until


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
            until(app.http_tid)
            equal((command, app.command(command)), (command, 0))
            pages = ("heap?symbolize=0", "heap", "threads?debug=1", "cmdline")
            for page in pages[: 3 if command == "chroot" else 4]:  # there is no /proc
                equal((command, page, app.ask("/debug/pprof/" + page).status), (command, page, 200))
            equal(app.exit(), 0)


@check
def unloads(program):
    loads = 50
    kept = [loads, loads * 5000] * 2
    # A busy machine may need more time for the loads.
    for seconds in (1, 4, 16, 64):
        with App(program) as app:
            last = time.monotonic() + seconds
            end = app.begin("/debug/pprof/heap?seconds=%d" % seconds)
            app.send("load %d" % loads)
            for _ in range(6):
                assert app.profile("heap")
            equal(app.process.stdout.readline(), "0\n")
            is_in_time = time.monotonic() < last
            if is_in_time:
                equal(samples(read_profile(end().body), "keep"), kept)
            equal(samples(app.profile("heap"), "keep"), kept)
        if is_in_time:
            return


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
                s.settimeout(TIMEOUT)
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
        # The HTTP server leaves descriptors alone that the program has opened under
        # the numbers of the HTTP server's own.
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
        # The limit is for the numbers of descriptors. The HTTP server's own have high
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

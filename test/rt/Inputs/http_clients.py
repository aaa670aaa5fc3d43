# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The checks of the HTTP server's thread, its clients and its socket.

import os
import re
import socket
import stat
import subprocess
import sys

from http_app import TIMEOUT, App, IS_EMULATED, check, equal, samples, threads, until


# --- the thread ---


@check
def absent(program):
    with App(program) as app:
        app.command("threads 1")
        tid = until(app.http_tid)
        if not IS_EMULATED:  # the emulator blocks other signals of the kernel's
            equal(app.status(tid)["SigBlk"], "fffffffe7ffbfeff")
        for name in ("threads", "goroutine", "threadcreate", "threadleak"):
            text = app.ask("/debug/pprof/%s?debug=1" % name).text
            assert "mprof-http" not in text and str(tid) not in text.split("MAPPED")[0], text
        assert "mprof-http" not in app.ask("/debug/pprof/threads?debug=2").text
        assert "goroutine profile: total 2\n" in app.ask("/debug/pprof/goroutine?debug=1").text
        index = app.ask("/debug/pprof/").text
        assert "<td>2</td><td><a href='goroutine" in index, index


def memory_kb(pid):
    text = open("/proc/%d/smaps_rollup" % pid).read()
    return int(re.search(r"^Anonymous: +(\d+) kB", text, re.M).group(1))


@check
def idle(program):
    """An HTTP server that nobody uses never wakes up and needs at most 64 KiB."""
    with App(program) as app, App(program, listen="") as plain:
        tid = until(app.http_tid)
        until(lambda: app.status(tid)["State"].startswith("S"))
        memory = memory_kb(app.pid) - memory_kb(plain.pid)
        assert memory <= 64 or IS_EMULATED, memory
        if not IS_EMULATED:  # the kernel shows the arguments of the emulator's call
            call = "/proc/%d/task/%d/syscall" % (app.pid, tid)
            # The third argument of ppoll is the time limit.
            until(lambda: re.match(r"\d+ (0x\w+ ){2}0x0 ", open(call).read()))
        equal(threads(plain.pid), 1)


# --- hostile clients ---


@check
def slow_clients(program):
    """Clients that send or read slowly do not keep others from the HTTP server."""
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
    """300 clients that are connected at the same time, more than the HTTP server and its
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
            s.settimeout(TIMEOUT)
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
    """The HTTP server's own thread is no loss of the heap profile."""
    with App(program) as app:
        equal(app.ask("/debug/pprof/heap").status, 200)
        assert "reentrant" not in app.ask("/debug/pprof/heap?debug=1").text


@check
def foreign_host_names(program):
    """A web page cannot read profiles by a host name that it controls."""
    with App(program, listen="127.0.0.1:0") as app:
        good = ["localhost", "localhost:80", "LocalHost:65535", "127.0.0.1", "10.1.2.3:6060", "[::1]", "[::1]:80", "localhost:", "127.0.0.1:", "[::1]:", ""]
        bad = ["evil.example:80", "1cafe.de:80", "0b.be", "1a.ae", "127.0.0.1.example", "localhost:evil", "localhost.example"]
        bad += ["127.0.0.1:65536", "127.0.0.1:80x", "127.0.0.1:80:80", "127.1", "[::1", "[::1]80", "[1cafe.de]", "[127.0.0.1]", "::1", "cafe"]
        bad += ["0.0.0.0:80", "[::]:80", "[::ffff:7f00:1]:80", "[::ffff:0:0]", "1" * 60]
        for host, status in [(h, 200) for h in good] + [(h, 403) for h in bad]:
            equal((host, app.ask("/debug/pprof/cmdline", headers={"Host": host}).status), (host, status))


@check
def foreign_sites(program):
    """A page of another web site starts no trace, takes no deltas and changes no option."""
    with App(program, listen="127.0.0.1:0") as app:
        app.command("alloc 3 5000")
        foreign = [{"Sec-Fetch-Site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"Origin": "http://x"}, {"Origin": "null"}]
        own = [{"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {}]
        costly = ["trace?seconds=0.01", "heap", "goroutine?debug=2", "heap?seconds=1", "mutex", "symbol?0x1", "delta_heap", "delta_block", "profile", "cpu", "../../pprof/heap"]
        for headers in foreign:
            for page in costly:
                path = os.path.normpath("/debug/pprof/" + page)
                equal((headers, page, app.ask(path, headers=headers).status), (headers, page, 403))
            for page in ("", "cmdline"):
                equal((headers, page, app.ask("/debug/pprof/" + page, headers=headers).status), (headers, page, 200))
            for page in ("set?heap_rate=2", "trace/start", "trace/stop", "trace/last"):
                equal((headers, page, app.ask("/debug/mprof/" + page, "POST", headers=headers).status), (headers, page, 403))
            equal(app.ask("/debug/pprof/symbol", "POST", "0x1", headers).status, 403)
            for page in ("pprof", "mprof/get"):
                assert app.ask("/debug/" + page, headers=headers).status != 403, page
        index = app.ask("/debug/pprof/").headers
        equal((index["X-Frame-Options"], index["Content-Security-Policy"]), ("DENY", "frame-ancestors 'none'"))
        equal(app.ask("/debug/mprof/get?name=heap_rate").text, "heap_rate=1\n")
        for headers in own:
            equal((headers, app.ask("/debug/pprof/trace?seconds=0.01", headers=headers).status), (headers, 200))
            equal((headers, app.ask("/debug/pprof/heap?debug=1", headers=headers).status), (headers, 200))
            equal((headers, app.ask("/debug/mprof/set?heap_rate=1", "POST", headers=headers).status), (headers, 200))
        equal(samples(app.profile("delta_heap"), "grow"), [3, 15000, 3, 15000])


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
                equal(app.http_tid(), None)

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
            until(app.http_tid)


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
        assert re.fullmatch(r"mprof: listening at http://127\.0\.0\.1:[1-9]\d*/debug/pprof/\n", app.err()), app.err()
    # An address of IPv6 needs no quotes, also before another option.
    with App(program, "report_top=7", listen="[::1]:0") as app:
        assert re.fullmatch(r"mprof: listening at http://\[::1\]:[1-9]\d*/debug/pprof/\n", app.err()), app.err()
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
        until(lambda: app.http_tid() is None)
        assert not os.path.lexists(app.path())
        equal(app.command("listen unix:%s/%%p.sock" % app.dir), 0)
        equal(app.ask("/debug/pprof/cmdline").status, 200)
        with App(program, listen="") as other:
            equal(other.command("listen unix:" + app.path()), EADDRINUSE)

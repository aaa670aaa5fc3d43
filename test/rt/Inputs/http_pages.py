# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The checks of the pages that the HTTP server serves.

import os
import re
import subprocess

from http_app import App, check, equal, read_profile, samples, until


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
            ("/debug/pprof/profile?seconds=100000", "GET", 400, None),
            ("/debug/pprof/heap", "POST", 405, None),
        ]:
            r = app.ask(path, method)
            equal((path, r.status, r.headers["X-Go-Pprof"]), (path, status, "1"))
            equal(r.headers["Content-Type"], "text/plain; charset=utf-8")
            equal(r.headers["Content-Disposition"], None)
            assert text is None or r.text == text, r.text
        equal(app.ask("/debug/pprof/heap", "DELETE").headers["Allow"], "GET, HEAD")
        equal(app.ask("/debug/pprof/symbol", "PUT").headers["Allow"], "GET, HEAD, POST")
        for path in ("/debug", "/debug/pprofx", "/debug/../debug/pprof/heap", "//debug/pprof/heap"):
            r = app.ask(path)
            equal((path, r.status, r.headers["X-Go-Pprof"]), (path, 404, None))
        for path in ("/", "/debug/pprof"):
            r = app.ask(path)
            equal((path, r.status, r.headers["Location"]), (path, 301, "/debug/pprof/"))
        head = app.ask("/debug/pprof/heap", "HEAD")
        equal((head.status, head.body), (200, b""))
        assert int(head.headers["Content-Length"]) > 100


@check
def longest_time(program):
    with App(program, "listen_max_seconds=2") as app:
        limit = "seconds may be at most 2, the value of the option listen_max_seconds\n"
        for page in ("heap?seconds=3", "heap?seconds=9223372036854775807", "trace?seconds=2.001", "trace?seconds=" + "9" * 30):
            r = app.ask("/debug/pprof/" + page)
            equal((page, r.status, r.text), (page, 400, limit))
        end = app.begin("/debug/pprof/heap?seconds=2")
        # Who may ask for options may also change the limit.
        equal(app.ask("/debug/mprof/set?listen_max_seconds=1", "POST").status, 200)
        equal(app.ask("/debug/pprof/heap?seconds=2").status, 400)
        equal(end().status, 200)


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
def cpu(program):
    busy = "Could not enable CPU profiling: cpu profiling already in use\n"
    with App(program) as app:
        app.command("burn 100")
        equal(samples(app.profile("cpu"), "use_processor"), None)
        # On a busy machine, the program gets little processor time in a second.
        for _ in range(100):
            end = app.begin("/debug/pprof/profile?seconds=1")
            app.command("burn 500")
            r = end()
            equal(r.status, 200)
            count, ns = samples(read_profile(r.body), "use_processor") or (0, 0)
            if count > 10:
                break
        for header, value in PROFILE_HEADERS.items():
            equal(r.headers[header], value)
        equal(r.headers["Content-Disposition"], 'attachment; filename="profile"')
        profile = read_profile(r.body)
        assert "sample_types: samples/count cpu/nanoseconds\nperiod: cpu/nanoseconds 10000000\n" in profile, profile
        assert int(re.search(r"^duration_nanos: (\d+)", profile, re.M)[1]) >= 10**9, profile
        assert count > 10 and ns == count * 10**7, (count, ns)
        # The profile is off again.
        before = samples(app.profile("cpu"), "use_processor")
        app.command("burn 100")
        equal(samples(app.profile("cpu"), "use_processor"), before)
        # A client that goes away ends the profile, too.
        c = app.raw()
        c.sendall(b"GET /debug/pprof/profile HTTP/1.1\r\nHost: x\r\n\r\n")
        app.ask("/debug/pprof/cmdline")
        r = app.ask("/debug/pprof/profile?seconds=1")
        equal((r.status, r.text, r.headers["X-Go-Pprof"]), (500, busy, "1"))
        c.close()
        until(lambda: app.ask("/debug/pprof/profile?seconds=1").status == 200)
        # A client of the server may set the option.
        equal(app.ask("/debug/mprof/set?cpu_rate=200", "POST").text, "cpu_rate=200\n")
        app.command("burn 100")
        app.ask("/debug/mprof/set?cpu_rate=0", "POST")
        assert "period: cpu/nanoseconds 5000000\n" in app.profile("cpu")
    # While the program's own profile is on, requests get a part of it.
    with App(program, "cpu_rate=100") as app:
        for _ in range(100):
            ends = [app.begin("/debug/pprof/profile?seconds=1") for _ in range(2)]
            app.command("burn 300")
            counts = [samples(read_profile(end().body), "use_processor") or (0, 0) for end in ends]
            if min(counts)[0] > 5:
                break
        assert min(counts)[0] > 5, counts
        app.command("burn 100")
        assert samples(app.profile("delta_cpu"), "use_processor")[0] > 30
        equal(app.ask("/debug/pprof/profile?seconds=100000").status, 400)


@check
def delta_clients(program):
    with App(program) as app:
        app.command("alloc 3 4000")
        equal(samples(app.profile("delta_heap"), "grow"), [3, 12000, 3, 12000])
        equal(samples(app.profile("delta_heap?client=a"), "grow"), [3, 12000, 3, 12000])
        app.command("alloc 2 4000")
        # A reply without a body takes nothing.
        equal(app.ask("/debug/pprof/delta_heap", "HEAD").status, 200)
        equal(samples(app.profile("delta_heap?client=a"), "grow"), [2, 8000, 5, 20000])
        equal(samples(app.profile("delta_heap"), "grow"), [2, 8000, 5, 20000])
        equal(samples(app.profile("delta_heap?client=b"), "grow"), [5, 20000, 5, 20000])
        # Further clients take the place of none that asks.
        equal([app.ask("/debug/pprof/delta_heap?client=%d" % i).status for i in range(8)], [200] * 6 + [503] * 2)
        app.command("alloc 1 4000")
        for query in ("", "?client=a", "?client=b"):
            equal(samples(app.profile("delta_heap" + query), "grow"), [1, 4000, 6, 24000])
        for name, why in (("x" * 40, "longer than 39 bytes"), ("%00x", "null byte"), ("a%0", "null byte")):
            r = app.ask("/debug/pprof/delta_heap?client=" + name)
            assert r.status == 400 and why in r.body.decode(), (name, r.body)
        # A name may look like the mark of a wrong value. The places are taken.
        equal(app.ask("/debug/pprof/delta_heap?client=%3F").status, 503)


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
        end = app.begin("/debug/pprof/locks?seconds=1")
        app.command("contend 2")
        rows = [x.split() for x in read_profile(end().body).splitlines() if x.startswith("sample:")]
        equal(sum(int(row[3]) for row in rows), 2)
        equal(sum(int(row[3]) for row in rows if "contend" in row), 2)
        for waits in (6, 1):
            if waits == 1:
                app.command("contend 1")
            text = app.profile("delta_locks")
            rows = [x.split() for x in text.splitlines() if x.startswith("sample:")]
            equal(sum(int(row[3]) for row in rows), waits)


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
def wall(program):
    with App(program) as app:
        app.command("threads 2")
        equal(app.ask("/debug/pprof/wall").status, 404)  # off
        # Requests switch the profile on. Two at once do not disturb each other.
        ends = [app.begin("/debug/pprof/" + page) for page in ("wall?seconds=1", "profile?wall=1&seconds=1")]
        first, second = [read_profile(end().body) for end in ends]
        for text in (first, second):
            assert "sample_types: samples/count wall/nanoseconds cpu/nanoseconds" in text, text
            assert "period: wall/nanoseconds 50000000" in text, text
            assert re.search(r"state=cond .*wait_for_ever", text), text
        # Off again: the number of samples stays the same.
        until(lambda: app.ask("/debug/pprof/wall?debug=1").text == app.ask("/debug/pprof/wall?debug=1").text)
        # The option switches it on, too. The path gives the samples since its last reply.
        app.ask("/debug/pprof/delta_wall")
        equal(app.ask("/debug/mprof/set?wall_rate=100", "POST").status, 200)
        until(lambda: samples(app.profile("delta_wall"), "wait_for_ever"))


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


def helpers_of(pid):
    """Returns the processes with the program mprof that descend from a process."""
    parents, helpers = {}, []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            command, _, rest = open("/proc/%s/stat" % name).read().rpartition(") ")
        except OSError:  # the process has ended
            continue
        parents[int(name)] = int(rest.split()[1])
        if command.endswith("(mprof"):
            helpers.append(int(name))

    def descends(p):
        return p == pid or (p in parents and descends(parents[p]))

    return [p for p in helpers if descends(p)]


@check
def many_symbols(program):
    """Addresses are looked up together, so that other clients do not wait for long."""
    with App(program, "symbolizer_cache=0") as app:
        maps = [line.split() for line in open("/proc/%d/maps" % app.pid)]
        begin, end = next(m[0].split("-") for m in maps if "x" in m[1] and "/libc" in m[-1])
        begin, end = int(begin, 16), int(end, 16)
        addresses = [hex(begin + (end - begin) // 2000 * i) for i in range(2000)]
        text = app.ask("/debug/pprof/symbol", "POST", "+".join(addresses)).text
        lines = dict(line.split(" ", 1) for line in text.splitlines()[1:])
        assert len(lines) > 100, text
        for address in list(lines)[:3]:
            equal(app.ask("/debug/pprof/symbol?" + address).text, "num_symbols: 1\n%s %s\n" % (address, lines[address]))
        reads = [int(re.search(r"syscr: (\d+)", open("/proc/%d/io" % pid).read())[1]) for pid in helpers_of(app.pid)]
        assert reads and max(reads) < 200, reads


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
def trace(program, *trace_check):
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
        subprocess.run([*trace_check, path], check=True, stdout=subprocess.DEVNULL)
        assert b"mprof-http" not in body

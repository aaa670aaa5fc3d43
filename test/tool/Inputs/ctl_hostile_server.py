# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ctl_hostile_server.py MPROF: asks a hostile server with mprof ctl and mprof
# push, and checks the output.

import os
import socket
import subprocess
import sys
import threading

EVIL = b"\x1b]0;evil\x07\x1b[2J\xc2\x9b31mred\x08\xe2\x80\xaeend"

LARGE = (256 << 20) + 1


def reply_to(request):
    """Returns status, body, and what to send instead of a whole reply."""
    path = request.split(b" ")[1]
    if b"cmdline" in path:
        return b"200 OK", b"/x/app" + EVIL, None
    if b"endless" in path:
        return b"", b"", b"X-Filler: x\r\n"
    if b"huge" in path:
        return b"", b"", b"Content-Length: 99999999999\r\n\r\n"
    if b"trace?" in path or b"trace/stop" in path:
        return b"200 OK", b"x" * LARGE, None
    if b"trace/last" in path:
        return b"", b"", b"Content-Length: 100\r\n\r\n" + b"x" * 50
    if b"busy" in path:
        return b"503 Service Unavailable", b"busy " + EVIL + b"\nmore", None
    if b"heap" in path and b"dump" not in path and b"pprof/heap" in path:
        return b"200 OK", b"\x1f\x8bdata", None
    if b"nope" in path or b"Push" in path:
        return b"400 Bad", EVIL + b"\n", None
    if path == b"/debug/pprof/":
        return b"200 OK", b"<a href='" + EVIL + b"?debug=1'>", None
    if b"unknown" in path:
        return b"404 Not Found", b"Unknown profile\n", None
    return b"200 OK", b"line\n\tpart " + EVIL + b"\n", None


def answer(c):
    request = c.recv(65536)
    status, body, filler = reply_to(request)
    try:
        if filler is None:
            c.sendall(b"HTTP/1.1 %s\r\nServer: MProf/0\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
            return
        c.sendall(b"HTTP/1.1 200 OK\r\nServer: MProf/0\r\n")
        if b"trace/last" in request:
            c.sendall(filler)
            return
        while True:  # until the client has given up
            c.sendall(filler)
    except OSError:
        pass
    finally:
        c.close()


def serve(s):
    while True:
        threading.Thread(target=answer, args=(s.accept()[0],), daemon=True).start()


def main():
    mprof = sys.argv[1]
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(16)
    threading.Thread(target=serve, args=(s,), daemon=True).start()
    address = "127.0.0.1:%d" % s.getsockname()[1]

    def run(*words):
        p = subprocess.run([mprof, *words], capture_output=True, timeout=60)
        text = p.stdout + p.stderr
        shown = text.decode()  # valid UTF-8
        bad = [ch for ch in shown if (ch < " " and ch not in "\n\t") or "\x7f" <= ch < "\xa0" or ch == "\u202e"]
        assert not bad, (words, text)
        return p.returncode, shown

    for words in (["get"], ["get", "x"], ["set", "x", "1"], ["threads"], ["stuck"], ["trace", "start"]):
        status, text = run("ctl", address, *words)
        assert status == 0 and "line\n\tpart ?]0;evil??[2J?31mred??end\n" in text, (words, text)
    for words in (["get", "nope"], ["set", "nope", "1"], ["dump", "nope"], ["dump", "unknown"]):
        status, text = run("ctl", address, *words)
        assert status == 2 and "?]0;evil" in text, (words, text)
    for table in ("memory", "threads"):
        status, text = run("live", "--once", "--table=" + table, address)
        assert status == 0 and "mprof live  app_]0;evil__[2J__31mred____end" in text, text
    assert "not a profile in pprof's format" in text, text
    status, text = run("serve", "--no-browser", address)
    assert status == 2 and "damaged gzip data" in text, text
    status, text = run("ctl", address, "dump", "heap")
    assert (status, text) == (0, "wrote app_]0;evil__[2J__31mred____end.heap.pb.gz\n"), text
    status, text = run("ctl", address, "dump", "endless")
    assert status == 2 and "does not answer as" in text, text
    status, text = run("ctl", address, "dump", "huge")
    assert status == 2 and text == (
        "mprof ctl: %s sends 99999999999 bytes, and mprof takes at most 268435456 into memory\n" % address), text
    # A trace goes to its file, however large it is.
    status, text = run("ctl", address, "trace", "--output=t.trace")
    assert status == 0 and os.path.getsize("t.trace") == LARGE, text
    status, text = run("ctl", address, "trace", "stop", "--output=/dev/full")
    assert status == 2 and "cannot be written: No space left on device" in text, text
    status, text = run("ctl", address, "trace", "last", "--output=lost.trace")
    assert status == 2 and "does not answer as" in text and not os.path.exists("lost.trace"), text
    assert len(os.listdir()) == 2, os.listdir()
    url = "http://%s/debug/pprof/" % address
    for command in (["top"], ["check"], ["diff", url + "x"], ["leaks"], ["html", "--output=x.html"], ["info"]):
        status, text = run(*command, url + "x")
        assert status and url + "x: " in text and "/proc/self" not in text, text
        status, text = run(*command, url + "busy")
        assert status == 2 and url + "busy: busy ?]0;evil" in text or command[0] == "diff", text
    # Where localhost has more addresses, the server has only the last one.
    if os.path.exists("/etc/hosts"):  # else nothing knows localhost
        status, text = run("top", address.replace("127.0.0.1", "localhost"))
        assert status == 2 and text == "mprof top: localhost:%s: damaged gzip data\n" % address[10:], text
    status, text = run("top", "https://%s/" % address)
    assert status == 2 and text == (
        "mprof top: https://%s/: mprof cannot use https; a program answers by http\n" % address), text
    status, text = run("push", "--otlp=http://127.0.0.1:1", "--socket=" + address, "--profile=busy")
    assert status == 2 and address + ": busy ?]0;evil" in text, text


main()

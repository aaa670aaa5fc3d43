# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# serve_checks.py CHECK MPROF PROFILES [PROGRAM]: the checks of the tests serve-*.test.
# PROFILES is a directory with a heap profile. PROGRAM is http_app.c.

import glob
import http.client
import os
import re
import shutil
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../rt/Inputs"))
from http_app import App, equal, until  # noqa: E402

CHECK, MPROF, PROFILES = sys.argv[1:4]
TIMEOUT = 120


class Server:
    def __init__(self, *words, env={}, browser=False):
        words = [MPROF, "serve", *["--no-browser"] * (not browser), *map(str, words)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=dict(os.environ, **env))
        self.url = self.process.stdout.readline().rstrip("\n")
        m = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", self.url)
        assert m, (self.url, self.process.stderr.read())
        self.port, self.token = int(m.group(1)), m.group(2)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.terminate()
        equal((self.process.wait(TIMEOUT), self.process.stderr.read()), (0, ""))

    def ask(self, path="/", token=None, method="GET", headers={}, body=None):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        query = "?token=" + (self.token if token is None else token) if token != "" else ""
        c.request(method, path + query, body, headers)
        r = c.getresponse()
        r.text = r.read().decode()
        c.close()
        return r

    def state(self):
        """Returns the version of the newest page, and the message."""
        version, _, message = self.ask("/state").text.partition("\n")
        return int(version), message


def data(page):
    """The data of a page, without its number."""
    return re.search(r'id="data">(.*?)</script>', page, re.S).group(1).replace(
        re.search(r'"version":\d+', page).group(0), "")


def made_by_html(*paths):
    subprocess.run([MPROF, "html", *paths, "-o", "made.html"], check=True, timeout=TIMEOUT)
    return open("made.html").read()


def access():
    with Server(PROFILES) as s:
        good = s.ask()
        equal(good.status, 200)
        for name, value in (("Content-Type", "text/html; charset=utf-8"), ("Referrer-Policy", "no-referrer"),
                            ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
                            ("Cross-Origin-Resource-Policy", "same-origin"), ("X-Frame-Options", "DENY")):
            equal(good.headers[name], value)
        assert not [x for x in good.headers if x.lower().startswith(("access-control", "set-cookie"))], good.headers
        # The policy of the header is that of the page, and forbids frames.
        policy = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', good.text).group(1)
        equal(good.headers["Content-Security-Policy"], policy + "; frame-ancestors 'none'")
        assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy, policy
        assert s.token not in good.text
        head = s.ask(method="HEAD")
        equal((head.status, head.headers["Content-Length"], head.text), (200, good.headers["Content-Length"], ""))
        # The token.
        first, last = ("1" if digit == "0" else "0" for digit in (s.token[0], s.token[-1]))
        for token in ("", first + s.token[1:], s.token[:-1] + last, s.token[:-1], s.token + "0", "%00"):
            for path in ("/", "/state", "/nothing", "/start"):
                r = s.ask(path, token)
                equal((r.status, "token" in r.text or "code" in r.text), (403, True))
        equal(s.ask("/nothing").status, 404)
        # The host, also with the token.
        for host in ("localhost:%d", "LOCALHOST:%d", "[::1]:%d", "127.0.0.1:%d"):
            equal(s.ask(headers={"Host": host % s.port}).status, 200)
        for host in ("localhost", "localhost:%d" % (s.port + 1), "evil.example:%d" % s.port, "127.0.0.1.evil.example",
                     "127.0.0.2:%d" % s.port, "x@127.0.0.1:%d" % s.port, ""):
            r = s.ask(headers={"Host": host})
            equal((r.status, r.text), (403, "the header Host is not an address of this server\n"))
        # Other web sites, methods, and large requests.
        for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"},
                        {"Sec-Fetch-Site": "same-site"}):
            equal(s.ask(headers=headers).status, 403)
        equal(s.ask(headers={"Sec-Fetch-Site": "same-origin"}).status, 200)
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            r = s.ask(method=method)
            equal((r.status, r.headers["Allow"]), (405, "GET, HEAD"))
        equal(s.ask(body="x").status, 413)
        equal(s.ask(headers={"X-Large": "x" * 9000}).status, 431)


def code():
    """The command line of the browser has a code for one use instead of the token."""
    os.mkdir("bin")
    with open("bin/xdg-open", "w") as f:
        f.write('#!/bin/sh\necho "$@" > opened.new && mv opened.new opened\n')
    os.chmod("bin/xdg-open", 0o755)
    env = {"PATH": os.path.abspath("bin") + ":" + os.environ["PATH"], "BROWSER": "x"}
    with Server(PROFILES, env=env, browser=True) as s:
        until(lambda: os.path.exists("opened"))
        url = open("opened").read().strip()
        assert url.startswith("http://127.0.0.1:%d/start?code=" % s.port) and s.token not in url, url
        path = url[url.index("/start"):]
        equal(s.ask(path[:-1] + "x", token="").status, 403)
        # Another user has seen the command line, and is faster than the browser.
        if os.geteuid() == 0 and os.fork() == 0:
            os.setuid(65534)
            os._exit(s.ask(path, token="").status != 403)
        if os.geteuid() == 0:
            equal(os.wait()[1], 0)
        r = s.ask(path, token="")
        equal((r.status, r.headers["Location"]), (302, "/?token=" + s.token))
        r = s.ask(path, token="")
        equal((r.status, "used before" in r.text), (403, True))


def slow():
    """Clients that send, read or come slowly do not keep others from the page."""
    # The page is larger than what the kernel takes at once.
    with open("large.stuck.txt", "w") as f:
        f.write("MProf 1.0 stuck threads\n" + ("x" * 1000 + "\n") * 16000)
    with Server("large.stuck.txt") as s:
        def connect(request):
            c = socket.create_connection(("127.0.0.1", s.port), TIMEOUT)
            c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            c.sendall(request)
            return c
        whole = b"GET /?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % (s.token.encode(), s.port)
        slow = [connect(whole) for _ in range(10)] + [connect(whole[:-1 - i]) for i in range(50)]
        equal(s.ask().status, 200)
        # More than the server keeps.
        slow += [connect(b"") for _ in range(100)]
        equal(s.ask().status, 200)
        for c in slow:
            c.close()
        assert len(s.ask().text) > 16e6
        equal(s.process.poll(), None)


def renew():
    os.mkdir("shown")
    [first, second] = sorted(glob.glob(PROFILES + "/*.heap.pb.gz"))
    shutil.copy(first, "shown/a.heap.pb.gz")
    with Server("shown") as s:
        equal(s.state(), (1, ""))
        equal(data(s.ask().text), data(made_by_html("shown")))
        old = s.ask().text
        # A file changes; the page of a request is then new.
        shutil.copy(second, "new") and os.rename("new", "shown/a.heap.pb.gz")
        page = s.ask().text
        equal(data(page), data(made_by_html("shown")))
        assert data(page) != data(old)
        equal(s.state()[0], 2)
        # A new file; the state tells when the page is ready.
        shutil.copy(first, "shown/b.heap.pb.gz")
        until(lambda: s.state()[0] == 3)
        equal(data(s.ask().text), data(made_by_html("shown")))
        # A file that is no profile leaves the page as it was.
        with open("shown/c.heap.pb.gz", "w") as f:
            f.write("x")
        message = until(lambda: s.state()[1])
        assert message.startswith("mprof serve: shown/c.heap.pb.gz: "), message
        equal(s.state()[0], 3)
        equal(s.ask().status, 200)
        os.remove("shown/c.heap.pb.gz")
        until(lambda: s.state() == (5, ""))


def program():
    with App(sys.argv[4]) as app:
        until(app.http_tid)
        app.command("alloc 10 2000")
        with Server(app.pid) as s:
            page = s.ask().text
            assert '"kind":"heap"' in page and '"kind":"threads"' in page, page[-3000:]
            app.command("alloc 10 3000")
            # A reload shows the present.
            until(lambda: '"total":%d,' % total(app) in s.ask().text)
            app.exit()
            message = until(lambda: s.ask() and s.state()[1])
            assert re.match("mprof serve: there is no process|mprof serve: .*cannot connect", message), message
            equal(s.ask().status, 200)


def browse():
    """The browser shows the page and asks for its state, without an error."""
    sys.path.insert(0, HERE)
    import browser

    path = sorted(glob.glob(PROFILES + "/*.heap.pb.gz"))[0]
    with Server(path) as s:
        with open("page.html", "w") as f:
            f.write(s.ask().text)
        browser.compare(MPROF, "page.html", path, "", "", "type=alloc_space", "--sample=alloc_space")
        text = browser.run(s.url + "#view=Functions", "--dump-dom")
        assert 'data-view="Functions"' in text and re.search(r'class="status"[^>]*></div>', text), text[-2000:]
    browser.use(os.path.join(HERE, "html_renew.js"), "page.html")


def total(app):
    """The bytes in use that mprof top shows."""
    text = subprocess.run([MPROF, "top", "--format=json", str(app.pid)], capture_output=True, text=True).stdout
    return int(re.search(r'"total": (\d+)', text).group(1))


def messages():
    for words, message in (
        (["none.pb.gz"], r"mprof serve: none.pb.gz: No such file or directory\n"),
        (["--port=x", PROFILES], r"mprof serve: --port=x is not a number of a port\n"),
        (["--port=65536", PROFILES], r"mprof serve: --port=65536 is not a number of a port\n"),
        ([str(os.getpid())], r"mprof serve: process \d+: it has no HTTP server .*mprof attach .*\n"),
        (["--sample=x", PROFILES], r"mprof serve: no profile has the values x; .*\n"),
        (["-"], r"mprof serve: - can be read only once; .*\n"),
        (["https://x/"], r"mprof serve: https://x/: mprof cannot use https; .*\n"),
        ([], r"mprof serve: PID, URL or FILE is missing; .*\n"),
    ):
        p = subprocess.run([MPROF, "serve", "--no-browser", *words], capture_output=True, text=True, timeout=TIMEOUT)
        equal((p.returncode, p.stdout), (2, ""))
        assert re.fullmatch(message, p.stderr), (words, p.stderr)
    with Server(PROFILES) as s:
        p = subprocess.run([MPROF, "serve", "--no-browser", "--port=%d" % s.port, PROFILES], capture_output=True,
                           text=True, timeout=TIMEOUT)
        equal((p.returncode, p.stderr),
              (2, "mprof serve: cannot listen at 127.0.0.1:%d: Address already in use\n" % s.port))


globals()[CHECK]()

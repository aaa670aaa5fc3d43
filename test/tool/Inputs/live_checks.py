# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# live_checks.py CHECK PROGRAM MPROF: the checks of the tests live-*.test. PROGRAM is
# http_app.c.

import fcntl
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../rt/Inputs"))
from http_app import TIMEOUT, App, equal, until  # noqa: E402

PROGRAM, MPROF = sys.argv[2:4]
LAST_PID = 2**22 + 1  # which no process has
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


def run(*words, command="live"):
    p = subprocess.run([MPROF, command, *map(str, words)], capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout, p.stderr


class Terminal:
    """mprof live on a terminal, as the foreground job of a shell."""

    def __init__(self, *words, size=(24, 100)):
        events, self.events_in = os.pipe()
        self.continue_out, continues = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            self.be_shell([MPROF, "live", *map(str, words)], self.events_in, self.continue_out)
        self.events, self.continues = os.fdopen(events), continues
        self.resize(*size)
        self.begin_modes = termios.tcgetattr(self.fd)
        self.output = b""
        threading.Thread(target=self.read, daemon=True).start()
        os.write(self.continues, b"c")
        self.job = int(self.events.readline())

    def be_shell(self, words, events, continues):
        """Runs the command in a process group of its own, and reports its states."""
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.read(continues, 1)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.environ["TERM"] = "xterm"
            os.execv(words[0], words)
        os.write(events, b"%d\n" % job)
        while True:
            _, status = os.waitpid(job, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                ended = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                os.write(events, b"ended %d\n" % ended)
                os.read(continues, 1)
                os._exit(0)
            os.write(events, b"stopped\n")
            os.read(continues, 1)
            os.tcsetpgrp(0, job)
            os.killpg(job, signal.SIGCONT)

    def read(self):
        try:
            while True:
                part = os.read(self.fd, 65536)
                if not part:
                    return
                self.output += part
        except OSError:
            pass

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def frame(self):
        """The lines of the last complete screen."""
        frames = re.findall(rb"\x1b\[H(.*?)\x1b\[\?2026l", self.output, re.S)
        text = frames[-1].decode() if frames else ""
        # Behind a line as wide as the terminal, its last character would be erased.
        assert not re.search(r"[^\r\n]\x1b\[[JK]", text), text
        return re.sub(r"\x1b\[[0-9]*[mJK]", "", text).split("\r\n")

    def shows(self, text, line=None):
        return until(lambda: any(text in x for x in (self.frame()[line:][:1] if line is not None else self.frame())))

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def ended(self):
        """Waits for the end. Checks that the terminal is as it was. Returns the status."""
        word, status = self.events.readline().split()
        equal(word, "ended")
        self.is_given_back()
        os.write(self.continues, b"c")
        os.waitpid(self.pid, 0)
        return int(status)

    def is_given_back(self):
        until(lambda: self.output.count(ENTER) == self.output.count(LEAVE))
        assert self.output.rfind(LEAVE) > self.output.rfind(ENTER)
        assert self.output.count(b"\x1b[?25l") == self.output.count(b"\x1b[?25h")
        assert self.output.count(b"\x1b[?7l") == self.output.count(b"\x1b[?7h")
        equal(termios.tcgetattr(self.fd), self.begin_modes)


def option(app, name):
    return run(app.pid, "get", name, command="ctl")[1]


# --- plain screens ---


def plain():
    """Each table has the values of the other commands."""
    with App(PROGRAM) as app:
        until(app.http_tid)
        app.command("alloc 100 2000")
        app.command("threads 3")
        status, text, errors = run("--once", app.pid)
        equal((status, errors), (0, ""))
        lines = text.split("\n")
        assert lines[0].startswith("mprof live  %s.%d  " % (os.path.basename(PROGRAM), app.pid)), text
        equal(lines[1], "[m memory]  a allocs  l locks  b block  c cpu  t threads")
        csv = run("--format=csv", app.pid, command="top")[1]
        top = run(app.pid, command="top")[1].split("\n")
        # The title "*in use" is wider than "inuse_space".
        rows = [re.split(r"  +", x.strip()) for x in lines[3:] if x.count("  ") > 3]
        wanted = [re.split(r"  +", x.strip()) for x in top[2:] if x.count("  ") > 3]
        equal([r[:3] + r[4:] for r in rows], [w[:3] + w[4:] for w in wanted])
        assert len(rows) > 0 and csv.count("\n") > 1, csv
        equal([x for x in lines if "in total" in x][0], [x for x in top if "in total" in x][0])
        status, text, errors = run("--once", "--table=threads", app.pid)
        total = sum(int(x.split()[0]) for x in text.split("\n")[3:] if " %  " in x)
        threads = run("--format=json", app.pid, command="threads")[1]
        equal(total, int(re.search(r'"total": (\d+)', threads).group(1)))
        assert re.search(r"%  waiting, \w+ +\w", text), text
        # The head of the screen does not count MProf's own threads either.
        assert " resident, %d threads" % total in text.split("\n")[0], text
        # The sums of the states add up.
        sums = re.search(r"^(\d+) in total: (.*)$", text, re.M)
        equal(sum(int(x.split()[0]) for x in sums.group(2).split(", ")), int(sums.group(1)))
        assert "3 waiting" in sums.group(2), text
        # A filter, and several screens of one process at its socket.
        status, text, errors = run("--count=2", "--focus=no_such_function", app.path())
        equal((status, errors, text.count("0 B in total; only stacks that match no_such_function\n")), (0, "", 2))
        # The output of another table, at another rate.
        p = subprocess.Popen([MPROF, "live", "--count=1", "--seconds=2", "--table=locks", str(app.pid)],
                             stdout=subprocess.PIPE, text=True)
        while p.poll() is None:
            app.command("contend 2")
        text = p.stdout.read()
        assert re.search(r"\n *[0-9,.]+ [num]?s/s +100 % +[0-9,]+/s .* mutex lock \(\w+\)  lock_once  http_app.c:\d+  contend  http_app.c:",
                         text), text
        assert re.search(r"in total, in the last [0-9.]+ s\n", text), text


def names():
    """A program that sends addresses only: mprof live finds the names, also of a lock, and keeps them
    for the next screens."""
    with App(PROGRAM, "symbolize=0") as app:
        until(app.http_tid)
        app.command("alloc 100 2000")
        text = run("--count=3", app.pid)[1]
        equal(len(re.findall(r"195 KiB +\d+ % +195 KiB +100  grow  http_app.c:\d+\n", text)), 3)
        app.command("contend 2")  # the begin of the first hold is not known
        p = subprocess.Popen([MPROF, "live", "--count=3", "--table=locks", str(app.pid)], stdout=subprocess.PIPE, text=True)
        while p.poll() is None:
            app.command("contend 2")
        rows = [x for x in p.stdout.read().split("\n") if re.match(r" *[0-9,.]+ \w+/s +\d", x)]
        assert rows and all(re.search(r"mutex lock \(0x\w+\)  lock_once  http_app.c:\d+  contend  ", x) for x in rows), rows


def messages():
    """Each wrong argument gets one sentence."""
    with App(PROGRAM, "heap_rate=0") as app:
        until(app.http_tid)
        for words, message in (
            (["--once", os.getpid()], r"process %d: it has no HTTP server .*; mprof attach profiles processes without MProf"
             % os.getpid()),
            (["--once", "/etc/passwd"], r"/etc/passwd is no process id, .*"),
            (["--once", "http://x/debug/pprof/heap"], r"http://x/debug/pprof/heap: give the URL without a path, .*"),
            (["--once", "https://x/"], r"https://x/: mprof cannot use https; .*"),
            (["--count=0", app.pid], r"--count=0 is not a number of screens"),
            (["--seconds=x", app.pid], r"--seconds=x is not a number of seconds"),
            (["--table=x", app.pid], r"--table=x is not memory, allocs, locks, block, cpu or threads"),
            ([app.pid, app.pid], r"give one process id, socket or URL"),
            ([], r"PID, SOCKET or URL is missing; mprof help live shows how to use it"),
        ):
            status, text, errors = run(*words)
            equal((status, text), (2, ""))
            assert re.fullmatch("mprof live: " + message + "\n", errors), (words, errors)
        # A profile that is off, and a wrong expression.
        text = run("--once", app.pid)[1]
        assert "heap_rate=0: the profile is off; mprof ctl %d set heap_rate 524288 switches it on\n" % app.pid in text, text
        for words, option, verb in (
            (["locks"], "mutex_fraction", "mutex"),
            (["top", "--sample=delay"], "block_rate", "block"),
            (["top"], "heap_rate", "heap"),
        ):
            run(app.pid, "set", option, 0, command="ctl")
            errors = run(*words[1:], app.pid, command=words[0])[2]
            assert "the profile is off (%s=0); mprof ctl %d %s 10s profiles" % (option, app.pid, verb) in errors, errors
        run(app.pid, "set", "block_rate", 1, command="ctl")
        equal(run("--sample=delay", app.pid, command="top")[2], "")
        text = run("--once", "--focus=(", app.pid)[1]
        assert "missing closing parenthesis" in text, text
        # A TCP address does not tell the process, so the end of the program's name is none.
        numbered = os.path.abspath("app.%d" % LAST_PID)
        shutil.copy(PROGRAM, numbered)
        with App(numbered, listen="127.0.0.1:0") as other:
            until(other.http_tid)
            status, text, errors = run("--once", "127.0.0.1:%d" % other.port())
            equal((status, errors, text.split("\n")[0]), (0, "", "mprof live  app.%d" % LAST_PID))
        # The program ends.
        p = subprocess.Popen([MPROF, "live", str(app.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        p.stdout.readline()
        app.exit()
        _, errors = p.communicate(timeout=120)
        equal((p.returncode, errors), (2, "mprof live: %s.%d has ended\n" % (os.path.basename(PROGRAM), app.pid)))


# --- the terminal ---


def keys():
    with App(PROGRAM) as app:
        until(app.http_tid)
        app.command("alloc 100 2000")
        app.command("alloc 5 100000")
        app.command("threads 3")
        t = Terminal(app.pid)
        t.shows("*in use")
        equal(len(t.frame()), 24)
        t.shows("? help", -1)
        t.shows("in total")
        t.type("?")
        t.shows("ends this help")
        t.type("?s")
        t.shows("*with callees")
        t.type("s")
        t.shows("*objects")
        # A filter; a wrong one changes nothing, and Escape leaves the old one.
        t.type("/no_such_functionX\x7f")
        t.shows("/no_such_function", -1)
        t.type("\r")
        t.shows("0 B in total; only stacks that match no_such_function")
        t.type("/(\r")
        t.shows("parenthesis", -1)
        t.shows("only stacks that match no_such_function")
        t.type("/" + "\x7f" * 30 + "\r")
        until(lambda: not any("only stacks" in x for x in t.frame()))
        t.type("t")
        t.shows("*threads")
        t.resize(12, 95)
        until(lambda: len(t.frame()) == 12)
        # No line is longer than the terminal.
        t.resize(8, 40)
        until(lambda: len(t.frame()) == 8)
        assert all(len(x.rstrip("\r")) <= 40 for x in t.frame()), t.frame()
        t.resize(12, 95)
        until(lambda: len(t.frame()) == 12)
        # A narrow terminal shows a part of the lock, the waiter and the holder.
        t.type("l")

        def has_parts():
            app.command("contend 2")
            rows = [re.split(r"  +", x.strip()) for x in t.frame() if "/s  mutex" in x]
            return rows and all(len(r) >= 8 and r[5].endswith("...") for r in rows)
        until(has_parts)
        t.type(" ")
        t.shows("stopped", 0)
        t.type("q")
        equal(t.ended(), 0)


def switches():
    """The key o switches a profile on, and the end switches it off."""
    name = os.path.basename(PROGRAM)
    with App(PROGRAM, "mutex_fraction=0") as app:
        until(app.http_tid)
        t = Terminal("--table=locks", app.pid)
        t.shows("mutex_fraction=0: the profile is off; o switches it on", -1)
        t.type("o")
        until(lambda: option(app, "mutex_fraction") == "mutex_fraction=1\n")
        until(lambda: app.command("contend 2") is not None and any("http_app.c" in x for x in t.frame()))
        # The key w writes the profile as mprof ctl PID dump does.
        t.type("w")
        until(lambda: os.path.exists("%s.%d.locks.pb.gz" % (name, app.pid)))
        assert "http_app.c" in run("%s.%d.locks.pb.gz" % (name, app.pid), command="locks")[1]
        t.type("q")
        equal(t.ended(), 0)
        equal(option(app, "mutex_fraction"), "mutex_fraction=0\n")
        # So does a signal.
        t = Terminal("--table=locks", app.pid)
        t.shows("switches it on", -1)
        t.type("o")
        until(lambda: option(app, "mutex_fraction") == "mutex_fraction=1\n")
        os.kill(t.job, signal.SIGTERM)
        equal(t.ended(), -signal.SIGTERM)
        equal(option(app, "mutex_fraction"), "mutex_fraction=0\n")


def stalls():
    """A server that does not answer when the user writes a file. The keys still work."""
    asked = []
    path = tempfile.mkdtemp(prefix="mprof-", dir="/tmp")
    page = b"\x08\x01"

    def answer(server):
        while True:
            connection, _ = server.accept()
            connection.settimeout(TIMEOUT)
            request = connection.recv(4096)
            if not request:
                continue
            asked.append(request.split(b" ")[1])
            if asked.count(b"/debug/pprof/cmdline") < 2:
                body = b"server" if asked[-1].endswith(b"cmdline") else page
                connection.sendall(b"HTTP/1.1 200 OK\r\nServer: MProf/1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                connection.close()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path + "/sock")
        server.listen()
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        t = Terminal(path + "/sock")
        until(lambda: b"/debug/pprof/heap" in asked)
        t.type("w")
        t.shows("wrote server.%d.heap.txt" % os.getpid(), -1)
        t.type("q")
        equal(t.ended(), 0)
    shutil.rmtree(path)


def ends():
    """Each way out gives the terminal back."""
    with App(PROGRAM) as app:
        until(app.http_tid)
        for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT):
            t = Terminal("--table=allocs", app.pid)
            t.shows("*allocated")
            os.kill(t.job, end)
            equal(t.ended(), -end)
        t = Terminal(app.pid)
        t.shows("*in use")
        t.type("\x03")
        equal(t.ended(), -signal.SIGINT)
        # Ctrl-Z, and the screen comes back.
        t = Terminal(app.pid)
        t.shows("*in use")
        t.type("\x1a")
        equal(t.events.readline(), "stopped\n")
        t.is_given_back()
        before = len(t.output)
        os.write(t.continues, b"c")
        until(lambda: b"in use" in t.output[before:])
        # A program that does not answer.
        os.kill(app.pid, signal.SIGSTOP)
        t.shows("the program has not answered for", -1)
        t.type("l")
        t.shows("waiting for the program")
        os.kill(app.pid, signal.SIGCONT)
        t.shows("*waiting")
        # The program ends.
        app.exit()
        equal(t.ended(), 2)
        assert b"has ended" in t.output[t.output.rfind(LEAVE):]


def slow_names():
    """Names from a server that does not answer: nothing else prints on the screen, and a signal
    ends the command. A crash of the process that asks for them changes nothing."""
    with socket.socket() as server, App(PROGRAM, "symbolize=0") as app:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(TIMEOUT)
        os.environ["DEBUGINFOD_URLS"] = "http://127.0.0.1:%d/" % server.getsockname()[1]
        os.environ["DEBUGINFOD_CACHE_PATH"] = os.path.abspath("cache")
        os.environ["DEBUGINFOD_TIMEOUT"] = "10000"
        until(app.http_tid)
        app.command("alloc 100 2000")

        def begin():
            """Returns the terminal, and the process that asks the server."""
            t = Terminal("--debuginfod", app.pid)
            connection, _ = server.accept()
            connection.settimeout(TIMEOUT)
            children = open("/proc/%d/task/%d/children" % (t.job, t.job)).read().split()
            equal(len(children), 1)
            return t, connection, int(children[0])
        t, connection, child = begin()
        time.sleep(2)  # longer than the time after which other commands print a message
        assert b"finding names" not in t.output, t.output
        os.kill(t.job, signal.SIGTERM)
        equal(t.ended(), -signal.SIGTERM)
        # As long as the process lives, it would note that the server has no such file.
        while connection.recv(4096):
            pass
        connection.close()
        t, connection, child = begin()
        os.kill(child, signal.SIGSEGV)
        t.shows("in total")
        equal(t.output.count(LEAVE), 0)
        t.type("q")
        equal(t.ended(), 0)


globals()[sys.argv[1]]()

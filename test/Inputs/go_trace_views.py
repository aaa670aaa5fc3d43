# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens a trace in the web view of "go tool trace" and fetches its pages.

    go_trace_views.py GO TRACE
    go_trace_views.py GO PROGRAM TRACE

The script starts "GO tool trace", which go_tool.sh gives a free port, without a
browser. It follows the links from the first page to all views. Of links to one
view that differ only in their parameters, it follows the first ones. For each
picture it also fetches the JSON that the browser would draw. It prints what it
found:

    /goroutines: 1 pages
    /jsontrace: 3 pages, 24 slices
      6 G1 main

The indented lines count the slices of the whole trace by name. The script fails
if a page cannot be fetched, if JSON is malformed, if a slice has no duration,
or if the server reports an error or a panic.
"""

import collections
import html
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

SECONDS = 300  # for the start of the server, and for each page
PAGES_OF_VIEW = 8
# These views draw a profile with graphviz. Their parameter raw gives the same
# profile without a picture.
PROFILES = re.compile(r"/(region)?(io|block|syscall|sched)$")
BAD = re.compile(r"panic|error|fail|invalid", re.I)


class Server:
    """A "go tool trace" that listens."""

    def __init__(self, go, files):
        # The log is a file, so that the server never waits for its reader.
        self.log_file = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [go, "tool", "trace"] + files,
            stdin=subprocess.DEVNULL, stdout=self.log_file,
            stderr=subprocess.STDOUT, start_new_session=True,
            env=dict(os.environ, BROWSER="true"))

    def log(self):
        with open("/proc/self/fd/%d" % self.log_file.fileno(),
                  encoding="utf-8") as file:
            return file.read()

    def address(self):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            found = re.search(r"listening on (http://[\d.:\[\]]+)$",
                              self.log(), re.M)
            if found:
                return found.group(1)
            time.sleep(0.05)
        sys.exit("no server:\n" + self.log())

    def stop(self):
        # "go" starts the server as its child, in the same process group.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def fetch(base, path):
    try:
        with urllib.request.urlopen(base + path, timeout=SECONDS) as answer:
            return answer.read()
    except OSError as error:
        text = ""
        if isinstance(error, urllib.error.HTTPError):
            text = error.read().decode(errors="replace")[:500]
        sys.exit("%s: %s %s" % (path, error, text))


def view_of(path):
    return path.split("?")[0]


def links(path, page):
    """Returns the pages that a page leads to."""
    url = urllib.parse.urlsplit(path)
    if url.path == "/trace":
        return ["/jsontrace" + ("?" + url.query if url.query else "")]
    if url.path == "/mmu":  # the script of the page asks for its data
        is_old = "/mmuPlot" in page
        return ["/mmuPlot?flags=" if is_old else "/mmu?mode=plot&flags="]
    if url.path.startswith("/mmu") or PROFILES.search(url.path):
        return []
    found = []
    for link in re.findall(r"href=[\"']?(/[^\"'>#\s]*)", page):
        link = urllib.parse.quote(html.unescape(link), safe="/?&=%+")
        if PROFILES.search(view_of(link)) and "raw=" not in link:
            link += ("&" if "?" in link else "?") + "raw=1"
        # Regions without a task link to task 0, of which Go has no picture.
        if not re.match(r"/static/|/trace\?(focustask|taskid)=0$", link):
            found.append(link)
    return found


def parsed(path, text):
    try:
        return json.loads(text)
    except ValueError as error:
        sys.exit("%s: %s: %s" % (path, error, text[:500]))


def count_slices(path, text, slices):
    """Adds the slices of a picture to the slices by name."""
    events = parsed(path, text)["traceEvents"]
    count = 0
    for event in events:
        if event["ph"] == "X":
            assert event["dur"] > 0, (path, event)
            count += 1
            if path in ("/jsontrace", "/jsontrace?view=proc"):
                slices[event["name"]] += 1
    return count


def fetch_all(base):
    """Returns the paths of the pages by view, and slices by path and name."""
    todo, known = ["/"], {"/"}
    pages = collections.defaultdict(list)
    counts, slices = collections.Counter(), collections.Counter()
    while todo:
        path = todo.pop(0)
        view = view_of(path)
        if len(pages[view]) == PAGES_OF_VIEW:
            continue
        pages[view].append(path)
        text = fetch(base, path).decode(errors="replace")
        if view == "/jsontrace":
            counts[view] += count_slices(path, text, slices)
            continue
        if "mode=plot" in path or view == "/mmuPlot":
            parsed(path, text)
            continue
        for link in links(path, text):
            if link not in known:
                known.add(link)
                todo.append(link)
    return pages, counts, slices


def main():
    server = Server(sys.argv[1], sys.argv[2:])
    try:
        pages, counts, slices = fetch_all(server.address())
    finally:
        server.stop()
        bad = [line for line in server.log().splitlines() if BAD.search(line)]
        for line in bad:
            print(line)
    for view in sorted(pages):
        text = "%s: %d pages" % (view, len(pages[view]))
        if view in counts:
            text += ", %d slices" % counts[view]
        print(text)
    for name, count in sorted(slices.items()):
        print("  %d %s" % (count, name))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()

# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens pages of mprof html in a headless browser.

    browser.py text ID PAGE...    prints the text of the element ID of each page
    browser.py compare MPROF PAGE FILE [HASH OPTIONS]...
        compares the table of the page, opened with #csv&HASH, with the output of
        mprof top --format csv OPTIONS FILE
    browser.py picture OUT PAGE [dark] [WIDTH HEIGHT]
                                  draws the page as it looks on a screen, or on
                                  paper if OUT ends with .pdf
    browser.py use SCRIPT PAGE [dark] [WIDTH HEIGHT]
                                  prints what the script says when it uses the page
    browser.py works              fails if the browser cannot draw a page here

Fails if a page writes to the browser's console, for example because it breaks
its own Content-Security-Policy, if its script does not reach its end, and if the
browser does not end. After three such hangs the tests of a run that are left fail at
once. Otherwise, on a machine where no browser works, they would take an hour.
"""

import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile


SECONDS = float(os.environ.get("BROWSER_SECONDS", 100))
HANGS = os.path.expanduser("~/browser-hangs")  # a line for each hang in this run


def browser():
    for name in ("chromium-headless-shell", "chromium", "google-chrome"):
        if shutil.which(name):
            return name
    raise SystemExit("there is no chromium-headless-shell")


def run(url, *options, said=None):
    """Opens the page and returns what the browser prints.

    said: returns the messages on the console that begin so, instead.
    """
    if os.path.exists(HANGS):
        with open(HANGS) as file:
            if len(file.readlines()) >= 3:
                raise SystemExit("the browser has not ended in three tests of this run")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The browser's sandbox works neither for root nor in most containers.
        command = [browser(), "--headless", "--no-sandbox", "--disable-gpu",
                   "--no-first-run", "--hide-scrollbars",
                   "--disable-background-networking", "--enable-logging=stderr",
                   "--user-data-dir=" + profile, "--virtual-time-budget=20000"]
        try:
            result = subprocess.run(command + list(options) + [url],
                                    timeout=SECONDS, capture_output=True)
        except subprocess.TimeoutExpired:
            with open(HANGS, "a") as file:
                file.write(url + "\n")
            raise SystemExit("%s: the browser has not ended in %g s" % (url, SECONDS))
    log = result.stderr.decode(errors="replace")
    messages = [l for l in log.splitlines() if ":CONSOLE" in l]
    if said:
        steps = [re.sub(r'.*?"(.*)", source:.*', r"\1", l) for l in messages]
        if steps and all(s.startswith(said) for s in steps):
            return steps
    if messages:
        raise SystemExit("%s: the page wrote to the console:\n%s" %
                         (url, "\n".join(messages)))
    return result.stdout.decode()


def screen_flags(options, width, height):
    """The flags for the options [dark] [WIDTH HEIGHT]."""
    dark = "dark" in options
    size = [o for o in options if o != "dark"] or (width, height)
    return (["--blink-settings=preferredColorScheme=0"] if dark else []) + ["--window-size=%s,%s" % tuple(size)]


def use(script, page, *options):
    """Runs the script in a copy of the page without its policy for scripts."""
    with open(page, encoding="utf-8") as file:
        document = re.sub("<meta http-equiv[^>]*>", "", file.read())
    for part in os.path.join(os.path.dirname(__file__), "html_steps.js"), script:
        with open(part, encoding="utf-8") as file:
            document += "<script>" + file.read() + "</script>"
    with open("used.html", "w", encoding="utf-8") as file:
        file.write(document)
    flags = screen_flags(options, "800", "600")
    for line in run(url_of("used.html"), "--dump-dom", *flags, said="step: "):
        print(line)


def url_of(page):
    path, _, rest = page.partition("#")
    return "file://" + os.path.abspath(path) + ("#" + rest if rest else "")


class Text(html.parser.HTMLParser):
    """Collects the text of the element with an id."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted, self.depth, self.text, self.tag = wanted, 0, None, ""

    def handle_starttag(self, tag, attributes):
        if self.depth and tag == self.tag:
            self.depth += 1
        elif not self.depth and dict(attributes).get("id") == self.wanted:
            self.depth, self.tag, self.text = 1, tag, ""

    def handle_endtag(self, tag):
        if self.depth and tag == self.tag:
            self.depth -= 1

    def handle_data(self, data):
        if self.depth:
            self.text += data


def text_of(page, wanted):
    document = run(url_of(page), "--dump-dom")
    if not re.search(r'<body[^>]* data-done="yes"', document):
        raise SystemExit(page + ": the script did not reach its end")
    parser = Text(wanted)
    parser.feed(document)
    if parser.text is None:
        raise SystemExit("%s has no element %s" % (page, wanted))
    return parser.text


def compare(mprof, page, path, *cases):
    for at in range(0, len(cases), 2):
        command = [mprof, "top", "--format", "csv", "-n", "0"]
        command += cases[at + 1].split() + [path]
        wanted = subprocess.run(command, capture_output=True, check=True)
        wanted = wanted.stdout.decode()
        shown = text_of("%s#csv&%s" % (page, cases[at]), "csv")
        if shown != wanted:
            for a, b in zip(wanted.splitlines(), shown.splitlines()):
                if a != b:
                    raise SystemExit("%s: the page shows\n%s\nnot\n%s" %
                                     (" ".join(command), b, a))
            raise SystemExit("%s: the page shows %d lines, not %d" % (
                " ".join(command), shown.count("\n"), wanted.count("\n")))
        print("%d rows are equal: %s" % (wanted.count("\n") - 1, cases[at + 1]))


def picture(out, page, *options):
    how = "--print-to-pdf=" if out.endswith(".pdf") else "--screenshot="
    run(url_of(page), how + os.path.abspath(out),
        *screen_flags(options, "1500", "900"))


SMALL_PAGE = """<body><canvas></canvas><p id=said></p><script>
const context = document.querySelector('canvas').getContext('2d');
context.fillText('text', 0, 9);
setTimeout(() => {
  document.getElementById('said').textContent = 'drawn';
  document.body.dataset.done = 'yes';
}, 100);
</script></body>"""


def works():
    with tempfile.TemporaryDirectory() as directory:
        page = os.path.join(directory, "small.html")
        with open(page, "w", encoding="utf-8") as file:
            file.write(SMALL_PAGE)
        if text_of(page, "said") != "drawn":
            raise SystemExit("the browser does not run scripts")


def main(what, *arguments):
    if what == "text":
        for page in arguments[1:]:
            print(text_of(page, arguments[0]), end="")
    elif what == "compare":
        compare(*arguments)
    elif what == "use":
        use(*arguments)
    elif what == "picture":
        picture(*arguments)
    elif what == "works":
        works()
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])

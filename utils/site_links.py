# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# site_links.py DIR: checks that each link between the pages of a site leads to a file and,
# if it names a part, to an element of this name. Links to other sites are not followed.

import glob
import html.parser
import os
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.names, self.links = set(), []
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.names.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)


def main():
    top = sys.argv[1]
    files = glob.glob(os.path.join(glob.escape(top), "**", "*.html"), recursive=True)
    pages = {os.path.realpath(f): Page(f) for f in files}
    dead = []
    for path, page in sorted(pages.items()):
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = path
            if url.path:
                target = os.path.join(os.path.dirname(path), urllib.parse.unquote(url.path))
            target = os.path.realpath(target)
            if os.path.isdir(target):
                target = os.path.join(target, "index.html")
            part = urllib.parse.unquote(url.fragment)
            known = pages.get(target)
            if not os.path.exists(target) or (part and known and part not in known.names):
                dead.append("%s: %s leads nowhere" % (os.path.relpath(path, top), link))
    if dead or not pages:
        sys.exit("\n".join(dead) or "site_links.py: %s has no page" % top)


main()

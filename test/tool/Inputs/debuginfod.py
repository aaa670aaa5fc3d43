#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Serves one file as debuginfod does, while a command runs, and prints each
# request.
#
# usage: debuginfod.py FILE BUILD_ID COMMAND...
# In the command's environment, DEBUGINFOD_URLS names the server.

import http.server
import os
import subprocess
import sys
import threading

file, build_id = sys.argv[1:3]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print("request", self.path, file=sys.stderr, flush=True)
        if not self.path.startswith("/buildid/%s/" % build_id):
            self.send_error(404)
            return
        with open(file, "rb") as f:
            data = f.read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = "http://127.0.0.1:%d" % server.server_address[1]
environment = dict(
    os.environ, DEBUGINFOD_URLS=url, DEBUGINFOD_CACHE_PATH=os.path.abspath("cache")
)
sys.exit(subprocess.run(sys.argv[3:], env=environment).returncode)

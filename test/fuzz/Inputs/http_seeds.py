# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# http_seeds.py DIR: writes HTTP requests, valid and nearly valid, to files in DIR.

import os
import sys

HOST = b"Host: 127.0.0.1:6060\r\n"
SEEDS = [
    b"GET /debug/pprof/heap?gc=1&debug=1 HTTP/1.1\r\n" + HOST + b"\r\n",
    b"HEAD /debug/pprof/%68eap HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"POST /debug/pprof/symbol HTTP/1.1\r\n" + HOST
    + b"Content-Length: 11\r\nExpect: 100-continue\r\n\r\n0x1234+0x56",
    b"GET http://x/debug/pprof/trace?seconds=0.5 HTTP/1.1\r\n" + HOST + b"\r\n",
    b"\r\nGET / HTTP/1.1\nHost: x\nConnection: close, TE\n\n",
    b"GET /../%2e%2e//etc HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + HOST + b"A: b\r\n c\r\n\r\n",
    b"GET / HTTP/2.0\r\n" + HOST + b"\r\n",
    b"GET /" + b"a" * 8190 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    b"\x16\x03\x01\x02\x00\x01",
]

os.makedirs(sys.argv[1])
for i, seed in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], str(i)), "wb") as f:
        f.write(seed)

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Asks mprof about the same file twice, as the runtime does. Before the second
# request, the process has nearly used up its computing time.
#
# usage: names_time_limit.py MPROF FILE

import os
import resource
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../Inputs"))
import serve_names

NEARLY_USED_UP = 9  # seconds

program, file = sys.argv[1:]
build_id = serve_names.build_id(file)
child, ours = serve_names.start(program)


def ask():
    serve_names.request(ours, file, build_id, [4096])
    assert ours.recv(1 << 16)
    return resource.prlimit(child.pid, resource.RLIMIT_CPU)


soft, hard = ask()
assert soft > NEARLY_USED_UP, soft
resource.prlimit(child.pid, resource.RLIMIT_CPU, (NEARLY_USED_UP, hard))
assert ask()[0] >= soft
ours.close()
child.wait()

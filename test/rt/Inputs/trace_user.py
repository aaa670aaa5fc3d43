# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: trace_user.py TRACE: see trace-user-events.c."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace_events import events


def main():
    found, _ = events(sys.argv[1])
    tasks = [e for e in found if e.type == "UserTaskCreate"]
    assert [e.args[2] for e in tasks] == ["request", "part"], tasks
    assert tasks[0].args[1] == 0 and tasks[1].args[1] == tasks[0].args[0]
    assert tasks[0].stack[0][0] == "serve", tasks[0].stack
    assert tasks[0].stack[1][0] == "main", tasks[0].stack
    ends = [e.args[0] for e in found if e.type == "UserTaskEnd"]
    assert ends == [tasks[1].args[0], tasks[0].args[0]], ends
    regions = [(e.args[1], e.args[2]) for e in found if e.type == "UserRegion"]
    assert regions == [(0, "parse"), (1, "parse")], regions
    logs = [e for e in found if e.type == "UserLog"]
    assert [(e.args[1], e.text) for e in logs] == [
        ("url", "/index.html"), ("n" * 255, "x" * 1024), ("", "")], logs
    assert all(e.g != 0 for e in tasks + logs)


main()

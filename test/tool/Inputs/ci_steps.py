# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the commands of a file for CI, as its host would run them with sh.

    ci_steps.py HOST FILE [NAME=VALUE|ARGUMENT]...

github: the steps with "run" of a composite action, with their environment. The
arguments are inputs of the action. The expressions may be inputs, values of the
environment (GITHUB_...), and those of EXPRESSIONS.
gitlab: the variables and the script of the job .mprof. The arguments are the
variables of the job that extends it.
@WORKFLOW among the arguments of github stands for the inputs that the workflow gives
to the action in its directory.
pre-commit: the entry of the hook, and the arguments, as pre-commit calls it in the
directory of the hooks.
"""

import os
import re
import shlex
import sys

import yaml

EXPRESSIONS = {
    "github.action_path": os.path.dirname(os.path.abspath(sys.argv[2])),
    "github.token": "secret",
    "github.event.pull_request.base.sha": os.environ.get("BASE_SHA", ""),
}


def expand(text, inputs):
    def value(match):
        name = match[1].strip()
        if name.startswith("inputs."):
            return inputs[name[len("inputs."):]]
        return EXPRESSIONS[name]
    return re.sub(r"\$\{\{([^}]*)\}\}", value, text)


def export(name, value):
    print("export %s=%s" % (name, shlex.quote(value)))


def github(action, given):
    inputs = {}
    for name, row in action["inputs"].items():
        assert row["description"], name
        assert "default" in row or row.get("required"), name
        inputs[name] = expand(row.get("default", ""), {})
    assert set(given) <= set(inputs), given
    inputs.update(given)
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        assert set(step) <= {"name", "shell", "env", "run"} and step["shell"] == "sh", step
        for name, text in step["env"].items():
            export(name, expand(text, inputs))
        # Values of users are not part of the text of a command.
        assert "${{" not in step["run"]
        print("set -e\n" + step["run"])


def gitlab(file, given):
    job = file[".mprof"]
    for name, text in {**job["variables"], **given}.items():
        export(name, text)
    print("set -e")
    print("\n".join(job["script"]))


def pre_commit(hooks, given):
    hook, = hooks
    assert hook["language"] == "script" and not hook["pass_filenames"]
    entry = shlex.split(hook["entry"])
    directory = os.path.dirname(os.path.abspath(sys.argv[2]))
    print(shlex.join([os.path.join(directory, entry[0])] + entry[1:] + given))


def with_of(path):
    """The inputs that a workflow gives to MProf's action."""
    with open(path) as source:
        job, = yaml.safe_load(source)["jobs"].values()
    step, = [s for s in job["steps"] if "/packaging/ci@" in s.get("uses", "")]
    return ["%s=%s" % (name, value) for name, value in step["with"].items()]


with open(sys.argv[2]) as source:
    data = yaml.safe_load(source)
arguments = []
for argument in sys.argv[3:]:
    arguments += with_of(argument[1:]) if argument.startswith("@") else [argument]
if sys.argv[1] == "pre-commit":
    pre_commit(data, arguments)
else:
    pairs = dict(a.split("=", 1) for a in arguments)
    {"github": github, "gitlab": gitlab}[sys.argv[1]](data, pairs)
